// What a leader proposes by itself, and when: the part alone, with a leader of a cluster of one.
#include "core/node/leader_duties.hpp"

#include <optional>

#include <gtest/gtest.h>

#include "tests/support/node_fixture.hpp"

namespace mortise::core::test {
namespace {

struct LeaderDutiesTest : testing::Test {
    LeaderDutiesTest() {
        now = raft.deadline();
        raft.on_timer(now);
        settle();
    }
    // As if its own writes took no time.
    void settle() {
        for (auto busy = true; busy;) {
            (void)raft.take_decided();
            if (const auto write = raft.collect(now).write) writes.push_back(write->id);
            busy = !writes.empty();
            complete_writes();
        }
    }
    void complete_writes() {
        for (const auto id : std::exchange(writes, {}))
            raft.on_write_done(id, now);
    }
    // Proposes, and begins the write.
    void propose() {
        duties.propose_batches(applied.value_or(raft.commit_index()), now);
        if (const auto write = raft.collect(now).write) writes.push_back(write->id);
    }
    // A session holds a name and waits for it, and another one asks for it.
    void queue_patient_request() {
        Acquire acquire;
        acquire.names.push_back({"a"});
        Outcomes outcomes;
        machine.apply(LogIndex{2}, {opening_of(n2, 10'000), opening_of(n3, 10'000)}, outcomes);
        machine.apply(LogIndex{3}, {Request{SessionId{1}, Seq{1}, acquire}}, outcomes);
        machine.apply(LogIndex{4}, {Request{SessionId{1}, Seq{2}, acquire}}, outcomes);
        BatchBuilder batch;
        batch.add(Request{SessionId{2}, Seq{1}, acquire});
        const auto bytes = batch.take();
        ASSERT_TRUE(patient.takes(decode(Forward{bytes, {}}, command_format_oldest)));
        proposer.add({SessionId{2}, bytes, 1, 1}, true);
    }
    [[nodiscard]] LogIndex last() const { return raft.log().last().index; }

