// Whom a node connects with, and where.
#include "embed/runtime/peers_to_call.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace mortise::detail {
namespace {

using Caller = PeersToCall::Caller;
using ::testing::ElementsAre;

core::Member member(std::uint64_t id, std::string address) {
    return {core::NodeId{id}, {}, std::move(address)};
}

core::Hello caller(std::uint64_t id, std::string address) {
    core::Hello hello;
    hello.node = core::NodeId{id};
    hello.cluster = {1, 2};
    hello.address = std::move(address);
    return hello;
}

Config with_list() {
    Config config;
    config.node_id = 1;
    config.peers = {{1, "localhost:1"}, {2, "localhost:2"}};
    return config;
}

class PeersToCallTest : public ::testing::Test {
protected:
    explicit PeersToCallTest(Config config = with_list()) : config_{std::move(config)} {
        formed_.cluster = {1, 2};
        formed_.voters = {member(1, "localhost:1"), member(2, "localhost:2")};
    }
    // "2 localhost:2"; behind it "also" an address, "near" for loopback only, "stranger" if it is
    // no member.
    [[nodiscard]] std::vector<std::string> calls(const core::Configuration& present) const {
        std::vector<std::string> calls;
        for (const auto& peer : calls_.addresses(present)) {
            calls.push_back(std::to_string(peer.id.raw()) + " " + peer.address +
                            (peer.also.empty() ? "" : " also " + peer.also) +
                            (peer.loopback_only ? " near" : "") +
                            (peer.is_member ? "" : " stranger"));
        }
        return calls;
    }

