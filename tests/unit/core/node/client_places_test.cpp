#include "core/node/client_places.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace mortise::core {
namespace {

using namespace std::chrono_literals;
using testing::HasSubstr;

class ClientPlacesTest : public testing::Test {
protected:
    // Takes a second.
    ClientPlaces::Newcomer comes(std::uint64_t id, ClientStake stake,
                                 const std::string& certificate = {}) {
        now_ = now_ + 1s;
        stakes_[ClientId{id}] = stake;
        return {ClientId{id}, certificate, stake};
    }
    Result<ClientPlaces::Given> give(std::uint64_t id, ClientStake stake,
                                     const std::string& certificate = {}) {
        return places_.give(comes(id, stake, certificate), now_,
                            [this](ClientId client) { return stakes_.at(client); });
    }
    std::uint64_t displaced(std::uint64_t id, ClientStake stake,
                            const std::string& certificate = {}) {
        const auto given = give(id, stake, certificate);
        return given ? given->displaced.raw() : 0;
    }
    void all_speak() {
        for (const auto& [client, _] : stakes_)
            places_.heard(client, now_);
    }

    Instant now_{};
    std::map<ClientId, ClientStake> stakes_;
    ClientPlaces places_{4};
};

TEST_F(ClientPlacesTest, AreGivenOnceAndTakenBack) {
    EXPECT_FALSE(places_.has(ClientId{1}));
    ASSERT_TRUE(give(1, ClientStake::nothing));
    ASSERT_TRUE(give(1, ClientStake::nothing));
    EXPECT_TRUE(places_.has(ClientId{1}));
    EXPECT_EQ(places_.size(), 1U);
    places_.free(ClientId{1});
    places_.free(ClientId{1});
    EXPECT_EQ(places_.size(), 0U);
}

TEST_F(ClientPlacesTest, StayWithThoseThatWork) {
    for (std::uint64_t id = 1; id <= 4; ++id)
        ASSERT_TRUE(give(id, id % 2 == 0 ? ClientStake::session : ClientStake::requests));
    const auto refused = give(5, ClientStake::session);
    ASSERT_FALSE(refused);
    EXPECT_EQ(refused.error().what,
              "it serves 4 client nodes, and has no place for more (limits.clients)");
    EXPECT_FALSE(places_.has(ClientId{5}));
}

TEST_F(ClientPlacesTest, AreTakenFromThoseWithoutASessionInTheOrderInWhichTheyCame) {
    ASSERT_TRUE(give(1, ClientStake::session));
    for (std::uint64_t id = 2; id <= 4; ++id)
        ASSERT_TRUE(give(id, ClientStake::nothing));
    places_.heard(ClientId{2}, now_);  // it pings and pings
    EXPECT_EQ(displaced(5, ClientStake::nothing), 2U);
    EXPECT_FALSE(places_.has(ClientId{2}));
    EXPECT_TRUE(places_.has(ClientId{5}));
    EXPECT_EQ(displaced(6, ClientStake::session), 3U);
}

// The one with most to lose comes last.
TEST_F(ClientPlacesTest, AreTakenFromTheSilent) {
    ASSERT_TRUE(give(1, ClientStake::requests));
    ASSERT_TRUE(give(2, ClientStake::session));
    ASSERT_TRUE(give(3, ClientStake::session));
    ASSERT_TRUE(give(4, ClientStake::session));
    now_ = now_ + client_silence_max;
    places_.heard(ClientId{2}, now_);
    EXPECT_EQ(displaced(5, ClientStake::nothing), 3U);
    EXPECT_EQ(displaced(6, ClientStake::session), 5U);  // it has opened no session
    EXPECT_EQ(displaced(7, ClientStake::session), 4U);
    EXPECT_EQ(displaced(8, ClientStake::session), 1U);
    EXPECT_FALSE(give(9, ClientStake::session));
}

TEST_F(ClientPlacesTest, StayWithThoseThatSpeakAsSeldomAsAClientMay) {
    for (std::uint64_t id = 1; id <= 4; ++id)
        ASSERT_TRUE(give(id, ClientStake::session));
    for (int i = 0; i < 10; ++i) {
        now_ = now_ + client_silence_usual;
        EXPECT_FALSE(give(5, ClientStake::session));
        all_speak();
    }
}

// Its member is gone, and nothing is lost by those that have nothing.
TEST_F(ClientPlacesTest, OfThoseThatHoldNothingGoToOneThatDoes) {
    for (std::uint64_t id = 1; id <= 4; ++id)
        ASSERT_TRUE(give(id, id == 1 ? ClientStake::requests : ClientStake::session));
    EXPECT_EQ(displaced(5, ClientStake::requests), 2U);
    EXPECT_FALSE(give(2, ClientStake::session));
    EXPECT_EQ(displaced(6, ClientStake::requests), 3U);
    EXPECT_EQ(displaced(7, ClientStake::requests), 4U);
    EXPECT_FALSE(give(8, ClientStake::requests));
}

TEST_F(ClientPlacesTest, AreNotAllForOneCertificate) {
    for (std::uint64_t id = 1; id <= 3; ++id)
        ASSERT_TRUE(give(id, ClientStake::requests, "user wild"));
    const auto refused = give(4, ClientStake::requests, "user wild");
    ASSERT_FALSE(refused);
    EXPECT_THAT(refused.error().what, HasSubstr("3 client nodes of user wild"));
    EXPECT_TRUE(give(5, ClientStake::nothing, "user calm"));
    // Without TLS nobody is known.
    ClientPlaces open{4};
    for (std::uint64_t id = 1; id <= 4; ++id)
        EXPECT_TRUE(open.give({ClientId{id}, {}, ClientStake::session}, now_,
                              [](ClientId) { return ClientStake::session; }));
}

// Within its share, a certificate takes places from its own connections only.
TEST_F(ClientPlacesTest, OfOneCertificateChangeHands) {
    ASSERT_TRUE(give(1, ClientStake::nothing, "user calm"));
    ASSERT_TRUE(give(2, ClientStake::session, "user wild"));
    ASSERT_TRUE(give(3, ClientStake::nothing, "user wild"));
    ASSERT_TRUE(give(4, ClientStake::session, "user wild"));
    EXPECT_EQ(displaced(5, ClientStake::session, "user wild"), 3U);
    EXPECT_FALSE(give(6, ClientStake::session, "user wild"));
    EXPECT_EQ(displaced(7, ClientStake::session, "user other"), 1U);
    places_.free(ClientId{2});
    EXPECT_TRUE(give(8, ClientStake::session, "user wild"));
}

TEST(ClientPlacesOfASmallNode, AreAtLeastOne) {
    ClientPlaces places{1};
    const auto stake = [](ClientId) { return ClientStake::session; };
    EXPECT_TRUE(places.give({ClientId{1}, "user a", ClientStake::session}, {}, stake));
    EXPECT_FALSE(places.give({ClientId{2}, "user b", ClientStake::session}, {}, stake));
}

}  // namespace
}  // namespace mortise::core