    NodeOptions options = node_options(1, {1});
    Instant now = start;
    Raft raft{options_of(n1), disk_with(voters({1}), {Term{1}, {}}, {}), Prng{1}, start};
    Peers peers{options, raft};
    StateSaver saver{options, raft, LogIndex{1}};
    LogFormats formats{options, raft, peers};
    Proposer proposer;
    LockMachine machine;
    PatientRequests patient{machine};
    LeaderDuties duties{options, saver, raft, proposer, patient, formats};
    std::vector<WriteId> writes;
    std::optional<LogIndex> applied;  // not set: everything that is committed
};

TEST_F(LeaderDutiesTest, ProposesWhatHasGatheredInOneEntry) {
    ASSERT_TRUE(raft.is_leader());
    const auto before = last();
    proposer.add(Sweep{});
    proposer.add(Expire{SessionId{1}, LogIndex{1}});
    propose();
    EXPECT_EQ(last(), before.next());
    EXPECT_FALSE(proposer.has_commands());
}

// Behind two writes everything gathers, and a due renewal is no reason to be called at once.
TEST_F(LeaderDutiesTest, ProposesNothingBehindTwoWrites) {
    for (int write = 0; write < 2; ++write) {
        proposer.add(Sweep{});
        propose();
    }
    const auto before = last();
    proposer.add(Sweep{});
    proposer.add_renewal({SessionId{1}, 1});
    propose();
    EXPECT_EQ(last(), before);
    EXPECT_EQ(duties.deadline(), Instant::never());
    complete_writes();
    propose();
    EXPECT_EQ(last(), before.next());
}

TEST_F(LeaderDutiesTest, RenewalsAloneWaitForAHeartbeat) {
    const auto before = last();
    proposer.add_renewal({SessionId{1}, 1});
    propose();
    EXPECT_EQ(last(), before);
    EXPECT_EQ(duties.deadline(), now + heartbeat);
    now = now + heartbeat;
    propose();
    EXPECT_EQ(last(), before.next());
    EXPECT_EQ(duties.deadline(), Instant::never());
}

TEST_F(LeaderDutiesTest, RenewalsGoWithCommandsAtOnce) {
    const auto before = last();
    proposer.add_renewal({SessionId{1}, 1});
    proposer.add(Sweep{});
    propose();
    EXPECT_EQ(last(), before.next());
    EXPECT_FALSE(proposer.has_renewals());
}

TEST_F(LeaderDutiesTest, PatientRequestsWaitForAnEntryOfOthers) {
    queue_patient_request();
    const auto before = last();
    propose();
    EXPECT_EQ(last(), before);
    EXPECT_EQ(duties.deadline(), now + 3ms);
    proposer.add(Sweep{});
    propose();
    EXPECT_EQ(last(), before.next());
    EXPECT_FALSE(proposer.has_commands());
    EXPECT_EQ(duties.deadline(), Instant::never());
    EXPECT_FALSE(proposer.is_urgent());
}

TEST_F(LeaderDutiesTest, PatientRequestsGoWithRenewals) {
    proposer.add_renewal({SessionId{1}, 1});
    propose();
    now = now + heartbeat - 1ms;
    queue_patient_request();
    const auto before = last();
    propose();
    EXPECT_EQ(last(), before);
    now = now + 1ms;
    propose();
    EXPECT_EQ(last(), before.next());
    EXPECT_FALSE(proposer.has_commands());
}

TEST_F(LeaderDutiesTest, PatientRequestsAloneMakeAnEntryAfterAMoment) {
    queue_patient_request();
    const auto before = last();
    propose();
    now = now + 3ms;
    propose();
    EXPECT_EQ(last(), before.next());
    EXPECT_FALSE(proposer.has_commands());
    EXPECT_TRUE(patient.empty());
}

// What waits behind writes is called no more often because of them.
TEST_F(LeaderDutiesTest, PatientRequestsBehindTwoWritesHaveNoDeadline) {
    for (int write = 0; write < 2; ++write) {
        proposer.add(Sweep{});
        propose();
    }
    queue_patient_request();
    propose();
    EXPECT_EQ(duties.deadline(), Instant::never());
}

// P10: what is in the log has no turns any more, so a newcomer would wait behind all of it.
TEST_F(LeaderDutiesTest, ProposesNothingBehindMuchThatIsNotApplied) {
    applied = raft.commit_index();
    const auto propose_entries = [&](std::size_t count) {
        for (std::size_t i = 0; i < count * entry_commands_max; ++i)
            proposer.add(Expire{SessionId{1}, LogIndex{1}});
        const auto before = last();
        propose();
        complete_writes();
        settle();
        return last().raw() - before.raw();
    };
    EXPECT_EQ(propose_entries(7), 7U);
    EXPECT_EQ(propose_entries(2), 1U);
    EXPECT_TRUE(proposer.has_commands());
    EXPECT_EQ(propose_entries(0), 0U);
    EXPECT_EQ(duties.deadline(), Instant::never());
    applied = applied->next();
    EXPECT_EQ(propose_entries(0), 1U);
    EXPECT_FALSE(proposer.has_commands());
    duties.begin_term();
    EXPECT_EQ(propose_entries(8), 8U);
}

// P8: many sessions may expire at once.
TEST_F(LeaderDutiesTest, CommandsThatFillEntriesDoNotGather) {
    proposer.add(Sweep{});
    propose();
    const auto before = last();
    for (std::size_t i = 0; i < 3 * entry_commands_max; ++i)
        proposer.add(Expire{SessionId{1}, LogIndex{1}});
    propose();
    EXPECT_EQ(last().raw(), before.raw() + 3);
    EXPECT_FALSE(proposer.has_commands());
}

TEST_F(LeaderDutiesTest, AnOpenEntryOfAFormerTermHoldsNothingUp) {
    for (int i = 0; i < 10; ++i)
        proposer.add(Sweep{});
    propose();
    duties.begin_term();
    const auto before = last();
    proposer.add(Sweep{});
    propose();
    EXPECT_EQ(last(), before.next());
}

TEST_F(LeaderDutiesTest, SweepsAgainOnlyWhenTheLastSweepIsApplied) {
    const auto applied = last();
    duties.sweep(applied);
    propose();
    const auto swept_at = last();
    ASSERT_EQ(swept_at, applied.next());
    duties.sweep(applied);
    EXPECT_FALSE(proposer.has_commands());
    duties.sweep(swept_at);
    EXPECT_TRUE(proposer.has_commands());
}

TEST_F(LeaderDutiesTest, ASweepThatIsNotProposedYetIsEnough) {
    duties.sweep(last());
    (void)proposer.take_batch();
    duties.sweep(last());
    EXPECT_FALSE(proposer.has_commands());
    duties.begin_term();
    duties.sweep(last());
    EXPECT_TRUE(proposer.has_commands());
}

TEST_F(LeaderDutiesTest, AChecksumIsProposedOnceInATerm) {
    StateComparison comparison{options};
    comparison.keep({last(), 5});
    const auto before = last();
    duties.propose_state_sum(comparison, now);
    EXPECT_EQ(raft.log().at(before.next()).kind, EntryKind::state_sum);
    duties.propose_state_sum(comparison, now);
    EXPECT_EQ(last(), before.next());
    comparison.begin_term();
    duties.propose_state_sum(comparison, now);
    EXPECT_EQ(last(), before.next().next());
}

// P11: with a state on disk that lags, first only renewals are proposed, and then nothing.
TEST_F(LeaderDutiesTest, ALaggingDiskLeavesRenewalsAlone) {
    options.state_lag_bytes_max = 4'000;
    const auto before = last();
    proposer.add(Sweep{});
    proposer.add_renewal({SessionId{1}, 1});
    saver.applied(commands(log_id(1, 1), std::string(5'200, 'x')));
    propose();
    now = now + heartbeat;
    propose();
    EXPECT_EQ(last(), before.next());
    EXPECT_TRUE(proposer.has_commands());
    EXPECT_FALSE(proposer.has_renewals());
    saver.applied(commands(log_id(1, 2), std::string(1'000, 'x')));
    proposer.add_renewal({SessionId{1}, 2});
    propose();
    now = now + heartbeat;
    propose();
    EXPECT_EQ(last(), before.next());
}

}  // namespace
}  // namespace mortise::core::test
