// Calls that wait at a member when it is removed: it receives nothing more about its session, and
// no call may wait for ever (P6).
#include <gtest/gtest.h>

#include "tests/support/node_fixture.hpp"

namespace mortise::core::test {
namespace {

using Kind = MembershipGoal::Kind;

constexpr std::uint64_t held = 1;
constexpr std::uint64_t waiting = 2;

// Three voters, led by node 1, which holds a lock; and node 4, which is a learner.
class NodeCoreRemoval : public testing::Test {
protected:
    NodeCoreRemoval() {
        cluster_.add(4, {});
        cluster_.connect_all();
        cluster_.run_for(5 * heartbeat);
        change({Kind::learner, n4, "host4:1"});
        cluster_[n1].acquire(held, "name");
        cluster_.run_for(5 * heartbeat);
    }

    void change(const MembershipGoal& goal) {
        auto& leader = cluster_[n1];
        leader.call(ChangeCall{CallTag{++tag_}, goal, leader.now + 20 * election_timeout});
        cluster_.run_for(5 * heartbeat);
        ASSERT_TRUE(leader.was_answered<Changed>(tag_));
    }
    // Until the cluster has it.
    void wait_at(NodeId id) {
        cluster_[id].acquire(waiting, "name");
        cluster_.run_for(5 * heartbeat);
    }
    void cut(NodeId id) {
        for (const auto other : {n1, n2, n3, n4}) {
            if (other != id) cluster_.disconnect(id, other);
        }
    }
    [[nodiscard]] bool was_given_up(NodeId id) {
        const auto& answers = cluster_[id].answers;
        return std::ranges::any_of(answers, [](const CallAnswer& answer) {
            const auto* error = std::get_if<CallError>(&answer.result);
            return answer.tag == CallTag{waiting} && error != nullptr &&
                   *error == CallError::session_expired;
        });
    }

    NodeCluster cluster_{1, 2, 3};
    std::uint64_t tag_ = 100;
};

TEST_F(NodeCoreRemoval, EndsItsWaits) {
    wait_at(n3);
    EXPECT_FALSE(was_given_up(n3));
    change({Kind::gone, n3, {}});
    EXPECT_TRUE(was_given_up(n3));
}

TEST_F(NodeCoreRemoval, EndsTheWaitsOfAMemberThatMissedIt) {
    wait_at(n3);
    cut(n3);
    change({Kind::gone, n3, {}});
    cluster_.run_for(3 * election_timeout);
    EXPECT_FALSE(was_given_up(n3));
    cluster_.connect(n2, n3);
    cluster_.run_for(3 * election_timeout);
    EXPECT_FALSE(was_given_up(n3));  // one member alone may be wrong
    cluster_.connect(n1, n3);
    cluster_.run_for(3 * election_timeout);
    EXPECT_TRUE(was_given_up(n3));
}

// It asks for no votes, so its ordinary messages have to show that it does not know.
TEST_F(NodeCoreRemoval, EndsTheWaitsOfALearnerThatMissedIt) {
    wait_at(n4);
    cut(n4);
    change({Kind::gone, n4, {}});
    cluster_.run_for(3 * election_timeout);
    EXPECT_FALSE(cluster_[n4].noted(Note::Kind::removed));
    cluster_.connect(n1, n4);
    cluster_.run_for(10 * election_timeout);
    EXPECT_TRUE(cluster_[n4].noted(Note::Kind::removed));
    EXPECT_TRUE(was_given_up(n4));
}

// Its disk does not show whether its last entry is committed, and no node informs it any more.
TEST_F(NodeCoreRemoval, IsKnownToALaterStartOnceAMajorityKnowsItNot) {
    change({Kind::gone, n3, {}});
    auto& node = cluster_[n3];
    cluster_.crash_and_restart(n3);
    node.timer();
    ASSERT_FALSE(node.raft().is_member());
    EXPECT_FALSE(node.raft().is_removed());
    node.step(UnknownTo{n4});  // it has no vote
    node.step(UnknownTo{n1});
    node.step(UnknownTo{n1});
    EXPECT_FALSE(node.raft().is_removed());
    node.step(UnknownTo{n2});
    EXPECT_TRUE(node.raft().is_removed());
    EXPECT_TRUE(node.noted(Note::Kind::removed));
    cluster_.connect(n1, n3);
    change({Kind::learner, n3, "host3:1"});
    EXPECT_TRUE(node.raft().is_member());
    EXPECT_FALSE(node.raft().is_removed());
}

TEST_F(NodeCoreRemoval, IsNotWhatAMemberHearsFromWhoIsBehind) {
    auto& node = cluster_[n3];
    cluster_.crash_and_restart(n3);
    for (const auto voter : {n1, n2})
        node.step(UnknownTo{voter});
    EXPECT_FALSE(node.raft().is_removed());
}

// The session may outlive the removal: abandoned requests hold nothing then either.
TEST_F(NodeCoreRemoval, LeavesNothingBehindWhenTheNodeIsAddedAgain) {
    wait_at(n4);
    change({Kind::gone, n4, {}});
    ASSERT_TRUE(was_given_up(n4));
    change({Kind::learner, n4, "host4:1"});
    cluster_.run_for(3 * election_timeout);
    auto& holder = cluster_[n1];
    const auto granted = std::ranges::find(holder.answers, CallTag{held}, &CallAnswer::tag);
    ASSERT_NE(granted, holder.answers.end());
    holder.call(ReleaseCall{{}, std::get<Acquired>(granted->result).hold});
    cluster_.run_for(5 * heartbeat);
    cluster_[n2].acquire(waiting, "name");
    cluster_.run_for(5 * heartbeat);
    EXPECT_TRUE(cluster_[n2].was_answered<Acquired>(waiting));
    EXPECT_FALSE(cluster_[n4].was_answered<Acquired>(waiting));
}

}  // namespace
}  // namespace mortise::core::test
