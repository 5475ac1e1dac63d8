// Members of two versions in one cluster (P12).
#include <string>

#include <gtest/gtest.h>

#include "core/base/check.hpp"
#include "core/codec/configuration_codec.hpp"
#include "tests/support/node_fixture.hpp"

namespace mortise::core::test {
namespace {

constexpr auto oldest = command_format_oldest;
// There is one format so far. These tests invent a later one, with the same commands.
constexpr std::uint8_t newest = command_format_newest + 1;

class NodeCoreFormats : public testing::Test {
protected:
    void meet() {
        cluster.connect_all();
        cluster.run_for(3 * election_timeout);
    }
    // The format of the next entry with commands.
    std::uint8_t proposed() {
        auto& leader = *cluster.leader();
        ++tag;
        leader.acquire(tag, "name" + std::to_string(tag));
        cluster.run_for(5 * heartbeat);
        EXPECT_TRUE(leader.was_answered<Acquired>(tag));
        const auto& log = leader.raft().log();
        auto index = log.last().index;
        while (log.at(index).kind != EntryKind::commands)
            index = index.previous();
        return format_of(log.at(index).payload);
    }
    void change_version(NodeId id, std::uint8_t format) {
        cluster.change_version(id, format);
        meet();
    }
    // Empty if the node is added.
    [[nodiscard]] std::optional<MembershipRefusal> refusal_to_add(NodeId id) {
        auto& leader = *cluster.leader();
        ++tag;
        leader.change(tag, {MembershipGoal::Kind::learner, id, "somewhere"}, election_timeout);
        cluster.run_for(5 * heartbeat);
        EXPECT_TRUE(leader.refusal_of(tag) || leader.was_answered<Changed>(tag));
        return leader.refusal_of(tag);
    }

    NodeCluster cluster{{1, 2, 3}, [](NodeOptions& options) { options.command_format = newest; }};
    std::uint64_t tag = 0;
};

TEST_F(NodeCoreFormats, AreTheNewestThatAllMembersRead) {
    meet();
    EXPECT_EQ(proposed(), newest);
}

TEST_F(NodeCoreFormats, AreHeldBackByTheLastWhoIsNotUpgraded) {
    for (const auto id : {n1, n2, n3})
        cluster.change_version(id, oldest);
    meet();
    EXPECT_EQ(proposed(), oldest);
    for (const auto id : {n1, n2}) {
        change_version(id, newest);
        EXPECT_EQ(proposed(), oldest);
    }
    change_version(n3, newest);
    EXPECT_EQ(proposed(), newest);
}

TEST_F(NodeCoreFormats, AreHeldBackByALearner) {
    cluster.change_version(n3, oldest);
    cluster.add(4, {});
    cluster.change_version(n4, oldest);
    meet();
    EXPECT_EQ(proposed(), oldest);
    EXPECT_EQ(refusal_to_add(n4), std::nullopt);
    change_version(n3, newest);
    EXPECT_EQ(proposed(), oldest);
    change_version(n4, newest);
    EXPECT_EQ(proposed(), newest);
}

TEST_F(NodeCoreFormats, AreHeldBackByWhoWasNotHeardOf) {
    for (const auto id : {n1, n2, n3})
        cluster.change_version(id, oldest);
    meet();
    for (const auto id : {n1, n2})
        cluster.change_version(id, newest);
    cluster.connect(n1, n2);
    cluster.run_for(5 * election_timeout);
    EXPECT_EQ(proposed(), oldest);
    change_version(n3, newest);
    EXPECT_EQ(proposed(), newest);
}

// A member that cannot read the log cannot come back.
TEST_F(NodeCoreFormats, AreNotLeftOnceTheLogHasThem) {
    meet();
    EXPECT_EQ(proposed(), newest);
    for (const auto id : {n1, n2})
        cluster.crash_and_restart(id);
    cluster.connect(n1, n2);
    cluster.run_for(5 * election_timeout);
    EXPECT_EQ(proposed(), newest);
}

// What a member has said counts also while it is away.
TEST_F(NodeCoreFormats, AreNotHeldBackByWhoIsAwayForAWhile) {
    meet();
    const auto away = cluster.leader() == &cluster[n3] ? n2 : n3;
    for (const auto id : {n1, n2, n3})
        if (id != away) cluster.disconnect(id, away);
    EXPECT_EQ(proposed(), newest);
}

TEST_F(NodeCoreFormats, ANodeThatCannotReadTheLogIsNotTakenIn) {
    cluster.add(4, {});
    cluster.change_version(n4, oldest);
    meet();
    EXPECT_EQ(proposed(), newest);
    EXPECT_EQ(refusal_to_add(n4), MembershipRefusal::too_old);
    change_version(n4, newest);
    EXPECT_EQ(refusal_to_add(n4), std::nullopt);
}

TEST_F(NodeCoreFormats, AMemberThatLostItsDirectoryComesBackOnceItCanReadTheLog) {
    meet();
    EXPECT_EQ(proposed(), newest);
    const auto lost = cluster.leader() == &cluster[n3] ? n2 : n3;
    cluster.wipe_and_restart(lost);
    change_version(lost, oldest);
    const auto is_back = [&] {
        const auto* member = cluster.leader()->raft().configuration().find(lost);
        return member->incarnation == cluster[lost].hello().generation.incarnation;
    };
    EXPECT_FALSE(is_back());
    change_version(lost, newest);
    EXPECT_TRUE(is_back());
}

// Also on a node that did not see it committed, and for a log that was read at the start.
TEST(NodeCoreDowngrades, EndWithWordsForAPerson) {
    BatchBuilder batch;
    batch.add(Sweep{});
    RaftState state;
    state.hard_state = {Term{1}, {}};
    state.entries = {
        make_entry(log_id(1, 1), EntryKind::configuration, encode_configuration(voters({1}))),
        make_entry(log_id(1, 2), EntryKind::commands, batch.take(newest))};
    auto options = node_options(1, {1});
    options.command_format = oldest;
    HandDrivenNode node{options, state};
    try {
        node.timer_when_due();
        while (!node.writes.empty())
            node.complete_writes();
        FAIL() << "it was applied";
    } catch (const InvariantBroken& broken) {
        EXPECT_NE(std::string{broken.what()}.find("older than what ran here before"),
                  std::string::npos);
    }
}

}  // namespace
}  // namespace mortise::core::test
