// What a node does with the countdowns of all members: a voter reports them, and a leader ends what
// has run out at a majority.
#include "core/node/quorum_timers.hpp"

#include <gtest/gtest.h>

#include "tests/support/node_around_part.hpp"

namespace mortise::core::test {
namespace {

constexpr std::uint32_t ttl_ms = 10'000;
constexpr Nanoseconds patience = 10'000ms;  // without a bound of the clock rates

// Node 1 leads, and has applied the opening of a session of node 2.
struct QuorumTimersTest : testing::Test {
    QuorumTimersTest() {
        session = node.open(n2, ttl_ms);
        node.elect();
        timers.renewed(session, node.now());
        for (Nanoseconds passed{0}; passed < patience; passed += heartbeat)
            node.beat();  // or it would not be in contact with a majority
    }
    [[nodiscard]] RenewedLease lease() const {
        return {session, node.machine.sessions().find(session)->renewed_at};
    }
    void report(NodeId by) {
        AppendReply reply;
        reply.run_out = {lease()};
        timers.reported(by, reply);
    }
    [[nodiscard]] std::vector<Command> over() {
        timers.advance(node.now());
        return timers.commands_that_end_timers(proposer, node.now());
    }

    NodeAroundPart node;
    SessionId session;
    Proposer proposer;
    QuorumTimers timers{node.options, node.raft(), node.machine};
};

TEST_F(QuorumTimersTest, EndsWhatRanOutAtAMajorityAndOnlyOnce) {
    EXPECT_TRUE(over().empty()) << "only this node's own countdown has ended";
    report(n2);
    const auto ends = over();
    ASSERT_EQ(ends.size(), 1U);
    EXPECT_EQ(std::get<Expire>(ends.front()), (Expire{session, lease().renewed_at}));
    EXPECT_TRUE(over().empty());
}

TEST_F(QuorumTimersTest, TellsWhatIsLeftOfALeaseAndForHowLongItKnowsTheSession) {
    EXPECT_EQ(timers.left(session, node.now()), Nanoseconds{});
    EXPECT_EQ(timers.known(session, node.now()), patience);
    node.apply(Renew{{{session, 1}}});
    timers.renewed(session, node.now());
    EXPECT_EQ(timers.left(session, node.now() + 4s), patience - 4s);
    EXPECT_EQ(timers.known(session, node.now() + 4s), patience + 4s);
    timers.restart(timers.save(LogIndex{1}, node.now()), node.now() + 1s);
    EXPECT_EQ(timers.known(session, node.now() + 4s), patience + 4s);
    timers.ended(session);
    EXPECT_EQ(timers.known(session, node.now()), Nanoseconds{});
    EXPECT_EQ(timers.left(SessionId{99}, node.now()), std::nullopt);
}

TEST_F(QuorumTimersTest, NoSessionEndsWhoseRenewalWaits) {
    report(n2);
    proposer.add_renewal({session, 7});
    EXPECT_TRUE(over().empty());
    proposer.renewal_applied(session, 7);
    EXPECT_EQ(over().size(), 1U);
}

TEST_F(QuorumTimersTest, ARenewalBeginsTheCountdownAgain) {
    report(n2);
    report(n3);
    node.apply(Renew{{{session, 1}}});
    timers.renewed(session, node.now());
    EXPECT_TRUE(over().empty());
    AppendReply reply;
    timers.advance(node.now() + patience - 1ns);
    timers.report_in(reply);
    EXPECT_TRUE(reply.run_out.empty());
    timers.advance(node.now() + patience);
    timers.report_in(reply);
    EXPECT_EQ(reply.run_out, std::vector{lease()});
}

TEST_F(QuorumTimersTest, WhatWasReportedInAnotherTermDoesNotCount) {
    report(n2);
    timers.begin_term();
    EXPECT_TRUE(over().empty());
    report(n3);
    EXPECT_EQ(over().size(), 1U);
}

// S4: renewals that were on their way to the former leader arrive meanwhile.
TEST_F(QuorumTimersTest, NothingEndsInTheGraceAfterAnElection) {
    report(n2);
    node.cluster.elect(n2);
    node.elect();
    EXPECT_LT(node.now(), node.raft().contact_since() + 3 * heartbeat);
    EXPECT_TRUE(over().empty());
    for (int beat = 0; beat < 3; ++beat)
        node.beat();
    EXPECT_EQ(over().size(), 1U);
}

TEST_F(QuorumTimersTest, AVoterReportsWhatRanOutHere) {
    AppendReply reply;
    timers.report_in(reply);
    EXPECT_TRUE(reply.run_out.empty());
    timers.advance(node.now());
    timers.report_in(reply);
    EXPECT_EQ(reply.run_out, std::vector{lease()});
    timers.ended(session);
    timers.report_in(reply);
    EXPECT_TRUE(reply.run_out.empty());
}

// --- across a restart

TEST_F(QuorumTimersTest, ARestartContinuesASavedCountdownOfTheSameRenewalOnly) {
    SavedCountdowns saved;
    saved.leases = {{lease(), patience - 1s}};
    timers.restart(saved, node.now());
    timers.advance(node.now() + 1s);
    AppendReply reply;
    timers.report_in(reply);
    EXPECT_EQ(reply.run_out.size(), 1U);
    saved.leases.front().timer.renewed_at = lease().renewed_at.next();
    timers.restart(saved, node.now());
    timers.advance(node.now() + 1s);
    timers.report_in(reply);
    EXPECT_TRUE(reply.run_out.empty());
}

// The entry of that renewal is in the log, and not applied again yet.
TEST_F(QuorumTimersTest, ASaveKeepsWhatIsAheadOfTheAppliedState) {
    const auto ahead = lease().renewed_at.next();
    SavedCountdowns saved;
    saved.leases = {{{session, ahead}, 5s}};
    timers.restart(saved, node.now());
    EXPECT_EQ(timers.save(node.applied, node.now()).leases, saved.leases);
    EXPECT_NE(timers.save(ahead, node.now()).leases, saved.leases);
}

TEST_F(QuorumTimersTest, ASaveIsDueAgainAndAgain) {
    const auto now = node.now();
    EXPECT_TRUE(timers.take_due_save(node.applied, now));
    EXPECT_FALSE(timers.take_due_save(node.applied, now));
    EXPECT_TRUE(timers.take_due_save(node.applied, now + patience));
}

}  // namespace
}  // namespace mortise::core::test
