// What the bootstrap decides from the hellos and the answers of the others, without a node.
#include "core/node/bootstrap.hpp"

#include <gtest/gtest.h>

#include "core/codec/configuration_codec.hpp"
#include "tests/support/node_around_part.hpp"

namespace mortise::core::test {
namespace {

// An empty node 1 of the voters 1, 2 and 3.
struct BootstrapTest : testing::Test {
    void meet(std::uint64_t id) { peers.hear(empty_hello(id, {1, 2, 3}), {}); }
    std::optional<Entry> form(Instant now) {
        sent.clear();
        return bootstrap.form_if_unanimous(prng, now, sent);
    }
    [[nodiscard]] const FormationQuestion& question(std::size_t number) const {
        return std::get<FormationQuestion>(sent.at(number).message);
    }

    NodeOptions options = node_options(1, {1, 2, 3});
    HandDriven raft{options_of(n1), RaftState{}};
    Peers peers{options, raft.raft()};
    Bootstrap bootstrap{options, raft.raft(), peers, {}};
    Prng prng{1};
    Bootstrap::Outbox sent;
};

TEST_F(BootstrapTest, AsksNobodyBeforeAllAreConnected) {
    meet(2);
    EXPECT_FALSE(form(start));
    EXPECT_TRUE(sent.empty());
    EXPECT_EQ(bootstrap.deadline(), Instant::never());
    meet(3);
    EXPECT_FALSE(form(start));
    EXPECT_EQ(sent.size(), 2U);
    EXPECT_EQ(bootstrap.deadline(), start + heartbeat);
}

TEST_F(BootstrapTest, FormsWhenAllHaveAnsweredTheSameQuestion) {
    meet(2);
    meet(3);
    (void)form(start);
    const auto round = question(0).round;
    bootstrap.take(n2, {round});
    bootstrap.take(n3, {round + 1});  // an answer to another question
    bootstrap.take(n4, {round});      // which was not asked
    EXPECT_FALSE(form(start));
    bootstrap.take(n3, {round});
    const auto founding = form(start);
    ASSERT_TRUE(founding);
    EXPECT_EQ(founding->id, log_id(1, 1));
    EXPECT_EQ(decode_configuration(founding->payload).value().voters, members({1, 2, 3}));
}

TEST_F(BootstrapTest, TakesAnAddressThatItDoesNotKnowFromTheHello) {
    options.voters.at(1).address.clear();
    for (const std::uint64_t id : {2, 3}) {
        auto hello = empty_hello(id, {1, 2, 3});
        hello.address = "told-" + std::to_string(id) + ":1";
        peers.hear(hello, {});
    }
    (void)form(start);
    const auto round = question(0).round;
    bootstrap.take(n2, {round});
    bootstrap.take(n3, {round});
    const auto voters = decode_configuration(form(start).value().payload).value().voters;
    EXPECT_EQ(voters.at(1).address, "told-2:1");
    EXPECT_EQ(voters.at(2).address, options.voters.at(2).address);
}

TEST_F(BootstrapTest, AsksAgainAfterAHeartbeatThoseThatHaveNotAnswered) {
    meet(2);
    meet(3);
    (void)form(start);
    bootstrap.take(n2, {question(0).round});
    (void)form(start + heartbeat - 1ns);
    EXPECT_TRUE(sent.empty());
    (void)form(start + heartbeat);
    ASSERT_EQ(sent.size(), 1U);
    EXPECT_EQ(sent.front().to, n3);
}

TEST_F(BootstrapTest, AFormerMemberFormsNothingAndJoinsItsOwnClusterOnly) {
    Bootstrap former{options, raft.raft(), peers, {7, 9}};
    meet(2);
    meet(3);
    EXPECT_FALSE(former.form_if_unanimous(prng, start, sent));
    EXPECT_TRUE(sent.empty());
    EXPECT_EQ(former.hello().cluster, (ClusterId{7, 9}));
    EXPECT_TRUE(former.may_join(ClusterId{7, 9}));
    EXPECT_TRUE(former.may_join(std::nullopt));
    EXPECT_FALSE(former.may_join(ClusterId{7, 8}));
    EXPECT_TRUE(bootstrap.may_join(ClusterId{7, 8}));
}

TEST_F(BootstrapTest, NamesNoVotersUntilTheFirstEntryIsDurable) {
    EXPECT_EQ(bootstrap.hello().voters.size(), 3U);
    raft.adopt_formation(configures(log_id(1, 1), voters({1, 2, 3})));
    EXPECT_TRUE(bootstrap.hello().is_empty());
    EXPECT_TRUE(bootstrap.hello().voters.empty());
    raft.complete_writes();
    EXPECT_EQ(bootstrap.hello().cluster, voters({}).cluster);
    EXPECT_EQ(bootstrap.hello().voters.size(), 3U);
}

TEST_F(BootstrapTest, OffersTheEntryToNamedPeersOnceItIsDurable) {
    meet(2);
    meet(4);
    raft.adopt_formation(configures(log_id(1, 1), voters({1, 2, 3})));
    for (const auto peer : {n2, n4})
        bootstrap.expects_offer(peer, sent);
    EXPECT_TRUE(sent.empty());
    raft.complete_writes();
    bootstrap.offer_to_all(sent);
    ASSERT_EQ(sent.size(), 1U);
    EXPECT_EQ(sent.front().to, n2);
    bootstrap.needs_no_offer(n2);
    bootstrap.offer_to_all(sent);
    EXPECT_EQ(sent.size(), 1U);
}

TEST_F(BootstrapTest, AcceptsAnOfferOnlyFromAVoterThatItNames) {
    const FormationOffer offer{configures(log_id(1, 1), voters({1, 2, 3}))};
    EXPECT_FALSE(bootstrap.accepts(n2, offer)) << "it is not connected";
    auto wiped = empty_hello(2, {1, 2, 3});
    wiped.generation.incarnation = Incarnation{9};
    peers.hear(wiped, {});
    EXPECT_FALSE(bootstrap.accepts(n2, offer)) << "the entry names the directory before this one";
    meet(3);
    EXPECT_TRUE(bootstrap.accepts(n3, offer));
    raft.adopt_formation(offer.founding);
    EXPECT_FALSE(bootstrap.accepts(n3, offer)) << "it has one already";
}

// --- who brings it

// The offer is repeated for those whom no leader brings the log.
TEST(Bootstrap, RepeatsNoOfferWhileThereIsALeader) {  // P8
    NodeAroundPart node;
    Bootstrap bootstrap{node.options, node.raft(), node.peers, {}};
    Bootstrap::Outbox sent;
    node.meet(empty_hello(2, {1, 2, 3}));
    bootstrap.expects_offer(n2, sent);
    EXPECT_EQ(sent.size(), 1U);
    bootstrap.offer_to_all(sent);
    EXPECT_EQ(sent.size(), 2U) << "nobody leads yet";
    node.elect();
    bootstrap.offer_to_all(sent);
    EXPECT_EQ(sent.size(), 2U);
}

}  // namespace
}  // namespace mortise::core::test
