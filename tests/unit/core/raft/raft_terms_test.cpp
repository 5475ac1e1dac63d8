// What the word of one member about a higher term does (docs/decisions/0064).
#include <gtest/gtest.h>

#include "tests/support/raft_fixture.hpp"

namespace mortise::core::test {
namespace {

// Node 1 leads nodes 2 and 3 in term 2, and all are quiet.
struct RaftTerms : testing::Test {
    RaftTerms() : leader{cluster.elect(n1)} { cluster.beat(n1); }

    void beats(int count) {
        for (int i = 0; i < count; ++i)
            cluster.beat(n1);
    }
    [[nodiscard]] static std::size_t elections(const HandDriven& node) {
        return static_cast<std::size_t>(
            std::ranges::count(node.notes, Note::Kind::became_leader, &Note::kind));
    }
    [[nodiscard]] static PreVoteReply says(std::uint64_t term) { return {Term{term}, 1, false}; }

    RaftCluster cluster{1, 2, 3};
    HandDriven& leader;
};

// --- how far it goes

TEST_F(RaftTerms, RiseByAStepAtATime) {
    leader.receive(n3, rejects(term_end - 1, 2, {}));
    EXPECT_EQ(leader->term(), Term{2 + term_step_max});
    EXPECT_TRUE(leader.noted(Note::Kind::distant_term));
    EXPECT_FALSE(leader.noted(Note::Kind::terms_used_up));
}

TEST_F(RaftTerms, AStepIsTakenAtOnce) {
    leader.receive(n3, rejects(2 + term_step_max, 2, {}));
    EXPECT_EQ(leader->term(), Term{2 + term_step_max});
    EXPECT_FALSE(leader.noted(Note::Kind::distant_term));
}

TEST_F(RaftTerms, AreRaisedByOnePeerOnlyAFewTimesInAnElectionTimeout) {
    auto& node = cluster[n2];
    node.peer_down(n1);
    const auto ask = [&](std::uint64_t term) {
        node.receive(n3, VoteRequest{Term{term}, 1, log_id(1, 1), false});
    };
    for (std::uint64_t term = 3; term <= 12; ++term)
        ask(term);
    EXPECT_EQ(node->term(), Term{6});
    node.receive(n1, VoteRequest{Term{7}, 1, log_id(1, 1), false});  // another one may
    EXPECT_EQ(node->term(), Term{7});
    node.now = node.now + election_timeout;
    ask(12);
    EXPECT_EQ(node->term(), Term{12});
}

TEST(RaftTermsAtATransfer, ALeaderDoesNotAskForVotesAgainstTheOneItHasNamed) {
    RaftCluster cluster{1, 2, 3};
    // It has voted for node 2 once, which did not win.
    cluster[n1].receive(n2, VoteRequest{Term{2}, 1, log_id(1, 1), false});
    cluster[n1].complete_writes();
    auto& leader = cluster.elect(n1);
    cluster.beat(n1);
    leader.notes.clear();
    ASSERT_TRUE(leader.transfer_to(n2));
    cluster.settle();
    EXPECT_TRUE(cluster[n2]->is_leader());
    EXPECT_FALSE(leader.noted(Note::Kind::became_pre_candidate));
}

// Node 3 raises the terms of the leader, which it follows, while node 2 is away; then it is gone
// itself. Nobody can show node 2 the votes, so it takes the terms in steps.
TEST(RaftFarTerms, MeetAboutAsFastAsTheyWereRaised) {
    constexpr Nanoseconds step = 10ms;
    constexpr Nanoseconds time = 16 * election_timeout;
    RaftCluster cluster{1, 2, 3};
    auto& leader = cluster.elect(n1);
    auto& other = cluster[n2];
    const auto run = [&] {
        cluster.pass(step);
        cluster.deliver();
        for (auto& [id, node] : cluster) {
            if (node->deadline() <= node.now) node.timer();
            node.complete_writes();
        }
    };
    cluster.cut(n2);
    for (Nanoseconds passed{0}; passed < time; passed += step) {
        leader.receive(n3, rejects(term_end - 1, 2, {}));
        run();
    }
    ASSERT_GT(leader->term().raw() - other->term().raw(), 60 * term_step_max);
    cluster.cut(n3);
    cluster.heal(n2);
    other.crash_and_restart();
    Nanoseconds passed{0};
    for (; passed < 10 * time && leader->leader() != n2 && other->leader() != n1; passed += step)
        run();
    RecordProperty("ms", std::to_string(passed / 1ms));
    EXPECT_EQ(leader->term(), other->term());
    EXPECT_LE(passed, 2 * time);
}

// --- whom it concerns

// It follows a leader: if a higher term matters, that one is told.
TEST_F(RaftTerms, AFollowerThatHearsItsLeaderIgnoresThem) {
    auto& node = cluster[n2];
    node.receive(n3, says(9));
    node.receive(n3, VoteReply{Term{9}, 1, true});
    node.receive(n3, rejects(9, 2, {}));
    node.receive(n3, SnapshotReply{Term{9}, log_id(1, 1), 0, false, false});
    EXPECT_EQ(node->term(), Term{2});
    EXPECT_EQ(node->leader(), n1);
}

TEST_F(RaftTerms, MessagesThatNeedNoHigherTermDoNotBringOne) {
    for (auto* node : {&leader, &cluster[n2]}) {
        node->receive(n3, ReadRequest{Term{9}, ReadId{1}});
        node->receive(n3, ReadReply{Term{9}, ReadId{1}, LogIndex{1}});
        node->receive(n3, TimeoutNow{Term{9}, node->raft().log().last()});
        node->receive(n3, NotAMember{Term{9}, log_id(9, 99)});
        EXPECT_EQ(node->raft().term(), Term{2});
    }
    EXPECT_TRUE(leader->is_leader());
    EXPECT_TRUE(leader.reads.empty());
}

// --- the leader goes on

TEST_F(RaftTerms, ALeaderThatIsToldOfAHigherOneLeadsAgainAtOnce) {
    leader.receive(n3, rejects(9, 2, {}));
    EXPECT_EQ(leader->role(), Role::pre_candidate);
    cluster.settle();
    EXPECT_TRUE(leader->is_leader());
    EXPECT_EQ(leader->term(), Term{10});
    EXPECT_EQ(cluster[n2]->leader(), n1);
}

// Node 3 does not help.
TEST_F(RaftTerms, ItsFollowersVoteForItAlthoughTheyHearIt) {
    cluster.cut(n3);
    leader.receive(n3, rejects(9, 2, {}));
    cluster.settle();
    EXPECT_TRUE(leader->is_leader());
    EXPECT_EQ(cluster[n2]->leader(), n1);
    EXPECT_EQ(cluster[n2]->term(), Term{10});
}

// It was paused, and another one has been elected. Its followers do not leave that one.
TEST_F(RaftTerms, ALeaderWithASuccessorDoesNotComeBack) {
    cluster.cut(n1);
    cluster.elect(n2);
    cluster.heal(n1);
    leader.timer();
    leader.receive(n3, rejects(3, 2, {}));
    cluster.settle();
    cluster.beat(n2);
    EXPECT_TRUE(cluster[n2]->is_leader());
    EXPECT_EQ(cluster[n2]->term(), Term{3});
    EXPECT_EQ(leader->leader(), n2);
}

TEST_F(RaftTerms, OneMemberDeposesNobodyForLong) {
    cluster.cut(n3);
    for (std::uint64_t lie = 0; lie < 40; ++lie) {
        for (const auto id : {n1, n2}) {
            auto& node = cluster[id];
            const auto far = node->term().raw() + 100;
            node.receive(n3, rejects(far, 2, {}));
            node.receive(n3, says(far));
            node.receive(n3, VoteRequest{Term{far}, 1, log_id(1, 1), true});
        }
        cluster.beat(n1);
        EXPECT_TRUE(leader->is_leader()) << lie;
    }
    cluster.heal(n3);
    beats(10);
    EXPECT_TRUE(leader->is_leader());
    EXPECT_EQ(cluster[n3]->leader(), n1);
}

// --- elections

// A node that asks for votes is not put off for long by those who only say a number.
TEST_F(RaftTerms, ACandidateAsksAnewSoon) {
    auto& node = cluster[n2];
    node.peer_down(n1);
    for (std::uint64_t term = 9; term < 13; ++term) {
        node.timer_when_due();
        ASSERT_EQ(node->role(), Role::pre_candidate);
        if (term % 2 == 0) {
            node.receive(n3, says(term));
        } else {
            node.receive(n3, VoteRequest{Term{term}, 1, log_id(1, 1), false});  // its log is old
        }
        EXPECT_EQ(node->term(), Term{term});
        EXPECT_LE(node->deadline(), node.now + 2 * heartbeat);
    }
}

// Two that depose each other would do so for ever if both asked at once.
TEST_F(RaftTerms, TwoCandidatesDoNotAskAtTheSameTime) {
    RaftCluster five{1, 2, 3, 4, 5};
    five.elect(n5);
    five.beat(n5);
    five.cut(n5);
    std::vector<Instant> deadlines;
    for (const auto id : {n1, n3}) {
        auto& node = five[id];
        node.peer_down(n5);
        while (node->role() != Role::pre_candidate)
            node.timer_when_due();
        node.receive(id == n1 ? n3 : n1, VoteRequest{Term{9}, 1, log_id(1, 1), false});
        deadlines.push_back(Instant{} + (node->deadline() - node.now));
    }
    EXPECT_GT(deadlines[0], Instant{});
    EXPECT_GT(deadlines[1] - deadlines[0], heartbeat / 8);
}

TEST_F(RaftTerms, DoNotPutAnElectionOff) {
    auto& node = cluster[n3];
    node.peer_down(n1);
    ASSERT_EQ(node->role(), Role::follower);
    const auto asks_at = node->deadline();
    node.receive(n2, says(9));
    EXPECT_EQ(node->term(), Term{9});
    EXPECT_LE(node->deadline(), asks_at);
    node.receive(n2, VoteRequest{Term{12}, 1, log_id(1, 1), false});
    EXPECT_LE(node->deadline(), asks_at);
}

// It gets votes and never leads.
TEST_F(RaftTerms, ACandidateIsGivenTimeOnce) {
    auto& node = cluster[n3];
    node.peer_down(n1);
    const auto last = node->log().last();
    const auto asks = [&](std::uint64_t term) {
        node.receive(n2, VoteRequest{Term{term}, term, last, false});
        node.complete_writes();
    };
    asks(3);
    const auto asks_at = node->deadline();
    EXPECT_GE(asks_at, node.now + election_timeout);
    node.now = node.now + election_timeout / 2;
    asks(4);
    EXPECT_EQ(node->hard_state(), (HardState{Term{4}, n2}));
    EXPECT_EQ(node->deadline(), asks_at);
    node.receive(n2, append(4, last));
    node.peer_down(n2);
    asks(5);
    EXPECT_GT(node->deadline(), asks_at);  // it has led
}

// --- transfers

TEST_F(RaftTerms, ATransferIsForTheVoterThatTheLeaderHasNamed) {
    auto& node = cluster[n2];
    const VoteRequest takes_over{Term{9}, 1, node->log().last(), true};
    node.receive(n3, takes_over);
    EXPECT_EQ(node->term(), Term{2});
    leader.receive(n3, takes_over);
    EXPECT_TRUE(leader->is_leader());
    ASSERT_TRUE(leader.transfer_to(n3));
    EXPECT_EQ(leader.newest<AppendRequest>(n2).transfer_target, n3);
    auto named = append(2, node->log().last());
    named.transfer_target = n3;
    node.receive(n1, named);
    node.receive(n3, takes_over);
    EXPECT_EQ(node->hard_state(), (HardState{Term{9}, n3}));
    leader.receive(n3, takes_over);
    EXPECT_EQ(leader->hard_state(), (HardState{Term{9}, n3}));
}

TEST_F(RaftTerms, AnAbandonedTransferCountsNoMore) {
    auto& node = cluster[n2];
    cluster.cut(n3);
    ASSERT_TRUE(leader.transfer_to(n3));
    beats(12);
    ASSERT_TRUE(leader->is_leader());
    node.receive(n3, VoteRequest{Term{9}, 1, node->log().last(), true});
    EXPECT_EQ(node->term(), Term{2});
}

// A leader of an older version names nobody.
TEST_F(RaftTerms, ATransferOfAnOlderLeaderIsBelieved) {
    auto& node = cluster[n2];
    auto older = append(2, node->log().last());
    older.transfer_target.reset();
    node.receive(n1, older);
    node.receive(n3, VoteRequest{Term{3}, 1, node->log().last(), true});
    EXPECT_EQ(node->hard_state(), (HardState{Term{3}, n3}));
}

// The one that was named does not get the vote of its leader, which goes on.
TEST_F(RaftTerms, ALeaderWhoseTargetHasLessLeadsAgain) {
    cluster.cut(n3);
    ASSERT_TRUE(leader.transfer_to(n3));
    leader.receive(n3, VoteRequest{Term{9}, 1, log_id(1, 1), true});
    cluster.settle();
    EXPECT_TRUE(leader->is_leader());
    EXPECT_EQ(leader->term(), Term{10});
}

// --- reads

TEST_F(RaftTerms, OnlyTheLeaderAnswersReads) {
    auto& node = cluster[n2];
    ASSERT_TRUE(node.read(7));
    node.receive(n3, ReadReply{Term{2}, ReadId{7}, LogIndex{log_index_max}});
    EXPECT_TRUE(node.reads.empty());
    node.receive(n1, ReadReply{Term{2}, ReadId{7}, LogIndex{2}});
    EXPECT_EQ(node.reads.size(), 1U);
}

}  // namespace
}  // namespace mortise::core::test
