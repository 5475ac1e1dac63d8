// The checkers are useful only if they detect errors: each invariant gets a violation.
#include "tests/sim/judges/checker.hpp"

#include <gtest/gtest.h>

#include "core/codec/configuration_codec.hpp"
#include "tests/sim/base/expect_violation.hpp"
#include "tests/sim/judges/three_nodes.hpp"

namespace mortise::sim {
namespace {

core::LogId id(std::uint64_t term, std::uint64_t index) {
    return {core::Term{term}, core::LogIndex{index}};
}

core::Entry entry(core::LogId at, const std::string& text = "x") {
    return core::make_entry(at, core::EntryKind::commands, core::Bytes{text});
}

core::Entry founding(std::uint64_t cluster) {
    core::Configuration configuration;
    configuration.cluster = {cluster, 1};
    for (const auto node : {a, b, c})
        configuration.voters.push_back({node, core::Incarnation{node.raw()}, "somewhere"});
    return core::make_entry(id(1, 1), core::EntryKind::configuration,
                            core::encode_configuration(configuration));
}

// Three nodes, whose disks and cores a test can set up as it needs.
struct CheckerTest : testing::Test {
    CheckerTest() {
        for (const auto node : {a, b, c}) {
            platter(node).incarnation = core::Incarnation{node.raw()};
            checker.attach(node, platter(node));
        }
    }

    Platter& platter(core::NodeId node) { return platters[node.raw() - 1]; }
    void put(core::NodeId node, const core::Entry& entry) {
        platter(node).entries.push_back(entry);
        platter(node).founding = platter(node).entries.front().checksum;
    }
    // Starts a node with the log and the hard state of its disk, and `applied`.
    void start(core::NodeId node, core::LogIndex applied = {}) {
        const auto& from = platter(node);
        core::RaftState state{from.hard_state, {}, {}, applied, {}};
        state.entries = {from.entries.begin(), from.entries.end()};
        rafts[node.raw() - 1] = std::make_unique<core::Raft>(
            core::RaftOptions{.self = node, .incarnation = from.incarnation}, std::move(state),
            core::Prng{1}, core::Instant{});
        checker.started(node, *rafts[node.raw() - 1]);
    }
    [[nodiscard]] std::string found() const {
        return violations.first() ? violations.first()->what : "";
    }

