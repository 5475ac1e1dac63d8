// Who claims to lead without having been elected (docs/decisions/0064).
#include <gtest/gtest.h>

#include "tests/support/raft_fixture.hpp"

namespace mortise::core::test {
namespace {

// Node 3 claims to lead in term 9 for as long as it takes until the node asks.
void hear_node_3_for_long(HandDriven& node, LogId previous) {
    for (int i = 0; i < 6; ++i) {
        node.receive(n3, append(9, previous));
        node.complete_writes();
        node.now = node.now + heartbeat;
    }
}

// Node 2 follows node 3, which claims to lead in term 9.
struct RaftClaims : testing::Test {
    RaftClaims() : node{options_of(n2), disk_with(voters({1, 2, 3}), {Term{1}, {}}, {})} {
        hear();
        node.complete_writes();
    }

    void hear(std::uint64_t term = 9) { node.receive(n3, append(term, log_id(1, 1))); }
    // As long as it takes until the node asks.
    void hear_for_long() {
        for (int i = 0; i < 5; ++i) {
            node.now = node.now + heartbeat;
            hear();
        }
    }
    [[nodiscard]] std::uint64_t question() { return node.newest<PreVoteRequest>(n1).round; }
    [[nodiscard]] static PreVoteReply voted(std::uint64_t round, std::uint64_t term, NodeId who,
                                            std::uint64_t configuration = 1) {
        return {Term{term}, round, false, who, LogIndex{configuration}};
    }
    [[nodiscard]] bool is_refuted() const { return node.noted(Note::Kind::false_leader); }

