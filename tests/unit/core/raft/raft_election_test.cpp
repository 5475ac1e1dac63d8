#include <optional>
#include <ranges>
#include <set>

#include <gtest/gtest.h>

#include "tests/support/raft_fixture.hpp"

namespace mortise::core::test {
namespace {

PreVoteRequest asks(std::uint64_t term, LogId last, std::uint64_t round = 1) {
    return {Term{term}, round, last};
}
VoteRequest campaigns(std::uint64_t term, LogId last, bool transfer = false) {
    return {Term{term}, 1, last, transfer};
}

// Node 1 of three (or of another configuration), formed in term 1.
HandDriven one_of(const Configuration& configuration, HardState hard_state = {Term{1}, {}},
                  const std::vector<std::uint64_t>& terms = {}) {
    return {options_of(n1), disk_with(configuration, hard_state, terms)};
}
HandDriven one_of_three() {
    return one_of(voters({1, 2, 3}));
}

// The node asks, and gets the answers of node 2: a candidate whose own vote is being written.
void become_candidate(HandDriven& node) {
    node.timer_when_due();
    const auto request = node.newest<PreVoteRequest>(n2);
    node.receive(n2, PreVoteReply{node->term(), request.round, true});
    ASSERT_EQ(node->role(), Role::candidate);
}
// A leader of three that has sent its first messages and has nothing to write.
void become_leader(HandDriven& node) {
    become_candidate(node);
    node.complete_writes();
    const auto request = node.newest<VoteRequest>(n2);
    node.receive(n2, VoteReply{node->term(), request.round, true});
    node.complete_writes();
    ASSERT_TRUE(node->is_leader());
    node.sent.clear();
}
// The node receives that node 2 leads in term 1.
void follow_two(HandDriven& node) {
    node.receive(n2, append(1, node->log().last()));
    ASSERT_EQ(node->leader(), n2);
    node.sent.clear();
}

struct Remembered {
    explicit Remembered(const HandDriven& node)
        : role{node->role()},
          hard_state{node->hard_state()},
          leader{node->leader()},
          deadline{node->deadline()},
          writes{node.writes.size()} {}

    Role role;
    HardState hard_state;
    std::optional<NodeId> leader;
    Instant deadline;
    std::size_t writes;

