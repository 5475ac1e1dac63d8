// How many uncommitted entries a leader allows (P11).
#include <gtest/gtest.h>

#include "core/codec/command_codec.hpp"
#include "tests/support/node_fixture.hpp"

namespace mortise::core::test {
namespace {

constexpr std::size_t bound = 2'000;

RaftState disk() {
    return disk_with(voters({1, 2, 3}), {Term{1}, {}}, {});
}

Hello hello_of_two() {
    return HandDrivenNode{node_options(2, {1, 2, 3}), disk()}.hello();
}

// A request that node 2 may make before it has a session.
Forward something(std::uint64_t nonce) {
    const auto hello = hello_of_two();
    BatchBuilder batch;
    batch.add(OpenSession{nonce, n2, hello.generation.start(), 10'000, 10'000});
    return forward_of(batch.take());
}

// Node 2 elects node 1, and acknowledges only what a test says.
HandDrivenNode elected() {
    auto options = node_options(1, {1, 2, 3});
    options.uncommitted_bytes_max = bound;
    HandDrivenNode node{options, disk()};
    node.step(PeerUp{hello_of_two()});
    node.timer_when_due();
    const auto asked = node.newest<PreVoteRequest>(n2);
    node.receive(n2, RaftMessage{PreVoteReply{Term{1}, asked.round, true}});
    node.complete_writes();
    const auto vote = node.newest<VoteRequest>(n2);
    node.receive(n2, RaftMessage{VoteReply{Term{2}, vote.round, true}});
    node.complete_writes();
    node.receive(n2, RaftMessage{accepts(2, node.raft().log().last().index.raw())});
    return node;
}

// B-F7, B-F2: while nothing is committed nothing more is proposed. It continues with a commit.
TEST(NodeCoreFlow, ALeaderThatCommitsNothingProposesUpToItsBound) {
    auto node = elected();
    ASSERT_TRUE(node.raft().has_committed_own_term());
    for (std::uint64_t i = 1; i <= 500; ++i) {
        node.receive(n2, something(i));
        node.complete_writes();
    }
    EXPECT_GE(node.raft().uncommitted_bytes(), bound);
    const auto& newest = node.raft().log().at(node.raft().log().last().index);
    EXPECT_LT(node.raft().uncommitted_bytes(), bound + weight(newest));
    // Node 2 has everything that it was sent.
    for (int round = 0; round < 200; ++round) {
        if (node.raft().commit_index() == node.raft().log().last().index) break;
        node.receive(n2, RaftMessage{accepts(2, node.raft().progress_of(n2)->named.raw())});
        node.complete_writes();
    }
    EXPECT_EQ(node.raft().commit_index(), node.raft().log().last().index);
    EXPECT_EQ(node.raft().uncommitted_bytes(), 0U);
}

}  // namespace
}  // namespace mortise::core::test
