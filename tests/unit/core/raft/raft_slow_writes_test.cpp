// Elections among voters whose writes take longer than the turns in which they ask for votes (P7).
#include <deque>
#include <map>

#include <gtest/gtest.h>

#include "tests/support/raft_fixture.hpp"

namespace mortise::core::test {
namespace {

// Time passes in small steps, a message takes one of them, and every write takes as long as a test
// says.
class SlowWrites {
public:
    SlowWrites(const Configuration& configuration, Nanoseconds write_time)
        : cluster{configuration, options_of(n1)}, write_time_{write_time} {}

    // Returns how long it took until one of them led, or the longest time.
    Nanoseconds time_to_lead(Nanoseconds longest) {
        constexpr Nanoseconds step = 5ms;
        for (Nanoseconds passed{0}; passed < longest; passed += step) {
            if (is_led()) return passed;
            cluster.pass(step);
            cluster.deliver();
            for (auto& [id, node] : cluster) {
                if (node->deadline() <= node.now) node.timer();
                work(id, node);
            }
        }
        return longest;
    }
    // The node has given its vote to the other one, which did not win.
    void has_voted(NodeId voter, NodeId for_whom, std::uint64_t term) {
        auto& node = cluster[voter];
        node.receive(for_whom, VoteRequest{Term{term}, 1, node->log().last(), false});
        ASSERT_EQ(node->hard_state(), (HardState{Term{term}, for_whom}));
        node.complete_writes();
        node.sent.clear();
    }

    RaftCluster cluster;

private:
    [[nodiscard]] bool is_led() {
        return std::ranges::any_of(cluster,
                                   [](const auto& one) { return one.second->is_leader(); });
    }
    // One write at a time.
    void work(NodeId id, HandDriven& node) {
        auto& done_at = done_at_[id];
        if (node.writes.empty()) return;
        if (done_at == Instant{}) done_at = node.now + write_time_;
        if (node.now < done_at) return;
        done_at = {};
        node.complete_write();
    }

    Nanoseconds write_time_;
    std::map<NodeId, Instant> done_at_;  // of the write under way
};

// How many heartbeats a write takes.
class RaftSlowWrites : public testing::TestWithParam<int> {
protected:
    [[nodiscard]] static Nanoseconds write_time() { return GetParam() * heartbeat / 2; }
};

// Neither gives the other one time to win a second time: it has not led since it got a vote.
TEST_P(RaftSlowWrites, TwoThatHaveVotedForEachOtherDoNotDeposeEachOtherForEver) {
    for (const auto& members : {voters({1, 2}), voters({1, 2, 3})}) {
        SlowWrites pair{members, write_time()};
        pair.cluster.cut(n3);
        pair.has_voted(n1, n2, 2);
        pair.has_voted(n2, n1, 3);
        const auto time = pair.time_to_lead(60 * election_timeout);
        RecordProperty("ms_of_" + std::to_string(members.voters.size()),
                       std::to_string(time / 1ms));
        EXPECT_LE(time, 6 * election_timeout) << members.voters.size();
    }
}

// P11: what is owed while the disk hangs is bounded.
TEST(RaftHangingWrite, OwesEachCandidateOneAnswer) {
    HandDriven node{options_of(n1), disk_with(voters({1, 2, 3}), {Term{1}, {}}, {})};
    for (std::uint64_t round = 1; round <= 100; ++round) {
        node.receive(n2, VoteRequest{Term{2}, round, log_id(1, 1), false});
        node.receive(n3, VoteRequest{Term{2}, round, log_id(1, 1), false});
    }
    node.complete_writes();
    const auto granted = node.take<VoteReply>(n2);
    ASSERT_EQ(granted.size(), 1U);
    EXPECT_TRUE(granted.front().granted);
    EXPECT_EQ(granted.front().round, 100U);
    const auto refused = node.take<VoteReply>(n3);
    ASSERT_EQ(refused.size(), 1U);
    EXPECT_FALSE(refused.front().granted);
}

INSTANTIATE_TEST_SUITE_P(HalfHeartbeats, RaftSlowWrites,
                         testing::Values(0, 1, 2, 3, 4, 5, 6, 8, 10));

}  // namespace
}  // namespace mortise::core::test
