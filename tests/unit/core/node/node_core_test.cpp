#include "core/node/node_core.hpp"

#include <functional>

#include <gtest/gtest.h>

#include "core/base/check.hpp"
#include "core/codec/state_sum_codec.hpp"
#include "core/locks/machine/machine_loader.hpp"
#include "tests/support/node_fixture.hpp"

namespace mortise::core::test {
namespace {

// A cluster that is formed and connected, and led by node 1.
struct Running {
    explicit Running(std::initializer_list<std::uint64_t> ids = {1, 2, 3}) : cluster{ids} {
        cluster.connect_all();
        cluster.run_for(5 * heartbeat);
    }

    NodeCluster cluster;
    HandDrivenNode& leader{cluster[n1]};
};

std::uint64_t newest_tag = 100;

void ask_something(HandDrivenNode& node) {
    ++newest_tag;
    node.acquire(newest_tag, "name" + std::to_string(newest_tag));
}

RaftMessage harmless() {
    return PreVoteRequest{Term{2}, 1, log_id(1, 1)};
}

TEST(NodeCore, NeedsAnIdentity) {
    auto options = node_options(1, {1});
    options.generation.incarnation = {};
    EXPECT_THROW((NodeCore{options, {}, Now{start, start}}), InvariantBroken);
}

TEST(NodeCore, GrantsOnEveryNodeWhatItsLeaderIsAskedFor) {  // B-A2
    Running running;
    running.leader.acquire(17, "name");
    running.cluster.settle();
    EXPECT_TRUE(running.leader.was_answered<Acquired>(17));
    running.cluster.run_for(2 * heartbeat);
    for (const auto& [node_id, node] : running.cluster) {
        EXPECT_EQ(node.core().machine().inspect("name").holders.size(), 1U);
    }
}

TEST(NodeCore, ForwardsToItsLeaderWhatItIsAskedFor) {
    Running running;
    auto& follower = running.cluster[n2];
    follower.acquire(17, "name");
    running.cluster.settle();
    EXPECT_TRUE(follower.was_answered<Acquired>(17));
}

// P11: otherwise any member could make this node resend its whole window repeatedly.
TEST(NodeCore, GoesBackInItsStreamForItsLeaderAlone) {
    Running running;
    auto& follower = running.cluster[n2];
    follower.acquire(17, "name");
    const auto session = follower.core().agent().open_session();
    ASSERT_TRUE(session.has_value());
    ASSERT_EQ(follower.take<Forward>(n1).size(), 1U);
    follower.receive(n3, StreamGap{*session, Seq{1}});
    EXPECT_EQ(follower.sent_to<Forward>(n1), 0U);
    follower.receive(n1, StreamGap{*session, Seq{1}});
    EXPECT_EQ(follower.sent_to<Forward>(n1), 1U);
}

TEST(NodeCore, HandsLeadershipOver) {
    Running running;
    running.leader.step(TransferLeadership{n3});
    running.cluster.settle();
    EXPECT_TRUE(running.cluster[n3].raft().is_leader());
}

// --- senders whose messages count (S47, B-M12)

TEST(NodeCore, RefusesMessagesWithoutAConnection) {
    Running running;
    running.leader.step(PeerDown{n2});
    const auto refused = running.leader.core().refused_messages();
    running.leader.receive(n2, harmless());
    running.leader.receive(n5, harmless());
    EXPECT_EQ(running.leader.core().refused_messages(), refused + 2);
    EXPECT_TRUE(running.leader.sent.empty());
}

TEST(NodeCore, RefusesWhatAWipedDiskSaid) {
    Running running;
    const auto refused = running.leader.core().refused_messages();
    const RaftMessage said{accepts(running.leader.raft().term().raw(), 2)};
    running.leader.step(Received{n2, said, Generation{member(2).incarnation, BootEpoch{1}}});
    EXPECT_EQ(running.leader.core().refused_messages(), refused);
    running.leader.step(Received{n2, said, Generation{Incarnation{9999}, BootEpoch{1}}});
    EXPECT_EQ(running.leader.core().refused_messages(), refused + 1);
}

// B-M12, S47: first as a learner, and then in place of the lost voter.
TEST(NodeCore, AWipedMemberComesBackByItself) {  // B-D20
    Running running;
    running.cluster.wipe_and_restart(n2);
    running.cluster.connect_all();
    running.cluster.run_for(3 * election_timeout);
    const auto& configuration = running.leader.raft().configuration();
    EXPECT_EQ(configuration.find(n2)->incarnation,
              running.cluster[n2].hello().generation.incarnation);
    EXPECT_TRUE(configuration.is_voter(n2));
    EXPECT_FALSE(configuration.is_joint());
    EXPECT_EQ(running.cluster[n2].raft().commit_index(), running.leader.raft().commit_index());
}

// B-M12: it would say "I have nothing" or vote twice, because it has forgotten.
TEST(NodeCore, AWipedMemberDoesNotCountForCommits) {  // P4
    Running running;
    running.cluster.wipe_and_restart(n2);
    running.cluster.connect_all();
    running.cluster.disconnect(n1, n3);
    const auto commit = running.leader.raft().commit_index();
    ask_something(running.leader);
    running.cluster.settle();
    EXPECT_EQ(running.leader.raft().commit_index(), commit);
}

TEST(NodeCore, RefusesMessagesOfAnotherCluster) {
    Running running;
    auto hello = running.cluster[n2].hello();
    hello.cluster = {1, 1};
    running.leader.step(PeerDown{n2});
    running.leader.step(PeerUp{hello});
    const auto refused = running.leader.core().refused_messages();
    running.leader.receive(n2, harmless());
    EXPECT_EQ(running.leader.core().refused_messages(), refused + 1);
}

// A restored backup has an earlier epoch of the same incarnation.
TEST(NodeCore, TheNewestLifeOfAPeerStands) {
    Running running;
    const RaftMessage asks{ReadRequest{Term{2}, ReadId{1}}};
    auto newer = running.cluster[n2].hello();
    newer.generation.boot_epoch = BootEpoch{5};
    running.leader.step(PeerUp{newer});
    const auto refused = running.leader.core().refused_messages();
    auto older = newer;
    older.generation.boot_epoch = BootEpoch{4};
    running.leader.step(PeerDown{n2});
    running.leader.step(PeerUp{older});
    EXPECT_EQ(running.leader.core().refused_messages(), refused + 1);
    running.leader.receive(n2, asks);
    EXPECT_EQ(running.leader.core().refused_messages(), refused + 2);
    running.leader.step(PeerUp{newer});
    running.leader.receive(n2, asks);
    EXPECT_EQ(running.leader.core().refused_messages(), refused + 2);
}

// A connection may be replaced before its end is noticed.
TEST(NodeCore, AMemberIsWhatItsNewestConnectionSays) {
    Running running;
    auto& node = running.cluster[n3];
    auto wiped = running.cluster[n2].hello();
    wiped.generation.incarnation = Incarnation{9999};
    node.step(PeerUp{wiped});
    const auto refused = node.core().refused_messages();
    node.receive(n2, harmless());
    EXPECT_EQ(node.core().refused_messages(), refused + 1);
    node.step(PeerUp{running.cluster[n2].hello()});
    node.receive(n2, harmless());
    EXPECT_EQ(node.core().refused_messages(), refused + 1);
}

TEST(NodeCore, AMemberThatRestartsIsBelievedAgain) {
    Running running;
    running.cluster.crash_and_restart(n2);
    running.cluster.connect_all();
    ask_something(running.leader);
    running.cluster.run_for(5 * heartbeat);
    EXPECT_EQ(running.cluster[n2].raft().commit_index(), running.leader.raft().commit_index());
    EXPECT_TRUE(running.leader.raft().is_leader());
}

TEST(NodeCore, AnElectionFollowsSoonWhenTheLeaderIsGone) {
    Running running;
    running.cluster.crash_and_restart(n1);
    running.cluster.run_for(heartbeat);
    ASSERT_NE(running.cluster.leader(), nullptr);
    EXPECT_EQ(running.cluster.leader()->raft().term(), Term{3});
}

// --- reads

TEST(NodeCore, AnswersAReadOnLeaderAndFollower) {
    Running running;
    for (const auto id : {n1, n3}) {
        auto& node = running.cluster[id];
        node.inspect(41, "name");
        EXPECT_FALSE(node.was_answered<Viewed>(41));
        running.cluster.settle();
        EXPECT_TRUE(node.was_answered<Viewed>(41));
    }
}

TEST(NodeCore, AReadWithoutALeaderEndsWithNoQuorum) {  // P6
    HandDrivenNode node{1, {1, 2, 3}};
    node.inspect(41, "name");
    EXPECT_TRUE(node.answers.empty());
    node.now = node.now + node_options(1, {1}).call_timeout;
    node.timer();
    EXPECT_TRUE(node.was_answered<CallError>(41));
}

// S48: the name looked taken, so the leader was asked; it was free by then, so the log was used.
// Both together may take no longer than one call.
TEST(NodeCore, ATryForPermitsIsBusyWhenThereAreTooFew) {  // S20, S34
    Running running;
    auto& follower = running.cluster[n3];
    const auto ask = [&](auto& node, std::uint64_t tag, std::uint32_t permits, bool wait) {
        AcquireCall call;
        call.tag = CallTag{tag};
        call.request.names.push_back({"pool"});
        call.request.permits = permits;
        call.request.limit = 3;
        call.request.wait = wait;
        node.call(std::move(call));
        running.cluster.run_for(heartbeat);
    };
    ask(running.leader, 1, 2, true);
    const auto hold = running.leader.granted(1);
    EXPECT_TRUE(hold.seq.is_set());
    ask(follower, 2, 2, false);
    EXPECT_TRUE(follower.was_answered<Busy>(2));
    ask(follower, 3, 1, false);
    EXPECT_TRUE(follower.granted(3).seq.is_set());
}

TEST(NodeCore, ATryThatIsReadFirstHasNoMoreTime) {  // P6
    Running running;
    auto& follower = running.cluster[n3];
    running.leader.acquire(1, "name");
    running.cluster.run_for(heartbeat);
    const auto hold = running.leader.granted(1);
    const auto asked_at = follower.now;
    AcquireCall attempt;
    attempt.tag = CallTag{2};
    attempt.request.names.push_back({"name"});
    attempt.request.wait = false;
    follower.call(std::move(attempt));
    const auto question = follower.newest<ReadRequest>(n1);
    running.leader.call(ReleaseCall{{}, hold});
    running.cluster.run_for(heartbeat);
    const auto index = running.leader.core().applied_index();
    follower.receive(n1, RaftMessage{ReadReply{follower.raft().term(), question.id, index}});
    EXPECT_EQ(follower.sent_to<Forward>(n1), 1U);
    EXPECT_FALSE(follower.was_answered<Busy>(2));
    follower.now = asked_at + node_options(1, {1}).call_timeout;
    follower.timer();
    EXPECT_EQ(follower.error_of(2), CallError::no_quorum);
}

// B-R1: no two questions share an id, in one run or in two.
TEST(NodeCore, NeverUsesAReadIdTwice) {
    Running running;
    auto& follower = running.cluster[n3];
    std::set<ReadId> seen;
    for (int life = 0; life < 3; ++life) {
        for (int i = 0; i < 5; ++i) {
            follower.inspect(++newest_tag, "name");
            EXPECT_TRUE(seen.insert(follower.newest<ReadRequest>(n1).id).second);
        }
        running.cluster.crash_and_restart(n3);
        running.cluster.connect_all();
        running.cluster.run_for(2 * heartbeat);
        ASSERT_EQ(follower.raft().leader(), n1);
    }
}

// B-R1: an answer to the question of a former run, or a repeated answer, does not count.
TEST(NodeCore, AnOldAnswerIsNotTakenForTheNewOne) {  // P2
    Running running;
    auto& follower = running.cluster[n3];
    follower.inspect(1, "name");
    const auto old = follower.newest<ReadRequest>(n1).id;
    running.cluster.crash_and_restart(n3);
    running.cluster.connect_all();
    running.cluster.run_for(2 * heartbeat);
    follower.answers.clear();
    follower.inspect(2, "name");
    const auto asked = follower.newest<ReadRequest>(n1).id;
    follower.receive(n1, RaftMessage{ReadReply{follower.raft().term(), old, LogIndex{1}}});
    EXPECT_TRUE(follower.answers.empty());
    const RaftMessage answer = ReadReply{follower.raft().term(), asked, LogIndex{2}};
    follower.receive(n1, answer);
    follower.receive(n1, answer);
    ASSERT_EQ(follower.answers.size(), 1U);
    EXPECT_TRUE(follower.was_answered<Viewed>(2));
}

// B-R3: a question to a former leader is asked again at the next one.
TEST(NodeCore, AReadOutlivesTheLeaderThatItWasAskedOf) {
    Running running;
    auto& follower = running.cluster[n3];
    follower.inspect(41, "name");
    follower.take<ReadRequest>(n1);  // lost
    running.cluster.crash_and_restart(n1);
    running.cluster.connect_all();
    running.cluster.run_for(3 * election_timeout);
    EXPECT_TRUE(follower.was_answered<Viewed>(41));
}

// A node that gets no answers asks once for all its calls, however many it has.
TEST(NodeCore, AsksAgainForAllThatWaitWithFewQuestions) {  // P7
    Running running;
    auto& follower = running.cluster[n3];
    std::size_t asked = 0;
    for (std::uint64_t i = 0; i < 50; ++i) {
        follower.inspect(++newest_tag, "name");
        EXPECT_EQ(follower.take<ReadRequest>(n1).size(), 1U);  // lost
        running.cluster.run_for(1ms);
    }
    const auto until = follower.now + 2 * election_timeout;
    while (follower.now < until) {
        running.cluster.pass(1ms);
        follower.timer();
        asked += follower.take<ReadRequest>(n1).size();
        running.leader.timer();
        running.cluster.settle();
    }
    EXPECT_GE(asked, 1U);
    EXPECT_LE(asked, 6U);
    running.cluster.run_for(election_timeout);
    EXPECT_TRUE(follower.was_answered<Viewed>(newest_tag));
}

// The log progresses while there are many listings.
TEST(NodeCore, AnswersAFewListingsAStepAndTheRestInTheNext) {  // P10
    Running running;
    Calls calls;
    for (std::uint64_t i = 1; i <= 100; ++i) {
        InspectCall inspect;
        inspect.tag = CallTag{i};
        inspect.is_prefix = true;
        calls.calls.push_back(std::move(inspect));
    }
    running.leader.step(std::move(calls));
    running.cluster.settle();
    EXPECT_LT(running.leader.answers.size(), 50U);
    for (int step = 0; step < 20 && running.leader.answers.size() < 100; ++step) {
        const auto before = running.leader.answers.size();
        ASSERT_EQ(running.leader.core().deadline(), running.leader.now);
        running.leader.timer();
        EXPECT_LE(running.leader.answers.size(), before + 10);
    }
    EXPECT_EQ(running.leader.answers.size(), 100U);
    EXPECT_GT(running.leader.core().deadline(), running.leader.now);
}

// P11: limits the calls of a program while no answers come.
TEST(NodeCore, RefusesReadsBeyondALimit) {
    HandDrivenNode node{1, {1, 2, 3}};
    Calls calls;
    for (std::uint64_t i = 1; i <= pending_reads_max + 2; ++i) {
        InspectCall inspect;
        inspect.tag = CallTag{i};
        inspect.name = "name";
        calls.calls.push_back(std::move(inspect));
    }
    node.step(std::move(calls));
    ASSERT_EQ(node.answers.size(), 2U);
    EXPECT_EQ(node.answers[0].tag, CallTag{pending_reads_max + 1});
    EXPECT_EQ(std::get<CallError>(node.answers[0].result), CallError::resource_exhausted);
    node.call(CancelCall{CallTag{1}});  // frees capacity
    node.answers.clear();
    node.inspect(pending_reads_max + 3, "name");
    EXPECT_TRUE(node.answers.empty());
}

// The leader has named an index, and then nothing more is received.
TEST(NodeCore, AReadThatWaitsForALogEntryEndsInTime) {
    Running running;
    auto& follower = running.cluster[n3];
    follower.inspect(41, "name");
    const auto asked = follower.newest<ReadRequest>(n1).id;
    const auto beyond = follower.raft().commit_index().next();
    follower.receive(n1, RaftMessage{ReadReply{follower.raft().term(), asked, beyond}});
    EXPECT_TRUE(follower.answers.empty());
    follower.now = follower.now + node_options(1, {1}).call_timeout;
    EXPECT_LE(follower.core().deadline(), follower.now);
    follower.timer();
    EXPECT_TRUE(follower.was_answered<CallError>(41));
}

TEST(NodeCore, AReadThatWaitsForALogEntryCanBeCancelled) {
    Running running;
    auto& follower = running.cluster[n3];
    follower.inspect(41, "name");
    const auto asked = follower.newest<ReadRequest>(n1).id;
    const auto beyond = follower.raft().commit_index().next();
    follower.receive(n1, RaftMessage{ReadReply{follower.raft().term(), asked, beyond}});
    follower.call(CancelCall{CallTag{41}});
    EXPECT_TRUE(follower.was_answered<CallError>(41));
}

// --- leading

// P7: whatever event wakes it.
TEST(NodeCore, ALeaderThatSleptStepsDownWithWhateverItHearsFirst) {
    const std::vector<std::function<Event(Running&)>> first = {
        [](Running&) -> Event { return TimerFired{}; },
        [](Running&) -> Event { return StateDurable{LogIndex{1}}; },
        [](Running& running) -> Event { return PeerUp{running.cluster[n2].hello()}; },
        [](Running&) -> Event { return PeerDown{n3}; },
        [](Running&) -> Event {
            return Received{n2, Forward{}};
        },
        [](Running&) -> Event { return Calls{}; },
    };
    for (std::size_t i = 0; i < first.size(); ++i) {
        Running running;
        ASSERT_TRUE(running.leader.raft().is_leader());
        auto event = first[i](running);
        running.leader.now = running.leader.now + 2 * election_timeout;
        running.leader.step(std::move(event));
        EXPECT_FALSE(running.leader.raft().is_leader()) << "event " << i;
    }
}

// While its disk is busy: the end of the write is an event of its own, so no deadline is needed.
TEST(NodeCore, ARenewalThatCannotBeProposedYetMakesNoDeadline) {  // B-F8
    Running running;
    const auto session = running.cluster[n2].core().agent().open_session();
    ASSERT_TRUE(session.has_value());
    ask_something(running.leader);
    ask_something(running.leader);
    ASSERT_EQ(running.leader.raft().writes_in_flight(), 2U);
    Forward forward;
    forward.renewal = Renewal{*session, 1'000};
    running.leader.receive(n2, forward);
    running.leader.now = running.leader.now + heartbeat;
    running.leader.timer();
    EXPECT_GT(running.leader.core().deadline(), running.leader.now);
    const auto last = running.leader.raft().log().last().index;
    running.leader.complete_writes();
    EXPECT_EQ(running.leader.raft().log().last().index, last.next()) << "now it is proposed";
}

// --- the state on disk

Nanoseconds interval() {
    return node_options(1, {1}).state_interval;
}

TEST(NodeCore, HandsOverWhatChangedAfterAWhile) {  // B-S4
    Running running;
    auto& node = running.cluster[n2];
    running.cluster.run_for(2 * interval());
    node.deltas.clear();
    ask_something(node);
    running.cluster.settle();
    EXPECT_TRUE(node.deltas.empty());
    const auto applied = node.core().applied_index();
    EXPECT_LE(node.core().deadline(), node.now + interval());
    running.cluster.run_for(interval() + heartbeat);
    ASSERT_EQ(node.deltas.size(), 1U);
    EXPECT_EQ(node.deltas[0].applied.index, applied);
    EXPECT_EQ(node.deltas[0].applied.term, node.raft().term());
    EXPECT_EQ(node.deltas[0].configuration, node.raft().configuration());
    EXPECT_FALSE(node.deltas[0].rows.empty());
}

TEST(NodeCore, HandsOverNothingWhileItIsIdle) {
    Running running;
    running.cluster.run_for(2 * interval());
    running.leader.deltas.clear();
    running.cluster.run_for(8 * interval());  // renewals come later
    EXPECT_TRUE(running.leader.deltas.empty());
}

// Otherwise the log could not be purged.
TEST(NodeCore, HandsOverEarlierAfterManyEntriesThatChangeNothing) {
    auto state = disk_with(voters({1, 2, 3}), {Term{1}, {}}, std::vector<std::uint64_t>(1'100, 1));
    for (auto& entry : state.entries) {
        if (entry.kind == EntryKind::commands) entry = make_entry(entry.id, EntryKind::noop, {});
    }
    HandDrivenNode node{node_options(1, {1, 2, 3}), state};
    node.step(PeerUp{HandDrivenNode{node_options(2, {1, 2, 3}), state}.hello()});
    node.receive(n2, RaftMessage{append(1, log_id(1, 1'101), {}, 1'000)});
    EXPECT_TRUE(node.deltas.empty());
    node.receive(n2, RaftMessage{append(1, log_id(1, 1'101), {}, 1'100)});
    while (node.raft().has_decided())
        node.timer();
    ASSERT_EQ(node.deltas.size(), 1U);
    EXPECT_EQ(node.deltas[0].applied, log_id(1, 1'024));  // where states are compared
}

// All deltas of a run, applied in order, give its machine.
TEST(NodeCore, WhatItHandsOverMakesItsMachine) {  // B-S8
    Running running;
    for (int i = 0; i < 20; ++i) {
        ask_something(i % 2 == 0 ? running.leader : running.cluster[n2]);
        running.cluster.run_for(interval() / 3);
    }
    running.cluster.run_for(2 * interval());
    auto& node = running.cluster[n2];
    ASSERT_GT(node.deltas.size(), 3U);
    std::map<std::string, std::string> rows;
    LogIndex before;
    for (const auto& delta : node.deltas) {
        EXPECT_GT(delta.applied.index, before);
        before = delta.applied.index;
        for (const auto& row : delta.rows) {
            rows.erase(row.key);
            if (row.value) rows.emplace(row.key, *row.value);
        }
    }
    MachineLoader loader;
    for (const auto& [key, value] : rows)
        ASSERT_TRUE(loader.add(key, value));
    const auto machine = loader.finish(before);
    ASSERT_TRUE(machine.has_value());
    EXPECT_EQ(machine->list("", "", 100), node.core().machine().list("", "", 100));
    EXPECT_EQ(before, node.core().applied_index());
}

// --- purging

TEST(NodeCore, TellsTheConfigurationThatWasInForceWhereItsLogBegins) {
    Running running;
    ask_something(running.leader);
    running.cluster.run_for(3 * heartbeat);
    running.leader.step(StateDurable{running.leader.raft().commit_index()});
    ASSERT_TRUE(running.leader.purged_to.is_set());
    const auto base = running.leader.raft().base();
    EXPECT_EQ(base.id, running.leader.raft().log().base());
    EXPECT_EQ(base.configuration, running.leader.raft().configuration());
}

TEST(NodeCore, PurgesWhatEverybodyHasAndItsStateContains) {  // B-S8
    Running running;
    for (int i = 0; i < 5; ++i)
        ask_something(running.leader);
    running.cluster.run_for(3 * heartbeat);
    const auto all = running.leader.raft().commit_index();
    ASSERT_EQ(running.leader.raft().replicated_index(), all);
    running.leader.step(StateDurable{all.previous()});
    EXPECT_EQ(running.leader.purged_to, all.previous());
    EXPECT_EQ(running.leader.raft().log().base().index, all.previous());
    running.leader.step(StateDurable{LogIndex{1}});
    EXPECT_EQ(running.leader.raft().log().base().index, all.previous());
}

TEST(NodeCore, KeepsTheLogForASlowMember) {  // B-S12
    Running running;
    const auto common = running.leader.raft().replicated_index();
    running.cluster.disconnect(n1, n3);
    running.cluster.disconnect(n2, n3);
    for (int i = 0; i < 5; ++i)
        ask_something(running.leader);
    running.cluster.run_for(3 * heartbeat);
    running.leader.step(StateDurable{running.leader.raft().commit_index()});
    EXPECT_EQ(running.leader.raft().log().base().index, common);
}

// Node 1 of three with 21 entries, of which 15 are committed. No other member has any of them.
HandDrivenNode node_with_slow_members(const NodeOptions& options) {
    auto state = disk_with(voters({1, 2, 3}), {Term{1}, {}}, std::vector<std::uint64_t>(20, 1));
    for (auto& entry : state.entries) {  // they have no effect when applied
        if (entry.kind == EntryKind::commands) entry = make_entry(entry.id, EntryKind::noop, {});
    }
    HandDrivenNode node{options, state};
    node.step(PeerUp{HandDrivenNode{node_options(2, {1, 2, 3}), state}.hello()});
    node.receive(n2, RaftMessage{append(1, log_id(1, 21), {}, 15)});
    EXPECT_GT(node.raft().log().bytes(), 100U);
    EXPECT_EQ(node.raft().replicated_index(), LogIndex{});
    return node;
}

TEST(NodeCore, KeepsTheLogForASlowMemberWithinLimits) {  // P11
    auto options = node_options(1, {1, 2, 3});
    options.log_bytes_max = 100;
    auto node = node_with_slow_members(options);
    node.step(StateDurable{LogIndex{12}});
    EXPECT_EQ(node.purged_to, LogIndex{12});
    node.step(StateDurable{LogIndex{99}});  // never more than is committed
    EXPECT_EQ(node.purged_to, LogIndex{15});
}

TEST(NodeCore, KeepsAsMuchOfTheLogAsTheVolumeHasRoomFor) {
    auto node = node_with_slow_members(node_options(1, {1, 2, 3}));
    node.step(StateDurable{LogIndex{10}});
    EXPECT_EQ(node.purged_to, LogIndex{});
    node.step(StateDurable{LogIndex{12}, 100});
    EXPECT_EQ(node.purged_to, LogIndex{12});
    node.step(StateDurable{LogIndex{14}});
    EXPECT_EQ(node.purged_to, LogIndex{12});
}

TEST(NodeCore, StillOffersTheFoundingEntryAfterARestart) {
    NodeCluster cluster{1, 2, 3};
    cluster.connect_all();
    cluster.deliver();
    cluster[n1].complete_writes();
    cluster.crash_and_restart(n1);
    cluster.connect(n1, n2);
    EXPECT_EQ(cluster[n1].take<FormationOffer>(n2).size(), 1U);
}

TEST(NodeCore, TellsWhenItWantsToBeCalled) {
    Running running;
    const auto due = running.leader.core().deadline();
    EXPECT_GT(due, running.leader.now);
    EXPECT_LE(due, running.leader.now + heartbeat);
    const auto effects = NodeCore{node_options(1, {1, 2}), {}, Now{start, start}}.step(
        TimerFired{}, Now{start, start});
    EXPECT_EQ(effects.deadline, Instant::never());
}

// --- members

constexpr std::uint64_t change_tag = 99;

void change(NodeCluster& cluster, MembershipGoal::Kind kind, NodeId id, std::string address = {}) {
    cluster.leader()->answers.clear();
    cluster.leader()->change(change_tag, {kind, id, std::move(address)}, 3 * heartbeat);
    cluster.run_for(5 * heartbeat);
}

// Node 4 runs with an empty directory, and is not a configured voter.
TEST(NodeCore, AMemberIsAddedPromotedAndRemoved) {
    using Kind = MembershipGoal::Kind;
    NodeCluster cluster{1, 2, 3};
    cluster.add(4, {1, 2, 3});
    cluster.connect_all();
    cluster.run_for(5 * heartbeat);
    auto& leader = cluster[n1];
    EXPECT_FALSE(cluster[n4].is_formed());
    change(cluster, Kind::learner, n5, "host5:1");  // the incarnation of that node is unknown
    EXPECT_EQ(leader.refusal_of(change_tag), MembershipRefusal::not_connected);
    change(cluster, Kind::learner, n4, "");
    EXPECT_EQ(leader.refusal_of(change_tag), MembershipRefusal::invalid_address);
    change(cluster, Kind::learner, n4, "host4:7000");
    EXPECT_TRUE(leader.was_answered<Changed>(change_tag));
    EXPECT_TRUE(cluster[n4].raft().is_member());
    change(cluster, Kind::voter, n4);
    EXPECT_TRUE(leader.was_answered<Changed>(change_tag));
    EXPECT_TRUE(cluster[n4].raft().configuration().is_voter(n4));
    change(cluster, Kind::gone, n2);
    EXPECT_TRUE(leader.was_answered<Changed>(change_tag));
    EXPECT_TRUE(cluster[n2].noted(Note::Kind::removed));
    EXPECT_EQ(leader.raft().configuration().voters.size(), 3U);
}

// It missed its removal, and asks for votes until it is informed.
TEST(NodeCore, WhoMissedItsRemovalIsTold) {  // B-M10
    Running running;
    running.cluster.disconnect(n1, n3);
    running.cluster.disconnect(n2, n3);
    change(running.cluster, MembershipGoal::Kind::gone, n3);
    ASSERT_TRUE(running.leader.was_answered<Changed>(change_tag));
    running.cluster.run_for(3 * election_timeout);
    EXPECT_FALSE(running.cluster[n3].noted(Note::Kind::removed));
    running.cluster.connect(n2, n3);
    running.cluster.run_for(3 * election_timeout);
    EXPECT_FALSE(running.cluster[n3].noted(Note::Kind::removed));  // one member may be wrong
    running.cluster.connect(n1, n3);
    running.cluster.run_for(3 * election_timeout);
    EXPECT_TRUE(running.cluster[n3].noted(Note::Kind::removed));
    EXPECT_TRUE(running.leader.raft().is_leader());
}

// --- equal states

TEST(NodeCore, AReplicaWhoseStateDiffersStops) {  // P2, P5, B-A6
    Running running;
    auto& node = running.cluster[n2];
    const auto commit = node.raft().commit_index();
    const auto last = node.raft().log().last();
    // Up to the next index at which states are compared, then the leader's checksum.
    std::vector<Entry> entries;
    auto at = last.index;
    while (at.raw() % 1'024 != 0) {
        at = at.next();
        entries.push_back(make_entry({last.term, at}, EntryKind::noop, {}));
    }
    entries.push_back(
        make_entry({last.term, at.next()}, EntryKind::state_sum, encode_state_sum({at, 12'345})));
    AppendRequest request{last.term, last, commit, {}, 0, entries};
    node.receive(n1, RaftMessage{request});
    node.complete_writes();
    request = {last.term, entries.back().id, at.next(), {}, 0, {}};
    const auto hears_and_applies = [&] {
        node.receive(n1, RaftMessage{request});
        while (node.core().applied_index() <= at)
            node.timer();
    };
    EXPECT_THROW(hears_and_applies(), InvariantBroken);
}

}  // namespace
}  // namespace mortise::core::test