    Violations violations;
    Tally tally;
    Checker checker{3, violations, tally};
    Platter platters[3];
    std::unique_ptr<core::Raft> rafts[3];
};

TEST_F(CheckerTest, IsContentWithAnHonestCluster) {
    for (const auto node : {a, b, c}) {
        put(node, founding(7));
        put(node, entry(id(1, 2)));
        start(node, core::LogIndex{0});
    }
    checker.committed(a, founding(7));
    checker.committed(b, founding(7));
    checker.committed(a, entry(id(1, 2)));
    checker.after_step(a, true, core::Instant{}, core::Instant{1});
    EXPECT_EQ(found(), "");
    EXPECT_EQ(checker.committed_last(), core::LogIndex{2});
}

TEST_F(CheckerTest, SeesACommitOnTooFewDisks) {
    put(a, founding(7));
    put(a, entry(id(1, 2)));
    start(a);
    checker.committed(a, founding(7));
    checker.committed(a, entry(id(1, 2)));
    EXPECT_VIOLATION("durability: committed term 1 index 2 is on too few disks");
}

TEST_F(CheckerTest, SeesACommittedEntryVanishFromTheDisks) {
    for (const auto node : {a, b}) {
        put(node, founding(7));
        put(node, entry(id(1, 2)));
    }
    start(a);
    checker.committed(a, founding(7));
    checker.committed(a, entry(id(1, 2)));
    ASSERT_EQ(found(), "");
    platter(b).entries.pop_back();
    checker.sweep();
    EXPECT_NE(found(), "");
}

TEST_F(CheckerTest, SeesAGapInWhatANodeHandsOut) {  // B-C14
    put(a, founding(7));
    start(a);
    checker.committed(a, entry(id(1, 2)));
    EXPECT_VIOLATION("commit order");
}

TEST_F(CheckerTest, SeesTwoFoundings) {
    put(a, founding(7));
    put(b, founding(8));
    core::Write write;
    write.append.push_back(founding(8));
    checker.on_platter(b, {}, write);
    EXPECT_VIOLATION("two foundings");
}

TEST_F(CheckerTest, DoesNotCountAFoundingWhoseOnlyDiskWasReplaced) {
    put(a, founding(7));
    start(a);
    checker.committed(a, founding(7));
    checker.stopped(a);
    platter(a) = {};
    checker.wiped(a);
    put(b, founding(8));
    core::Write write;
    write.append.push_back(founding(8));
    checker.on_platter(b, {}, write);
    start(b);
    checker.committed(b, founding(8));
    EXPECT_EQ(found(), "");
}

TEST_F(CheckerTest, SeesALogThatLostWhatWasDurable) {
    put(a, founding(7));
    put(a, entry(id(1, 2)));
    start(a);
    checker.stopped(a);
    platter(a).entries.pop_back();
    start(a);
    EXPECT_VIOLATION("recovery: term 1 index 2 was durable");
}

TEST_F(CheckerTest, SeesAHardStateThatLostWhatWasDurable) {
    platter(a).hard_state = {core::Term{4}, b};
    start(a);
    checker.stopped(a);
    platter(a).hard_state = {core::Term{4}, c};
    start(a);
    EXPECT_VIOLATION("recovery: hard state");
}

TEST_F(CheckerTest, SeesStateThatWasNeverCommitted) {
    put(a, founding(7));
    start(a, core::LogIndex{1});
    EXPECT_VIOLATION("recovery: state applied");
}

TEST_F(CheckerTest, SeesADurableMarkAheadOfTheDisk) {
    put(a, founding(7));
    start(a);
    platter(a).entries.clear();
    checker.after_step(a, false, core::Instant{}, core::Instant{1});
    EXPECT_VIOLATION("durable mark");
}

TEST_F(CheckerTest, SeesAStateTakenOverThatWasNeverCommitted) {
    put(a, founding(7));
    start(a);
    checker.state_replaced(a, id(2, 5));
    EXPECT_VIOLATION("took over a state");
}

TEST_F(CheckerTest, SeesAnInstallThatIsNotOnDisk) {
    put(a, founding(7));
    start(a);
    checker.sent(a, b,
                 core::RaftMessage{core::SnapshotReply{core::Term{0}, id(2, 5), 0, true, false}});
    EXPECT_VIOLATION("has installed");
}

// Who counts it again has to lead, and the node has to have a later entry.
TEST_F(CheckerTest, SeesAForgetfulMemberThatCountsTooEarly) {
    for (const auto node : {a, b}) {
        put(node, founding(7));
        start(node);
    }
    checker.committed(a, founding(7));
    checker.stopped(b);
    checker.rolled_back(b);
    checker.counts_again(b, a);
    EXPECT_VIOLATION("forgetful: counts node 2 again");
    EXPECT_FALSE(checker.is_rolled_back(b));
    EXPECT_TRUE(checker.was_rolled_back(b));
    checker.wiped(b);
    EXPECT_FALSE(checker.was_rolled_back(b));
}

TEST_F(CheckerTest, SeesADeadlineThatStaysInThePast) {
    put(a, founding(7));
    start(a);
    const core::Instant due{1'000};
    checker.after_step(a, true, due, due);
    checker.after_step(a, false, due, due);  // not a timer event: nothing was promised
    for (std::uint64_t i = 0; i < Checker::late_max; ++i)
        checker.after_step(a, true, due, due);
    EXPECT_EQ(found(), "");
    checker.after_step(a, true, due, due);
    EXPECT_VIOLATION("deadline: stays in the past");
}

TEST_F(CheckerTest, SeesATimerThatFiresAgainAndAgain) {
    put(a, founding(7));
    start(a);
    core::Instant now;
    for (int i = 0; i < 1'000; ++i, now.ns += 1'000)
        checker.after_step(a, true, now, {now.ns + 1'000});
    EXPECT_EQ(found(), "");
    checker.after_step(a, true, now, {now.ns + 1'000});
    EXPECT_VIOLATION("its timer fires again and again");
}

TEST_F(CheckerTest, IsContentWithATimerThatFiresAmongOtherEventsOrNowAndThen) {
    put(a, founding(7));
    start(a);
    core::Instant now;
    for (int i = 0; i < 5'000; ++i, now.ns += 1'000)
        checker.after_step(a, i % 900 != 0, now, {now.ns + 1'000});
    for (int i = 0; i < 5'000; ++i, now.ns += 10'000'000)
        checker.after_step(a, true, now, {now.ns + 10'000'000});
    EXPECT_EQ(found(), "");
}

TEST_F(CheckerTest, SeesAVoteThatIsNotOnDisk) {
    start(a);
    checker.sent(a, b, core::RaftMessage{core::VoteReply{core::Term{3}, 1, true}});
    EXPECT_VIOLATION("claim: vote of term 3");
}

TEST_F(CheckerTest, SeesAVoteForAnotherThanTheOneOnDisk) {
    platter(a).hard_state = {core::Term{3}, c};
    start(a);
    checker.sent(a, b, core::RaftMessage{core::VoteReply{core::Term{3}, 1, true}});
    EXPECT_VIOLATION("claim: a vote for node 2");
}

TEST_F(CheckerTest, SeesACandidateWithoutItsOwnVote) {
    platter(a).hard_state = {core::Term{3}, b};
    start(a);
    checker.sent(a, b, core::RaftMessage{core::VoteRequest{core::Term{3}, 1, {}, false}});
    EXPECT_VIOLATION("its own is not on disk");
}

TEST_F(CheckerTest, SeesAnAcknowledgementAheadOfTheDisk) {  // B-D12
    put(a, founding(7));
    start(a);
    core::AppendReply reply;
    reply.match = core::LogIndex{2};
    checker.sent(a, b, core::RaftMessage{reply});
    EXPECT_VIOLATION("claim: acknowledges index 2");
}

TEST_F(CheckerTest, SeesAnOfferOfWhatIsNotOnDisk) {
    start(a);
    checker.sent(a, b, core::FormationOffer{founding(7)});
    EXPECT_VIOLATION("claim: offers");
}

// Its state is on disk, and the log behind it is not yet.
TEST_F(CheckerTest, ANodeWithASnapshotKnowsTheFirstVoters) {
    platter(a).configuration_there =
        core::decode_configuration(founding(7).payload).value_or(core::Configuration{});
    checker.sent(a, b, core::FormationOffer{founding(7)});
    EXPECT_FALSE(violations.first());
    checker.sent(a, b, core::FormationOffer{founding(8)});
    EXPECT_VIOLATION("offers what it has not on disk");
}

TEST_F(CheckerTest, SeesEntriesSentByWhoDoesNotLead) {
    platter(a).hard_state = {core::Term{3}, a};
    platter(b).hard_state = {core::Term{3}, a};
    start(a);
    start(b);
    core::AppendRequest request;
    request.term = core::Term{3};
    checker.sent(a, c, core::RaftMessage{request});
    checker.sent(b, c, core::RaftMessage{request});
    EXPECT_VIOLATION("election safety");
}

struct HistoryTest : testing::Test {
    [[nodiscard]] std::string found() const {
        return violations.first() ? violations.first()->what : "";
    }
    Violations violations;
};

TEST_F(HistoryTest, SeesTwoEntriesUnderOneIndexAndTerm) {
    LogHistory logs{violations};
    logs.appended(a, entry(id(2, 5)), core::Term{1});
    logs.appended(b, entry(id(2, 5)), core::Term{1});
    logs.appended(c, entry(id(3, 5)), core::Term{2});
    EXPECT_EQ(found(), "");
    logs.appended(b, entry(id(2, 5), "another"), core::Term{1});
    EXPECT_VIOLATION("log matching");
}

TEST_F(HistoryTest, SeesTwoPredecessorsOfOneEntry) {
    LogHistory logs{violations};
    logs.appended(a, entry(id(2, 5)), core::Term{1});
    logs.appended(b, entry(id(2, 5)), core::Term{2});
    EXPECT_VIOLATION("log matching");
}

TEST_F(HistoryTest, SeesAnEntryThatNobodyAppended) {
    LogHistory logs{violations};
    logs.check(a, entry(id(2, 5)));
    EXPECT_VIOLATION("nobody appended");
}

TEST_F(HistoryTest, SeesTwoEntriesCommittedAtOneIndex) {
    CommitHistory commits{violations};
    EXPECT_TRUE(commits.committed(a, entry(id(1, 1)), core::Term{2}));
    EXPECT_FALSE(commits.committed(b, entry(id(1, 1)), core::Term{2}));
    EXPECT_EQ(found(), "");
    commits.committed(c, entry(id(2, 1)), core::Term{2});
    EXPECT_VIOLATION("state machine safety");
}

TEST_F(HistoryTest, SeesALeaderThatLacksWhatWasCommitted) {
    CommitHistory commits{violations};
    commits.committed(a, entry(id(1, 1)), core::Term{1});
    commits.committed(a, entry(id(2, 2)), core::Term{2});
    const core::Log log{{}, {entry(id(1, 1))}};
    commits.check_leader(b, log, core::Term{2}, {});
    EXPECT_EQ(found(), "") << "committed in its own term, perhaps after its election";
    commits.check_leader(b, log, core::Term{3}, {});
    EXPECT_VIOLATION("leader completeness");
}

TEST_F(HistoryTest, SeesTwoLeadersOfOneTerm) {
    VoteHistory votes{violations};
    votes.leads(a, core::Term{2});
    votes.leads(b, core::Term{3});
    votes.leads(a, core::Term{2});
    EXPECT_EQ(found(), "");
    votes.leads(b, core::Term{2});
    EXPECT_VIOLATION("election safety");
}

TEST_F(HistoryTest, RemembersVotesByDirectory) {
    VoteHistory votes{violations};
    votes.voted(a, core::Incarnation{1}, core::Term{2}, b);
    EXPECT_TRUE(votes.has_voted(a, core::Incarnation{1}, core::Term{2}, b));
    EXPECT_FALSE(votes.has_voted(a, core::Incarnation{2}, core::Term{2}, b));
    EXPECT_FALSE(votes.has_voted(a, core::Incarnation{1}, core::Term{2}, c));
    EXPECT_FALSE(votes.has_voted(a, core::Incarnation{1}, core::Term{3}, b));
}

TEST_F(HistoryTest, SeesTwoVotesOfOneIncarnation) {
    VoteHistory votes{violations};
    votes.voted(a, core::Incarnation{1}, core::Term{2}, b);
    votes.voted(a, core::Incarnation{2}, core::Term{2}, c);
    EXPECT_EQ(found(), "");
    votes.voted(a, core::Incarnation{1}, core::Term{2}, c);
    EXPECT_VIOLATION("one vote");
}

TEST_F(HistoryTest, ForgetsWhatADirectoryVotedInLaterTerms) {
    VoteHistory votes{violations};
    for (const auto directory : {core::Incarnation{1}, core::Incarnation{2}}) {
        votes.voted(a, directory, core::Term{2}, b);
        votes.voted(a, directory, core::Term{3}, b);
    }
    votes.forgot(a, core::Incarnation{1}, core::Term{2});
    votes.voted(a, core::Incarnation{1}, core::Term{3}, c);
    EXPECT_EQ(found(), "");
    EXPECT_TRUE(votes.has_voted(a, core::Incarnation{2}, core::Term{3}, b));
    votes.voted(a, core::Incarnation{1}, core::Term{2}, c);
    EXPECT_VIOLATION("one vote");
}

TEST_F(HistoryTest, SeesAHardStateThatGoesBack) {
    VoteHistory votes{violations};
    votes.hard_state(a, {core::Term{2}, a}, {core::Term{3}, {}});
    votes.hard_state(a, {core::Term{3}, {}}, {core::Term{3}, b});
    EXPECT_EQ(found(), "");
    votes.hard_state(a, {core::Term{3}, b}, {core::Term{2}, {}});
    EXPECT_VIOLATION("hard state: term 2 after term 3");
}

TEST_F(HistoryTest, SeesAVoteThatChanges) {
    VoteHistory votes{violations};
    votes.hard_state(a, {core::Term{3}, b}, {core::Term{3}, c});
    EXPECT_VIOLATION("the vote of term 3 changed");
}

}  // namespace
}  // namespace mortise::sim