    HandDriven node;
};

TEST_F(RaftClaims, AreBelievedAtFirstAndExaminedSoon) {
    EXPECT_EQ(node->leader(), n3);
    EXPECT_EQ(node.sent_count<PreVoteRequest>(n1), 0U);
    hear_for_long();
    EXPECT_EQ(node.sent_count<PreVoteRequest>(n1), 1U);
    EXPECT_EQ(node.sent_count<PreVoteRequest>(n3), 1U);
    EXPECT_EQ(node->leader(), n3);
    EXPECT_EQ(node->term(), Term{9});
}

TEST_F(RaftClaims, OfOneThatAMajorityDidNotVoteForAreNotFollowed) {
    hear_for_long();
    node.receive(n1, voted(question(), 9, {}));
    EXPECT_TRUE(is_refuted());
    EXPECT_EQ(node->leader(), std::nullopt);
    hear(10);
    EXPECT_EQ(node->leader(), std::nullopt);
    EXPECT_EQ(node->term(), Term{9});
}

// Who is in an earlier term has not voted in this one.
TEST_F(RaftClaims, AreRefutedByVotersThatHaveNotHeardOfThatTerm) {
    hear_for_long();
    node.receive(n1, voted(question(), 2, n1));
    EXPECT_TRUE(is_refuted());
}

TEST_F(RaftClaims, AreProvenByTheVotes) {
    hear_for_long();
    node.receive(n1, voted(question(), 9, n3));
    EXPECT_FALSE(is_refuted());
    for (int i = 0; i < 5; ++i)
        hear_for_long();
    EXPECT_EQ(node.sent_count<PreVoteRequest>(n1), 0U);
    EXPECT_EQ(node->leader(), n3);
}

// Who lacks what every member has is taken for one that has lost it.
TEST_F(RaftClaims, SayNothingAboutOthersBeforeTheyAreProven) {
    auto says = append(9, log_id(1, 1), {}, 1);
    says.replicated = LogIndex{1};
    node.receive(n3, says);
    EXPECT_EQ(node->commit_index(), LogIndex{1});
    EXPECT_EQ(node->replicated_index(), LogIndex{});
    hear_for_long();
    node.receive(n1, voted(question(), 9, n3));
    node.receive(n3, says);
    EXPECT_EQ(node->replicated_index(), LogIndex{1});
}

// A member comes back, and the terms have risen by more than a step meanwhile.
TEST_F(RaftClaims, OfAFarTermAreBelievedOnceTheyAreProven) {
    const auto far = 20 * term_step_max;
    for (int i = 0; i < 5; ++i) {
        node.now = node.now + heartbeat;
        hear(far);
    }
    EXPECT_LT(node->term(), Term{far});
    node.receive(n1, voted(question(), far, n3));
    hear(far);
    EXPECT_EQ(node->term(), Term{far});
    EXPECT_EQ(node->leader(), n3);
}

TEST_F(RaftClaims, OfOneThatHasThisNodesVoteAreNotExamined) {
    HandDriven voter{options_of(n2), disk_with(voters({1, 2, 3}), {Term{9}, n3}, {})};
    for (int i = 0; i < 20; ++i) {
        voter.now = voter.now + heartbeat;
        voter.receive(n3, append(9, log_id(1, 1)));
    }
    EXPECT_EQ(voter.sent_count<PreVoteRequest>(n1), 0U);
}

// Its version does not tell; or it is in a later term, or has members that this node does not know.
TEST_F(RaftClaims, AreNotRefutedByWhoDoesNotKnow) {
    hear_for_long();
    const auto round = question();
    node.receive(n1, PreVoteReply{Term{9}, round, false});
    node.receive(n1, voted(round, 10, {}));
    node.receive(n1, voted(round, 9, {}, 2));
    node.receive(n1, voted(round + 1, 9, {}));
    node.receive(n1, voted(0, 9, {}));
    EXPECT_FALSE(is_refuted());
    EXPECT_EQ(node->leader(), n3);
}

TEST_F(RaftClaims, NeedAMajorityAgainstThem) {
    HandDriven one{options_of(n2), disk_with(voters({1, 2, 3, 4, 5}), {Term{1}, {}}, {})};
    hear_node_3_for_long(one, log_id(1, 1));
    const auto round = one.newest<PreVoteRequest>(n1).round;
    for (int i = 0; i < 3; ++i)
        one.receive(n1, voted(round, 9, {}));
    EXPECT_FALSE(one.noted(Note::Kind::false_leader));
    one.receive(n4, voted(round, 9, n4));
    EXPECT_TRUE(one.noted(Note::Kind::false_leader));
}

// New terms do not begin the time anew.
TEST_F(RaftClaims, InEverNewTermsAreExaminedAllTheSame) {
    std::uint64_t term = 9;
    for (int i = 0; i < 6; ++i) {
        node.now = node.now + heartbeat;
        hear(term += i % 3 == 0 ? 1 : 0);
        node.complete_writes();
    }
    EXPECT_NE(node.sent_count<PreVoteRequest>(n1), 0U);
    node.receive(n1, voted(question(), 9, {}));
    EXPECT_TRUE(is_refuted());
}

TEST_F(RaftClaims, AreBelievedAgainOnceTheVotesProveThem) {
    hear_for_long();
    node.receive(n1, voted(question(), 9, {}));
    ASSERT_TRUE(is_refuted());
    node.now = node.now + election_timeout;
    node.sent.clear();
    hear(10);
    EXPECT_EQ(node->leader(), std::nullopt);
    node.receive(n1, voted(question(), 10, n3));
    hear(10);
    EXPECT_EQ(node->leader(), n3);
}

// The voter that denied it is replaced by one that cannot know. Meanwhile another one leads.
TEST_F(RaftClaims, AreBelievedAgainUnlessTheyAreDeniedEachTime) {
    hear_for_long();
    node.receive(n1, voted(question(), 9, {}));
    node.receive(n1, append(10, log_id(1, 1)));
    node.complete_writes();
    for (std::uint64_t term = 11; term < 15; ++term) {
        node.now = node.now + election_timeout;
        hear(term);
        EXPECT_EQ(node->leader(), n1);
        node.receive(n1, voted(question(), 10, n1));
    }
    for (int i = 0; i < 3; ++i) {
        node.now = node.now + election_timeout;
        hear(15);
    }
    EXPECT_EQ(node->leader(), n3);
}

// P7: those who deny it could have elected another one by then, so one of them may lie.
TEST_F(RaftClaims, AreRefusedByALaterTermIfNobodyElseIsElected) {
    hear_for_long();
    const auto since = node.now;
    while (node->term() == Term{9} && node.now < since + 9 * election_timeout) {
        for (const auto& asked : node.take<PreVoteRequest>(n1))
            node.receive(n1, voted(asked.round, 9, {}));
        EXPECT_NE(node->leader(), n3);
        node.now = node.now + heartbeat;
        hear();
    }
    EXPECT_LE(node.now, since + 2 * election_timeout);
    node.complete_writes();
    node.now = node.now + heartbeat;
    hear();
    const auto refusal = node.newest<AppendReply>(n3);
    EXPECT_TRUE(refusal.rejected);
    EXPECT_EQ(refusal.term, Term{10});
    node.receive(n3, VoteRequest{Term{11}, 1, log_id(1, 1), false});
    hear(11);
    EXPECT_EQ(node->leader(), n3);
}

// It is removed after it has refuted a claim of node 3, which leads when it is added again. It can
// ask nobody, and would refuse its leader for ever.
TEST_F(RaftClaims, AreBelievedByWhoIsNoMemberAnyMore) {
    hear_for_long();
    node.receive(n1, voted(question(), 9, {}));
    ASSERT_TRUE(is_refuted());
    node.receive(n1, append(10, log_id(1, 1), {configures(log_id(10, 2), voters({1, 3}))}, 2));
    node.complete_writes();
    (void)node.take<PreVoteRequest>(n1);
    for (int i = 0; i < 30; ++i) {
        node.now = node.now + heartbeat;
        node.receive(n3, append(11, log_id(11, 7)));
        node.complete_writes();
    }
    EXPECT_EQ(node->term(), Term{11});
    EXPECT_EQ(node->leader(), n3);
    EXPECT_TRUE(node.take<PreVoteRequest>(n1).empty());  // voters do not answer it
}

// Each of its terms may be denied, and the next one is not refused at once.
TEST_F(RaftClaims, AreRefusedByALaterTermOnceInAnElectionTimeout) {
    hear_for_long();
    for (int i = 0; i < 30; ++i) {
        for (const auto& asked : node.take<PreVoteRequest>(n1))
            node.receive(n1, voted(asked.round, node->term().raw(), {}));
        node.now = node.now + heartbeat;
        hear(node->term().raw());
    }
    EXPECT_GE(node->term(), Term{11});
    EXPECT_LE(node->term(), Term{9 + 30 * heartbeat / election_timeout});
}

// The others learn it at the same time, and one of them asks for votes.
TEST_F(RaftClaims, AreNoLongerInTheWayOfAnElection) {
    node.receive(n1, PreVoteRequest{Term{9}, 77, log_id(1, 1)});
    EXPECT_FALSE(node.newest<PreVoteReply>(n1).granted);
    hear_for_long();
    node.receive(n1, voted(question(), 9, {}));
    const auto late = node.newest<PreVoteReply>(n1);
    EXPECT_TRUE(late.granted);
    EXPECT_EQ(late.round, 77U);
}

// The leader has changed the members since it was elected. Those who joined have no part in that.
TEST_F(RaftClaims, AreJudgedByTheMembersAtTheElection) {
    auto state = disk_with(voters({1, 2, 3}), {Term{9}, {}}, {});
    state.entries.push_back(configures(log_id(9, 2), voters({1, 2, 3, 4, 5})));
    HandDriven newcomer{options_of(n4), state};
    hear_node_3_for_long(newcomer, log_id(9, 2));
    const auto round = newcomer.newest<PreVoteRequest>(n1).round;
    newcomer.receive(n5, voted(round, 9, {}));
    newcomer.receive(n2, voted(round, 9, {}));
    EXPECT_FALSE(newcomer.noted(Note::Kind::false_leader));
    newcomer.receive(n1, voted(round, 9, {}));
    EXPECT_TRUE(newcomer.noted(Note::Kind::false_leader));
}

// Node 3 was promoted, and elected by itself and node 1. Node 2 has not heard of its promotion.
TEST_F(RaftClaims, AreNotRefutedByWhoDoesNotKnowTheNewestMembers) {
    auto before = voters({1, 2});
    before.learners = {voters({3}).voters.front()};
    HandDriven one{options_of(n2), disk_with(before, {Term{8}, {}}, {})};
    hear_node_3_for_long(one, log_id(1, 1));
    one.receive(n1, voted(one.newest<PreVoteRequest>(n1).round, 9, n3, 2));
    EXPECT_FALSE(one.noted(Note::Kind::false_leader));
    EXPECT_EQ(one->leader(), n3);
}

// Node 1 has voted, and has lost its directory since. The leader has taken it in again.
TEST_F(RaftClaims, AreNotRefutedByAVoterThatHasForgottenItsVote) {
    auto again = voters({1, 2, 3});
    again.learners = {{n1, Incarnation{901}, "host1:1"}};
    auto state = disk_with(voters({1, 2, 3}), {Term{9}, {}}, {});
    state.entries.push_back(configures(log_id(9, 2), again));
    HandDriven one{options_of(n2), state};
    hear_node_3_for_long(one, log_id(9, 2));
    const auto round = one.newest<PreVoteRequest>(n3).round;
    one.receive(n1, voted(round, 9, {}));
    EXPECT_FALSE(one.noted(Note::Kind::false_leader));
    one.receive(n3, voted(round, 9, n3));
    EXPECT_FALSE(one.noted(Note::Kind::false_leader));

    // And it cannot deny it itself.
    auto options = options_of(n1);
    options.incarnation = Incarnation{901};
    HandDriven itself{options, state};
    hear_node_3_for_long(itself, log_id(9, 2));
    itself.receive(n2, voted(itself.newest<PreVoteRequest>(n2).round, 9, {}));
    EXPECT_FALSE(itself.noted(Note::Kind::false_leader));
}

// The log begins behind an entry of the leader's term: it is unknown whether that term began before
// the members changed.
TEST_F(RaftClaims, AreNotJudgedByMembersBeforeAPurgedLog) {
    HandDriven one{options_of(n2), disk_with(voters({1, 2, 3}), {Term{9}, {}}, {9})};
    one.receive(n3, append(9, log_id(9, 2), {}, 2));
    one.purge_to(2);
    hear_node_3_for_long(one, log_id(9, 2));
    one.receive(n1, voted(one.newest<PreVoteRequest>(n1).round, 9, {}));
    EXPECT_FALSE(one.noted(Note::Kind::false_leader));
}

RaftState begun_in_term_9() {
    RaftState state;
    state.hard_state = {Term{9}, {}};
    state.base = log_id(9, 7);
    state.configuration = voters({1, 2, 3});
    state.applied = LogIndex{7};
    return state;
}

// The log begins with a state that the leader has sent: nobody knows who was there when it was
// elected.
TEST_F(RaftClaims, AreNotJudgedByMembersOfAnUnknownTerm) {
    HandDriven one{options_of(n2), begun_in_term_9()};
    hear_node_3_for_long(one, log_id(9, 7));
    one.receive(n1, voted(one.newest<PreVoteRequest>(n1).round, 9, {}));
    EXPECT_FALSE(one.noted(Note::Kind::false_leader));
}

// Its log begins in the leader's term, so nobody can deny the votes; but they can be shown.
TEST_F(RaftClaims, AreProvenToOneWhoseLogBeginsInThatTerm) {
    HandDriven one{options_of(n2), begun_in_term_9()};
    auto says = append(9, log_id(9, 7), {}, 7);
    says.replicated = LogIndex{7};
    hear_node_3_for_long(one, log_id(9, 7));
    one.receive(n3, says);
    EXPECT_EQ(one->replicated_index(), LogIndex{});
    one.receive(n1, voted(one.newest<PreVoteRequest>(n1).round, 9, n3));
    one.receive(n3, says);
    EXPECT_EQ(one->replicated_index(), LogIndex{7});
}

// A voter answers of which members it knows from before the term in question.
TEST_F(RaftClaims, AreAskedAboutByTheirTerm) {
    const auto far = 20 * term_step_max;
    node.receive(n3, append(far, log_id(1, 1)));
    for (int i = 0; i < 5; ++i) {
        node.now = node.now + heartbeat;
        node.receive(n3, append(far, log_id(1, 1)));
        node.complete_writes();
    }
    ASSERT_LT(node->term(), Term{far});
    EXPECT_EQ(node.newest<PreVoteRequest>(n1).term, Term{far});
}

// Another one led meanwhile, so it may have been elected now.
TEST_F(RaftClaims, AreNotRefusedAtOnceAfterALongSilence) {
    hear_for_long();
    node.receive(n1, voted(question(), 9, {}));
    ASSERT_TRUE(is_refuted());
    node.now = node.now + 9 * election_timeout;
    hear();
    EXPECT_EQ(node->term(), Term{9});
}

// --- what the others say

TEST_F(RaftClaims, AVoterTellsItsVoteAndItsMembers) {
    auto state = disk_with(voters({1, 2, 3}), {Term{4}, n3}, {2});
    state.entries.push_back(configures(log_id(3, 3), voters({1, 2, 3})));
    HandDriven voter{options_of(n1), state};
    voter.receive(n2, PreVoteRequest{Term{9}, 1, log_id(1, 1)});
    const auto told = voter.newest<PreVoteReply>(n2);
    EXPECT_EQ(told.term, Term{4});
    EXPECT_EQ(told.voted_for, n3);
    EXPECT_EQ(told.configuration, LogIndex{3});
    voter.receive(n2, PreVoteRequest{Term{3}, 2, log_id(1, 1)});
    EXPECT_EQ(voter.newest<PreVoteReply>(n2).configuration, LogIndex{1});
}

// It may have voted for somebody else before.
TEST_F(RaftClaims, AVoterThatForgotSomethingTellsNoVoteOfThatTerm) {
    HandDriven voter{options_of(n1), disk_with(voters({1, 2, 3}), {Term{4}, n3}, {2})};
    const auto told = [&](std::uint64_t round) {
        voter.receive(n2, PreVoteRequest{Term{9}, round, log_id(1, 1)});
        return voter.newest<PreVoteReply>(n2).voted_for;
    };
    voter.doubt(true);
    EXPECT_EQ(told(1), std::nullopt);
    voter.doubt(false);
    EXPECT_EQ(told(2), std::nullopt);
    voter.receive(n3, append(5, log_id(1, 1)));
    voter.complete_writes();
    EXPECT_EQ(told(3), NodeId{});
}

// Node 1 was elected by node 3, which says that it did not vote.
TEST_F(RaftClaims, AVoterThatDeniesItsVoteKeepsNobodyOut) {
    constexpr Nanoseconds step = 10ms;
    RaftCluster cluster{1, 2, 3};
    cluster.cut(n2);
    cluster.elect(n1);
    cluster.heal(n2);
    Nanoseconds out{0};
    Nanoseconds longest{0};
    for (Nanoseconds passed{0}; passed < 40 * election_timeout; passed += step) {
        for (auto& envelope : cluster[n3].sent)
            if (auto* reply = std::get_if<PreVoteReply>(&envelope.message))
                reply->voted_for = NodeId{};
        cluster.deliver();
        cluster.pass(step);
        for (auto& [id, one] : cluster) {
            if (one->deadline() <= one.now) one.timer();
            one.complete_writes();
        }
        out = cluster[n2]->leader() ? Nanoseconds{0} : out + step;
        longest = std::max(longest, out);
    }
    EXPECT_LE(longest, 2 * election_timeout + heartbeat);
    EXPECT_TRUE(cluster[n2].noted(Note::Kind::false_leader));
}

// A leader follows whoever claims to lead in a later term, finds out, and leads again.
TEST_F(RaftClaims, AnHonestLeaderComesBack) {
    RaftCluster cluster{1, 2, 3};
    auto& leader = cluster.elect(n1);
    cluster.cut(n3);
    for (int i = 0; i < 15; ++i) {
        for (const auto id : {n1, n2}) {
            const auto said = std::max(cluster[n1]->term(), cluster[n2]->term()).next();
            cluster[id].receive(n3, append(said.raw(), log_id(1, 1)));
        }
        cluster.pass(heartbeat);
        for (const auto id : {n1, n2})
            if (cluster[id]->deadline() <= cluster[id].now) cluster[id].timer();
        cluster.settle();
    }
    EXPECT_TRUE(leader->is_leader() || cluster[n2]->is_leader());
}

}  // namespace
}  // namespace mortise::core::test