    Config config_;
    core::Configuration formed_;
    PeersToCall calls_{config_};
};

TEST_F(PeersToCallTest, AreNobodyBeforeSomebodyIsNamed) {
    EXPECT_THAT(calls({}), ElementsAre());
    EXPECT_THAT(calls(formed_), ElementsAre());
}

TEST_F(PeersToCallTest, HaveTheAddressesOfTheFile) {
    calls_.name({member(2, "elsewhere:2"), member(3, "elsewhere:3")});
    EXPECT_THAT(calls(formed_),
                ElementsAre("1 localhost:1", "2 localhost:2", "3 elsewhere:3 stranger"));
}

TEST_F(PeersToCallTest, AreFewerThanThoseOfTheFileOnceThereIsALeader) {
    calls_.name({member(3, "c:3")});
    calls_.set_has_leader(true);
    EXPECT_THAT(calls(formed_), ElementsAre("3 c:3 stranger"));
    calls_.set_has_leader(false);
    EXPECT_THAT(calls(formed_), ElementsAre("1 localhost:1", "2 localhost:2", "3 c:3 stranger"));
}

TEST_F(PeersToCallTest, AreTriedAtBothAddressesAfterAMove) {
    formed_.founders = formed_.voters;
    formed_.voters[1].address = "localhost:9";
    calls_.name({member(2, "localhost:9")});
    calls_.set_has_leader(true);
    EXPECT_THAT(calls(formed_), ElementsAre("2 localhost:9 also localhost:2 near"));
}

TEST_F(PeersToCallTest, AreAllInTheFileMembersToBeBeforeThereIsACluster) {
    EXPECT_EQ(calls_.introduce(caller(3, "127.0.0.1:3")), Caller::added);
    EXPECT_THAT(calls({}),
                ElementsAre("1 localhost:1", "2 localhost:2", "3 127.0.0.1:3 near stranger"));
}

TEST_F(PeersToCallTest, IncludeACallerUntilTheCoreNamesThePeers) {
    calls_.set_has_leader(true);
    EXPECT_EQ(calls_.introduce(caller(3, "127.0.0.1:3")), Caller::added);
    EXPECT_EQ(calls_.introduce(caller(3, "127.0.0.1:4")), Caller::ignored);
    EXPECT_THAT(calls(formed_), ElementsAre("3 127.0.0.1:3 near stranger"));
    calls_.name({member(2, "localhost:2")});
    EXPECT_THAT(calls(formed_), ElementsAre("2 localhost:2"));
}

TEST_F(PeersToCallTest, IncludeNoCallerWithoutAClusterOrAnAddress) {
    auto empty = caller(3, "127.0.0.1:3");
    empty.cluster = {};
    EXPECT_EQ(calls_.introduce(empty), Caller::ignored);
    EXPECT_EQ(calls_.introduce(caller(3, "")), Caller::ignored);
    EXPECT_EQ(calls_.introduce(caller(3, "nonsense")), Caller::ignored);
}

TEST_F(PeersToCallTest, IncludeNoMoreThanSixteenCallers) {
    for (std::uint64_t id = 3; id < 3 + 16; ++id)
        EXPECT_EQ(calls_.introduce(caller(id, "127.0.0.1:3")), Caller::added);
    EXPECT_EQ(calls_.introduce(caller(99, "127.0.0.1:3")), Caller::ignored);
}

TEST_F(PeersToCallTest, IncludeNoCallerOnAnotherMachineWithoutTls) {
    EXPECT_EQ(calls_.introduce(caller(3, "10.0.0.3:3")), Caller::far);
    EXPECT_THAT(calls(formed_), ElementsAre());
    config_.tls.insecure = true;
    EXPECT_EQ(calls_.introduce(caller(3, "10.0.0.3:3")), Caller::added);
    calls_.set_has_leader(true);
    EXPECT_THAT(calls(formed_), ElementsAre("3 10.0.0.3:3 stranger"));
}

Config with_name() {
    Config config;
    config.node_id = 1;
    config.peers_from = "dns:mortise:1";
    config.expect = 2;
    return config;
}

class PeersWithANameTest : public PeersToCallTest {
protected:
    PeersWithANameTest() : PeersToCallTest{with_name()} {}
};

TEST_F(PeersWithANameTest, AreTheVotersToBeWhereverTheyAreFound) {
    EXPECT_THAT(calls({}), ElementsAre());
    calls_.found({{core::NodeId{2}, "127.0.0.2:1"}});
    EXPECT_THAT(calls({}), ElementsAre("1  near", "2 127.0.0.2:1 near"));
    calls_.found({{core::NodeId{2}, "127.0.0.9:1"}});
    EXPECT_THAT(calls({}), ElementsAre("1  near", "2 127.0.0.9:1 near"));
}

TEST_F(PeersWithANameTest, AreNoOtherVotersToBeThanThoseThatAreExpected) {
    EXPECT_THAT(calls_.listed(), ElementsAre(PeerConfig{1, ""}, PeerConfig{2, ""}));
    calls_.found({{core::NodeId{7}, "127.0.0.7:1"}});
    EXPECT_EQ(calls_.listed().size(), 3U);
    calls_.found({});
    EXPECT_EQ(calls_.listed().size(), 2U);
}

TEST_F(PeersWithANameTest, HaveTheAddressInTheLogAsWell) {
    calls_.name({member(1, "host-1:1"), member(2, "host-2:1")});
    EXPECT_THAT(calls(formed_), ElementsAre("1 host-1:1 near", "2 host-2:1 near"));
    calls_.found({{core::NodeId{2}, "127.0.0.2:1"}});
    calls_.set_has_leader(true);
    EXPECT_THAT(calls(formed_), ElementsAre("1 host-1:1 near", "2 127.0.0.2:1 also host-2:1 near"));
}

TEST_F(PeersWithANameTest, IncludeFoundNodesThatAreNoMembersOnlyWithoutALeader) {
    calls_.name({member(2, "host-2:1")});
    calls_.found({{core::NodeId{4}, "127.0.0.4:1"}});
    EXPECT_THAT(calls(formed_), ElementsAre("2 host-2:1 near", "4 127.0.0.4:1 near stranger"));
    calls_.set_has_leader(true);
    EXPECT_THAT(calls(formed_), ElementsAre("2 host-2:1 near"));
}

}  // namespace
}  // namespace mortise::detail