    friend bool operator==(const Remembered&, const Remembered&) = default;
};

// --- pre-votes (thesis 9.6)

TEST(RaftElection, WaitsBetweenOneAndTwoTimeouts) {
    std::set<Instant> seen;
    for (std::uint64_t seed = 0; seed < 50; ++seed) {
        const Raft raft{options_of(n1), disk_with(voters({1, 2, 3}), {Term{1}, {}}, {}), Prng{seed},
                        start};
        EXPECT_GE(raft.deadline(), start + election_timeout);
        EXPECT_LE(raft.deadline(), start + 2 * election_timeout);
        seen.insert(raft.deadline());
    }
    EXPECT_GT(seen.size(), 45U);  // otherwise equal nodes would always collide
}

TEST(RaftElection, DoesNothingBeforeItsTime) {
    auto node = one_of_three();
    node.now = node->deadline() - 1ns;
    node.timer();
    EXPECT_EQ(node->role(), Role::follower);
    EXPECT_TRUE(node.sent.empty());
}

TEST(RaftElection, AsksBeforeItCampaigns) {
    auto node = one_of(voters({1, 2, 3}), {Term{4}, {}}, {2});
    node.timer_when_due();
    EXPECT_EQ(node->role(), Role::pre_candidate);
    EXPECT_EQ(node->term(), Term{4});
    EXPECT_TRUE(node.writes.empty());
    for (const auto peer : {n2, n3}) {
        const auto request = node.newest<PreVoteRequest>(peer);
        EXPECT_EQ(request.term, Term{4});
        EXPECT_EQ(request.last, log_id(2, 2));
    }
    EXPECT_TRUE(node.sent.empty());
}

TEST(RaftElection, CampaignsOnceAMajorityWouldVote) {
    auto node = one_of(voters({1, 2, 3, 4, 5}));
    node.timer_when_due();
    const auto round = node.newest<PreVoteRequest>(n2).round;
    node.receive(n2, PreVoteReply{Term{1}, round, true});
    EXPECT_EQ(node->role(), Role::pre_candidate);
    node.receive(n3, PreVoteReply{Term{1}, round, true});
    EXPECT_EQ(node->role(), Role::candidate);
    EXPECT_EQ(node->hard_state(), (HardState{Term{2}, n1}));
}

TEST(RaftElection, DoesNotCampaignOnRefusals) {
    auto node = one_of_three();
    node.timer_when_due();
    const auto round = node.newest<PreVoteRequest>(n2).round;
    node.receive(n2, PreVoteReply{Term{1}, round, false});
    node.receive(n3, PreVoteReply{Term{1}, round, false});
    EXPECT_EQ(node->role(), Role::pre_candidate);
    EXPECT_EQ(node->term(), Term{1});
}

// B-V3
TEST(RaftElection, CountsOnlyAnswersToTheQuestionItAskedLast) {
    auto node = one_of_three();
    node.timer_when_due();
    const auto first = node.newest<PreVoteRequest>(n2).round;
    node.timer_when_due();
    const auto second = node.newest<PreVoteRequest>(n2).round;
    EXPECT_NE(first, second);
    node.receive(n2, PreVoteReply{Term{1}, first, true});
    EXPECT_EQ(node->role(), Role::pre_candidate);
    node.receive(n2, PreVoteReply{Term{1}, second, true});
    EXPECT_EQ(node->role(), Role::candidate);
}

// B-V2
TEST(RaftElection, CountsEachVoterOnce) {
    auto node = one_of(voters({1, 2, 3, 4, 5}));
    node.timer_when_due();
    const auto round = node.newest<PreVoteRequest>(n2).round;
    for (int i = 0; i < 3; ++i)
        node.receive(n2, PreVoteReply{Term{1}, round, true});
    EXPECT_EQ(node->role(), Role::pre_candidate);
    node.receive(n3, PreVoteReply{Term{1}, round, true});
    node.complete_writes();
    const auto vote = node.newest<VoteRequest>(n2).round;
    for (int i = 0; i < 3; ++i)
        node.receive(n2, VoteReply{Term{2}, vote, true});
    EXPECT_EQ(node->role(), Role::candidate);
    node.receive(n4, VoteReply{Term{2}, vote, true});
    EXPECT_TRUE(node->is_leader());
}

// B-V6: otherwise a node that receives nothing and asks for ever would prevent all elections.
TEST(RaftElection, APreVoteRequestChangesNothing) {
    auto node = one_of_three();
    const Remembered before{node};
    node.now = node.now + 10ms;
    node.receive(n2, asks(1, log_id(1, 1)));
    EXPECT_TRUE(node.newest<PreVoteReply>(n2).granted);
    node.receive(n2, asks(7, log_id(7, 70)));
    EXPECT_TRUE(node.newest<PreVoteReply>(n2).granted);
    node.receive(n3, asks(0, log_id(1, 1)));
    EXPECT_EQ(Remembered{node}, before);
}

TEST(RaftElection, APreVoteRequestChangesNothingForWhoHasALeader) {
    auto node = one_of_three();
    follow_two(node);
    const Remembered before{node};
    node.now = node.now + 10ms;
    node.receive(n3, asks(7, log_id(7, 70)));
    EXPECT_FALSE(node.newest<PreVoteReply>(n3).granted);
    EXPECT_EQ(Remembered{node}, before);
}

// Thesis 4.2.3
TEST(RaftElection, StandsByItsLeaderUntilItSuspectsIt) {
    auto node = one_of_three();
    follow_two(node);
    node.now = node.now + calm_patience - 1ns;
    node.receive(n3, asks(1, log_id(1, 1)));
    EXPECT_FALSE(node.newest<PreVoteReply>(n3).granted);
    node.now = node.now + 1ns;
    node.receive(n3, asks(1, log_id(1, 1)));
    EXPECT_TRUE(node.newest<PreVoteReply>(n3).granted);
}

TEST(RaftElection, ALeaderDeniesPreVotes) {
    auto node = one_of_three();
    become_leader(node);
    node.receive(n3, asks(2, log_id(9, 9)));
    EXPECT_FALSE(node.newest<PreVoteReply>(n3).granted);
    EXPECT_TRUE(node->is_leader());
}

// B-V1, B-V8: logs are compared by term, then by length, for pre-votes and for votes.
TEST(RaftElection, FavoursNobodyWithAnOlderLog) {  // B-C13
    struct Case {
        LogId theirs;
        bool granted;
    };
    for (const auto& [theirs, granted] :
         {Case{log_id(3, 4), true}, Case{log_id(3, 5), true}, Case{log_id(4, 1), true},
          Case{log_id(3, 3), false}, Case{log_id(2, 99), false}, Case{LogId{}, false}}) {
        auto node = one_of(voters({1, 2, 3}), {Term{4}, {}}, {2, 2, 3});
        node.receive(n2, asks(4, theirs));
        EXPECT_EQ(node.newest<PreVoteReply>(n2).granted, granted);
        node.receive(n2, campaigns(5, theirs));
        node.complete_writes();
        EXPECT_EQ(node.newest<VoteReply>(n2).granted, granted);
        EXPECT_EQ(node->hard_state().voted_for, granted ? n2 : NodeId{});
    }
}

// B-V7: without this, a node with a higher term and a cluster with a lower one would never agree.
TEST(RaftElection, TellsItsTermToAnAskerWhoIsBehind) {
    auto node = one_of(voters({1, 2, 3}), {Term{5}, {}});
    node.receive(n2, asks(3, log_id(3, 9)));
    const auto reply = node.newest<PreVoteReply>(n2);
    EXPECT_FALSE(reply.granted);
    EXPECT_EQ(reply.term, Term{5});
}

TEST(RaftElection, AdoptsAHigherTermFoundInAPreVoteReply) {
    auto node = one_of_three();
    node.timer_when_due();
    const auto round = node.newest<PreVoteRequest>(n2).round;
    node.receive(n2, PreVoteReply{Term{6}, round, false});
    EXPECT_EQ(node->role(), Role::follower);
    EXPECT_LE(node->deadline(), node.now + heartbeat);  // it asks anew, in that term
    EXPECT_EQ(node->hard_state(), (HardState{Term{6}, {}}));
    node.complete_writes();
    EXPECT_EQ(node.disk().hard_state, (HardState{Term{6}, {}}));
}

// B-V3: what was granted in a later term was not granted for the term that this node would lead.
TEST(RaftElection, AGrantOfAHigherTermIsNews) {
    auto node = one_of_three();
    node.timer_when_due();
    const auto round = node.newest<PreVoteRequest>(n2).round;
    node.receive(n2, PreVoteReply{Term{6}, round, true});
    EXPECT_EQ(node->role(), Role::follower);
    EXPECT_EQ(node->term(), Term{6});
}

// --- votes

// B-D1, B-D18
TEST(RaftElection, AsksForVotesOnlyOnceItsOwnIsDurable) {
    auto node = one_of_three();
    become_candidate(node);
    EXPECT_EQ(node.sent_count<VoteRequest>(n2), 0U);
    ASSERT_EQ(node.writes.size(), 1U);
    EXPECT_EQ(node.writes.front().hard_state, (HardState{Term{2}, n1}));
    node.complete_write();
    const auto request = node.newest<VoteRequest>(n2);
    EXPECT_EQ(request.term, Term{2});
    EXPECT_FALSE(request.transfer);
    EXPECT_EQ(node.sent_count<VoteRequest>(n3), 1U);
}

// B-D18: entries that are still being written do not count.
TEST(RaftElection, ClaimsOnlyADurableLog) {
    auto node = one_of_three();
    node.receive(n2, append(1, log_id(1, 1), {commands(log_id(1, 2)), commands(log_id(1, 3))}));
    ASSERT_EQ(node.writes.size(), 1U);
    become_candidate(node);
    ASSERT_EQ(node.writes.size(), 2U);
    node.complete_write();
    EXPECT_EQ(node.sent_count<VoteRequest>(n2), 0U);
    node.complete_write();
    EXPECT_EQ(node.newest<VoteRequest>(n2).last, log_id(1, 3));
}

TEST(RaftElection, IgnoresVotesItHasNotAskedFor) {
    auto node = one_of_three();
    become_candidate(node);
    for (std::uint64_t round = 0; round < 5; ++round)
        node.receive(n3, VoteReply{Term{2}, round, true});
    EXPECT_EQ(node->role(), Role::candidate);
    node.complete_writes();
    EXPECT_EQ(node->role(), Role::candidate);
}

TEST(RaftElection, LeadsWithAMajorityOfVotes) {
    auto node = one_of_three();
    become_candidate(node);
    node.complete_writes();
    const auto round = node.newest<VoteRequest>(n3).round;
    node.receive(n2, VoteReply{Term{2}, round, false});
    EXPECT_EQ(node->role(), Role::candidate);
    node.receive(n3, VoteReply{Term{2}, round, true});
    EXPECT_TRUE(node->is_leader());
    EXPECT_EQ(node->leader(), n1);
    EXPECT_TRUE(node.noted(Note::Kind::became_leader));
}

// B-C2
TEST(RaftElection, FourVotersNeedThree) {
    auto node = one_of(voters({1, 2, 3, 4}));
    node.timer_when_due();
    const auto round = node.newest<PreVoteRequest>(n2).round;
    node.receive(n2, PreVoteReply{Term{1}, round, true});
    EXPECT_EQ(node->role(), Role::pre_candidate);
    node.receive(n3, PreVoteReply{Term{1}, round, true});
    EXPECT_EQ(node->role(), Role::candidate);
}

// B-C3: both lists count, from the first message on.
TEST(RaftElection, WhileJointNeedsBothMajorities) {
    const Configuration joint{{7, 9}, members({1, 2, 3}), members({1, 4, 5}), {}};
    auto node = one_of(joint);
    node.timer_when_due();
    const auto round = node.newest<PreVoteRequest>(n5).round;
    node.receive(n2, PreVoteReply{Term{1}, round, true});
    node.receive(n3, PreVoteReply{Term{1}, round, true});
    EXPECT_EQ(node->role(), Role::pre_candidate);
    node.receive(n5, PreVoteReply{Term{1}, round, true});
    EXPECT_EQ(node->role(), Role::candidate);
    node.complete_writes();
    const auto vote = node.newest<VoteRequest>(n4).round;
    node.receive(n4, VoteReply{Term{2}, vote, true});
    node.receive(n5, VoteReply{Term{2}, vote, true});
    EXPECT_EQ(node->role(), Role::candidate);
    node.receive(n2, VoteReply{Term{2}, vote, true});
    EXPECT_TRUE(node->is_leader());
}

// B-V3
TEST(RaftElection, AVoteOfAnEarlierCampaignDoesNotCount) {
    auto node = one_of_three();
    become_candidate(node);
    node.complete_writes();
    const auto old = node.newest<VoteRequest>(n2).round;
    node.timer_when_due();
    become_candidate(node);
    node.complete_writes();
    EXPECT_EQ(node->term(), Term{3});
    node.receive(n2, VoteReply{Term{2}, old, true});
    node.receive(n2, VoteReply{Term{3}, old, true});
    EXPECT_EQ(node->role(), Role::candidate);
}

// B-V3
TEST(RaftElection, AnAnswerToTheQuestionIsNoVote) {
    auto node = one_of_three();
    become_candidate(node);
    node.complete_writes();
    const auto round = node.newest<VoteRequest>(n2).round;
    node.receive(n2, PreVoteReply{Term{2}, round, true});
    EXPECT_EQ(node->role(), Role::candidate);
}

// B-V10
TEST(RaftElection, LateAnswersDoNotDisturbALeader) {
    auto node = one_of_three();
    become_leader(node);
    const Remembered before{node};
    for (std::uint64_t round = 0; round < 5; ++round) {
        node.receive(n3, PreVoteReply{Term{1}, round, true});
        node.receive(n3, VoteReply{Term{2}, round, true});
        node.receive(n3, VoteReply{Term{2}, round, false});
    }
    EXPECT_EQ(Remembered{node}, before);
}

// B-D4, B-D13
TEST(RaftElection, VotesOnlyOnceTheVoteIsDurable) {  // P4
    auto node = one_of_three();
    node.receive(n2, campaigns(2, log_id(1, 1)));
    EXPECT_TRUE(node.sent.empty());
    ASSERT_EQ(node.writes.size(), 1U);
    EXPECT_EQ(node.writes.front().hard_state, (HardState{Term{2}, n2}));
    node.complete_write();
    const auto reply = node.newest<VoteReply>(n2);
    EXPECT_TRUE(reply.granted);
    EXPECT_EQ(reply.term, Term{2});
    EXPECT_EQ(reply.round, 1U);
}

// A refusal shows the term as well.
TEST(RaftElection, RefusesOnlyOnceTheTermIsDurable) {
    auto node = one_of(voters({1, 2, 3}), {Term{2}, {}}, {2});
    node.receive(n2, campaigns(5, log_id(1, 1)));
    EXPECT_TRUE(node.sent.empty());
    node.complete_writes();
    const auto reply = node.newest<VoteReply>(n2);
    EXPECT_FALSE(reply.granted);
    EXPECT_EQ(reply.term, Term{5});
}

TEST(RaftElection, ShowsNoTermThatIsNotDurable) {
    auto node = one_of_three();
    node.receive(n2, append(3, log_id(1, 1)));
    EXPECT_TRUE(node.sent.empty());
    node.receive(n3, asks(1, log_id(1, 1)));
    node.receive(n3, append(2, log_id(1, 1)));
    EXPECT_TRUE(node.sent.empty());
    node.complete_writes();
    EXPECT_EQ(node.sent_count<AppendReply>(n2), 1U);
    node.receive(n3, asks(1, log_id(1, 1)));
    EXPECT_EQ(node.newest<PreVoteReply>(n3).term, Term{3});
}

TEST(RaftElection, AVoteForSomebodyDeposedMeanwhileIsNotSent) {
    auto node = one_of_three();
    node.receive(n2, campaigns(2, log_id(1, 1)));
    node.receive(n3, campaigns(3, log_id(1, 1)));
    node.complete_write();
    EXPECT_TRUE(node.sent.empty());
    node.complete_write();
    EXPECT_EQ(node.sent_count<VoteReply>(n2), 0U);
    EXPECT_TRUE(node.newest<VoteReply>(n3).granted);
}

TEST(RaftElection, VotesOnceInATermAndRepeatsItOnRequest) {  // P2
    auto node = one_of_three();
    node.receive(n2, campaigns(2, log_id(1, 1)));
    node.receive(n3, campaigns(2, log_id(9, 9)));
    node.receive(n2, campaigns(2, log_id(1, 1)));
    node.complete_writes();
    for (const auto& reply : node.take<VoteReply>(n2))
        EXPECT_TRUE(reply.granted);
    EXPECT_FALSE(node.newest<VoteReply>(n3).granted);
}

// B-D13: one vote per term, whatever happens in between.
TEST(RaftElection, RemembersItsVoteAcrossACrash) {  // P2
    auto node = one_of_three();
    node.receive(n2, campaigns(2, log_id(1, 1)));
    node.complete_writes();
    node.crash_and_restart();
    node.receive(n3, campaigns(2, log_id(9, 9)));
    EXPECT_FALSE(node.newest<VoteReply>(n3).granted);
    node.receive(n2, campaigns(2, log_id(1, 1)));
    EXPECT_TRUE(node.newest<VoteReply>(n2).granted);
}

TEST(RaftElection, AVoteLostInACrashWasNeverSent) {
    auto node = one_of_three();
    node.receive(n2, campaigns(2, log_id(1, 1)));
    EXPECT_TRUE(node.sent.empty());
    node.crash_and_restart();
    EXPECT_EQ(node->hard_state(), (HardState{Term{1}, {}}));
    node.receive(n3, campaigns(2, log_id(1, 1)));
    node.complete_writes();
    EXPECT_TRUE(node.newest<VoteReply>(n3).granted);
}

// B-V4: a vote changes with the term only.
TEST(RaftElection, SteppingDownDoesNotTakeTheVoteBack) {
    auto node = one_of_three();
    become_candidate(node);
    node.complete_writes();
    node.receive(n2, append(2, log_id(1, 1)));
    EXPECT_EQ(node->role(), Role::follower);
    EXPECT_EQ(node->hard_state(), (HardState{Term{2}, n1}));
    node.receive(n3, campaigns(2, log_id(9, 9)));
    EXPECT_FALSE(node.newest<VoteReply>(n3).granted);
}

TEST(RaftElection, DoesNotVoteForAnotherWhileItCampaigns) {
    auto node = one_of_three();
    become_candidate(node);
    node.complete_writes();
    node.receive(n3, campaigns(2, log_id(9, 9)));
    EXPECT_FALSE(node.newest<VoteReply>(n3).granted);
    EXPECT_EQ(node->role(), Role::candidate);
}

// B-V5: a node that has just voted lets its candidate win.
TEST(RaftElection, VotingResetsTheTimerAndRefusingDoesNot) {
    auto node = one_of(voters({1, 2, 3}), {Term{2}, {}}, {2});
    const auto deadline = node->deadline();
    node.now = node.now + 900ms;
    node.receive(n3, campaigns(2, log_id(1, 1)));
    EXPECT_EQ(node->deadline(), deadline);
    node.now = deadline;
    node.receive(n2, campaigns(2, log_id(2, 2)));
    EXPECT_GE(node->deadline(), node.now + election_timeout);
}

// Thesis 4.2.3: not even the term is adopted.
TEST(RaftElection, AVoteRequestAgainstALiveLeaderChangesNothing) {
    auto follower = one_of_three();
    follow_two(follower);
    const Remembered followed{follower};
    follower.now = follower.now + calm_patience - 1ns;
    follower.receive(n3, campaigns(9, log_id(9, 9)));
    EXPECT_EQ(Remembered{follower}, followed);
    EXPECT_TRUE(follower.sent.empty());

    auto leader = one_of_three();
    become_leader(leader);
    const Remembered led{leader};
    leader.receive(n3, campaigns(9, log_id(9, 9)));
    EXPECT_EQ(Remembered{leader}, led);
    EXPECT_TRUE(leader.sent.empty());
}

TEST(RaftElection, ATransferIsNoAttackOnTheLeader) {
    auto follower = one_of_three();
    follow_two(follower);
    follower.receive(n3, campaigns(2, log_id(1, 1), true));
    follower.complete_writes();
    EXPECT_TRUE(follower.newest<VoteReply>(n3).granted);

    auto leader = one_of_three();
    become_leader(leader);
    ASSERT_TRUE(leader.transfer_to(n3));
    leader.receive(n3, campaigns(3, leader->log().last(), true));
    EXPECT_EQ(leader->role(), Role::follower);
    leader.complete_writes();
    EXPECT_TRUE(leader.newest<VoteReply>(n3).granted);
}

TEST(RaftElection, FollowsTheLeaderOfItsTermWhileItCampaigns) {
    auto node = one_of_three();
    become_candidate(node);
    node.receive(n3, append(2, log_id(1, 1)));
    EXPECT_EQ(node->role(), Role::follower);
    EXPECT_EQ(node->leader(), n3);
    node.complete_writes();
    EXPECT_EQ(node.sent_count<VoteRequest>(n2), 0U);
}

// B-V17: every role has a deadline.
TEST(RaftElection, ACandidateThatIsNotElectedAsksAgain) {
    auto node = one_of_three();
    become_candidate(node);
    node.complete_writes();
    EXPECT_LE(node->deadline(), node.now + 2 * election_timeout);
    node.timer_when_due();
    EXPECT_EQ(node->role(), Role::pre_candidate);
    EXPECT_EQ(node->term(), Term{2});
}

// The first invalid term and the first invalid index, in every message.
TEST(RaftElection, RefusesWhatIsOutOfBounds) {
    auto node = one_of_three();
    const Remembered before{node};
    const auto last = log_id(1, 1);
    node.receive(n2, campaigns(term_end, last));
    node.receive(n2, campaigns(2, log_id(1, log_index_max + 1)));
    node.receive(n2, append(term_end, last));
    node.receive(n2, PreVoteReply{Term{term_end}, 1, false});
    node.receive(n2, PreVoteReply{Term{~std::uint64_t{0}}, 1, false});
    node.receive(n2, NotAMember{Term{1}, log_id(1, log_index_max + 1)});
    EXPECT_EQ(Remembered{node}, before);
    EXPECT_EQ(std::ranges::count(node.notes, Note::Kind::refused_message, &Note::kind), 6);
    EXPECT_EQ(node.distrusted, std::vector<NodeId>(6, n2));
}

TEST(RaftElection, TakesTheHighestTermThereIs) {
    auto node = one_of(voters({1, 2, 3}), {Term{term_end - 2}, {}});
    node.receive(n2, campaigns(term_end - 1, log_id(1, 1)));
    EXPECT_EQ(node->term(), Term{term_end - 1});
    EXPECT_TRUE(node.noted(Note::Kind::terms_used_up));
    EXPECT_FALSE(node.noted(Note::Kind::refused_message));
    node.complete_writes();
    node.timer_when_due();
    EXPECT_EQ(node->role(), Role::follower);  // no term is left in which it could be elected
    EXPECT_EQ(node->deadline(), Instant::never());
    node.crash_and_restart();
    EXPECT_EQ(node->deadline(), Instant::never());
}

// However far: a limit relative to the own term would separate members for ever.
TEST(RaftElection, MembersWhoseTermsAreFarApartMeetAgain) {
    const auto far = 3 * term_step_max;
    RaftCluster cluster{
        voters({1, 2}), options_of(n1), {{n2, disk_with(voters({1, 2}), {Term{far}, n2}, {})}}};
    auto& leader = cluster.elect_anybody();
    EXPECT_GT(leader->term(), Term{far});
    cluster.beat(leader.self());
    const auto other = leader.self() == n1 ? n2 : n1;
    EXPECT_EQ(cluster[other]->leader(), leader.self());
    EXPECT_EQ(cluster[other]->term(), leader->term());
}

// --- participants

// B-V19
TEST(RaftElection, ALearnerNeverCampaigns) {
    auto configuration = voters({2, 3});
    configuration.learners = members({1});
    auto node = one_of(configuration);
    EXPECT_EQ(node->deadline(), Instant::never());
    node.receive(n2, append(1, log_id(1, 1)));
    EXPECT_EQ(node->deadline(), Instant::never());
    node.receive(n2, TimeoutNow{Term{1}, log_id(1, 1)});
    node.peer_down(n2);
    node.timer_in(1h);
    EXPECT_EQ(node->role(), Role::follower);
    EXPECT_EQ(node->term(), Term{1});
}

TEST(RaftElection, AnEmptyNodeNeverCampaigns) {
    HandDriven node{options_of(n1), {}};
    EXPECT_EQ(node->deadline(), Instant::never());
    node.timer_in(1h);
    EXPECT_EQ(node->role(), Role::follower);
    EXPECT_TRUE(node.sent.empty());
    EXPECT_TRUE(node.writes.empty());
}

TEST(RaftElection, OnlyVotersAreAsked) {
    auto configuration = voters({1, 2, 3});
    configuration.learners = members({4});
    auto node = one_of(configuration);
    become_candidate(node);
    node.complete_writes();
    EXPECT_EQ(node.sent_count<PreVoteRequest>(n4), 0U);
    EXPECT_EQ(node.sent_count<VoteRequest>(n4), 0U);
    EXPECT_EQ(node.sent_count<VoteRequest>(n3), 1U);
}

// B-M10: unless its log is ahead, since it may be a voter in entries that we do not have.
TEST(RaftElection, ANodeThatIsNoVoterGetsNoVote) {
    auto configuration = voters({1, 2, 3});
    configuration.learners = members({4});
    auto node = one_of(configuration);
    const Remembered before{node};
    for (const auto stranger : {n4, n5}) {
        node.receive(stranger, asks(1, log_id(1, 1)));
        EXPECT_FALSE(node.newest<PreVoteReply>(stranger).granted);
        node.receive(stranger, campaigns(9, log_id(1, 1)));
    }
    EXPECT_EQ(Remembered{node}, before);
}

TEST(RaftElection, VotesOfLearnersDoNotCount) {  // B-V19
    auto configuration = voters({1, 2, 3});
    configuration.learners = members({4, 5});
    auto node = one_of(configuration);
    node.timer_when_due();
    const auto round = node.newest<PreVoteRequest>(n2).round;
    node.receive(n4, PreVoteReply{Term{1}, round, true});
    node.receive(n5, PreVoteReply{Term{1}, round, true});
    EXPECT_EQ(node->role(), Role::pre_candidate);
}

// B-M4: the newest configuration in the log counts, committed or not.
TEST(RaftElection, CampaignsWithTheConfigurationOfItsLog) {
    auto node = one_of_three();
    node.receive(n2, append(1, log_id(1, 1), {configures(log_id(1, 2), voters({1, 4, 5}))}));
    node.complete_writes();
    node.timer_when_due();
    EXPECT_EQ(node.sent_count<PreVoteRequest>(n2), 0U);
    EXPECT_EQ(node.sent_count<PreVoteRequest>(n4), 1U);
    EXPECT_EQ(node.sent_count<PreVoteRequest>(n5), 1U);
}

TEST(RaftElection, ANodeVotedOutStopsAsking) {
    auto node = one_of_three();
    node.receive(n2, append(1, log_id(1, 1), {configures(log_id(1, 2), voters({2, 3}))}));
    node.complete_writes();
    node.sent.clear();
    node.timer_when_due();
    EXPECT_EQ(node->role(), Role::follower);
    EXPECT_EQ(node->deadline(), Instant::never());
    EXPECT_TRUE(node.sent.empty());
}

// --- the leader's connection breaks

TEST(RaftElection, ALostConnectionToTheLeaderStartsAnElection) {
    auto node = one_of_three();
    follow_two(node);
    node.peer_down(n3);
    EXPECT_GE(node->deadline(), node.now + calm_patience);
    node.peer_down(n2);
    EXPECT_EQ(node->role(), Role::pre_candidate);
    EXPECT_EQ(node->leader(), std::nullopt);
    node.receive(n3, asks(1, log_id(1, 1)));
    EXPECT_TRUE(node.newest<PreVoteReply>(n3).granted);
}

TEST(RaftElection, ALostConnectionIsForgottenWhenTheLeaderSpeaksAgain) {
    auto node = one_of_three();
    follow_two(node);
    node.peer_down(n2);
    follow_two(node);
    EXPECT_GE(node->deadline(), node.now + calm_patience);
    node.receive(n3, asks(1, log_id(1, 1)));
    EXPECT_FALSE(node.newest<PreVoteReply>(n3).granted);
}

// --- a single voter

TEST(RaftElection, ASingleVoterLeadsAtOnceButOnlyAfterItsWrite) {
    auto node = one_of(voters({1}));
    EXPECT_EQ(node->deadline(), start);
    node.timer();
    EXPECT_EQ(node->role(), Role::candidate);
    node.complete_write();
    EXPECT_TRUE(node->is_leader());
    EXPECT_TRUE(node.sent.empty());
}

// B-D1
TEST(RaftElection, ASingleVoterCommitsOnlyWhatIsDurable) {  // P4
    auto node = one_of(voters({1}));
    node.timer();
    node.complete_writes();
    const auto index = node.propose();
    ASSERT_TRUE(index);
    EXPECT_LT(node->commit_index(), *index);
    node.complete_writes();
    EXPECT_EQ(node->commit_index(), *index);
}

// B-D1: a crash between submission and completion only takes back what no node was told.
TEST(RaftElection, ASingleVoterLosesNothingItCommitted) {
    auto node = one_of(voters({1}));
    node.timer();
    node.complete_writes();
    node.propose("kept");
    node.complete_writes();
    const auto committed = node.committed;
    node.propose("lost");
    EXPECT_EQ(node.committed.size(), committed.size());
    node.crash_and_restart();
    node.committed.clear();
    node.timer_when_due();
    node.complete_writes();
    ASSERT_TRUE(node->is_leader());
    ASSERT_GE(node.committed.size(), committed.size());
    EXPECT_TRUE(std::ranges::equal(committed, node.committed | std::views::take(committed.size())));
}

// B-D5: an idle cluster commits its leader's first entry, for which no later write reports.
TEST(RaftElection, ANewLeaderCommitsAnEntryOfItsOwn) {
    RaftCluster cluster{1, 2, 3};
    auto& leader = cluster.elect(n2);
    EXPECT_TRUE(leader->has_committed_own_term());
    EXPECT_EQ(leader->log().last(), log_id(2, 2));
    EXPECT_EQ(leader->log().at(LogIndex{2}).kind, EntryKind::noop);
    for (const auto& [id, node] : cluster) {
        EXPECT_EQ(node->commit_index(), LogIndex{2});
        EXPECT_EQ(node->durable_index(), LogIndex{2});
        EXPECT_EQ(node->leader(), n2);
    }
}

// Thesis 9.6: it asked all the time, and its term did not rise.
TEST(RaftElection, OneThatWasCutOffDoesNotDisturbOnItsReturn) {  // P7
    RaftCluster cluster{1, 2, 3};
    auto& leader = cluster.elect(n1);
    cluster.cut(n3);
    for (int i = 0; i < 50; ++i) {
        cluster.beat(n1);
        if (cluster[n3]->deadline() <= cluster[n3].now) cluster[n3].timer();
    }
    EXPECT_EQ(cluster[n3]->role(), Role::pre_candidate);
    cluster.heal(n3);
    cluster.beat(n1);
    EXPECT_TRUE(leader->is_leader());
    EXPECT_EQ(leader->term(), Term{2});
    EXPECT_EQ(cluster[n3]->leader(), n1);
}

// B-V7: a node with a higher term brings its term to the others, which elect again and continue.
TEST(RaftElection, OneAtAHigherTermGetsTheOthersToFollow) {
    RaftCluster cluster{
        voters({1, 2, 3}), options_of(n1), {{n3, disk_with(voters({1, 2, 3}), {Term{9}, n3}, {})}}};
    cluster.cut(n3);
    cluster.elect(n1);
    EXPECT_EQ(cluster[n1]->term(), Term{2});
    cluster.heal(n3);
    cluster.beat(n1);
    EXPECT_TRUE(cluster[n1]->is_leader());
    EXPECT_EQ(cluster[n1]->term(), Term{10});
    EXPECT_EQ(cluster[n3]->leader(), n1);
    EXPECT_EQ(cluster[n3]->commit_index(), cluster[n1]->commit_index());
}

}  // namespace
}  // namespace mortise::core::test
