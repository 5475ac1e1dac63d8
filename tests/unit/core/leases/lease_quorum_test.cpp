// The leader's part of expiry (S4): whose reports count, and when they are enough.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "core/leases/timer_votes.hpp"
#include "core/locks/table/session_table.hpp"

namespace mortise::core {
namespace {

using testing::ElementsAre;
using testing::IsEmpty;

constexpr NodeId self{1};
constexpr LogIndex opened_at{5};

Member member(std::uint64_t id) {
    return {NodeId{id}, Incarnation{100 + id}, {}};
}

class LeaseQuorumTest : public testing::Test {
protected:
    LeaseQuorumTest() {
        configuration_.cluster = {1, 1};
        configuration_.voters = {member(1), member(2), member(3)};
        OpenSession request;
        request.nonce = 7;
        session_ = sessions_.open(request, opened_at).id;
    }

    [[nodiscard]] RenewedLease run_out(LogIndex renewed_at = opened_at) const {
        return {session_, renewed_at};
    }
    void report(std::uint64_t from) { quorum_.report(NodeId{from}, {run_out()}); }
    std::vector<RenewedLease> decide(const std::set<RenewedLease>& own = {}) {
        return quorum_.decide(
            {configuration_, self, own},
            [this](const RenewedLease& lease) {
                return sessions_.is_newest_renewal(lease.session, lease.renewed_at);
            },
            [this](const RenewedLease&) { return !has_renewal_; });
    }

    Configuration configuration_;
    SessionTable sessions_;
    SessionId session_;
    TimerVotes<RenewedLease> quorum_;
    bool has_renewal_ = false;
};

TEST_F(LeaseQuorumTest, OneClockExpiresNothing) {  // P3
    EXPECT_THAT(decide({run_out()}), IsEmpty());
    report(2);
    EXPECT_THAT(decide(), IsEmpty());
}

TEST_F(LeaseQuorumTest, AMajorityDoes) {
    report(2);
    EXPECT_THAT(decide({run_out()}), ElementsAre(run_out()));
}

TEST_F(LeaseQuorumTest, TheOthersAreEnoughWithoutTheLeader) {
    report(2);
    report(3);
    EXPECT_THAT(decide(), ElementsAre(run_out()));
}

TEST_F(LeaseQuorumTest, ReportsUnderTheLeadersOwnNameDoNotCount) {
    report(self.raw());
    report(2);
    EXPECT_THAT(decide(), IsEmpty());
}

TEST_F(LeaseQuorumTest, EachRenewalIsExpiredOnce) {
    report(2);
    EXPECT_THAT(decide({run_out()}), ElementsAre(run_out()));
    report(3);
    EXPECT_THAT(decide({run_out()}), IsEmpty());
}

TEST_F(LeaseQuorumTest, ANodeWithoutAVoteDoesNotCount) {
    configuration_.voters = {member(1), member(2), member(3), member(4), member(5)};
    configuration_.learners = {member(6)};
    report(2);
    report(6);
    report(9);
    EXPECT_THAT(decide({run_out()}), IsEmpty());
    report(3);
    EXPECT_THAT(decide({run_out()}), ElementsAre(run_out()));
}

TEST_F(LeaseQuorumTest, VotersAreCountedAtThatMomentInBothHalvesOfAChange) {
    configuration_.outgoing = {member(1), member(4), member(5)};
    report(2);
    report(3);
    EXPECT_THAT(decide({run_out()}), IsEmpty());
    report(4);
    EXPECT_THAT(decide({run_out()}), ElementsAre(run_out()));
}

TEST_F(LeaseQuorumTest, ARenewalSinceMakesReportsVoid) {
    report(2);
    report(3);
    sessions_.change(session_)->renewed_at = LogIndex{8};
    EXPECT_THAT(decide({run_out()}), IsEmpty());
    quorum_.report(NodeId{2}, {run_out(LogIndex{8})});
    EXPECT_THAT(decide({run_out(LogIndex{8})}), ElementsAre(run_out(LogIndex{8})));
}

TEST_F(LeaseQuorumTest, ARenewalOnItsWayHoldsItBack) {
    report(2);
    has_renewal_ = true;
    EXPECT_THAT(decide({run_out()}), IsEmpty());
    has_renewal_ = false;
    EXPECT_THAT(decide({run_out()}), ElementsAre(run_out()));
}

TEST_F(LeaseQuorumTest, ASessionThatEndedIsNotExpired) {
    report(2);
    sessions_.remove(session_);
    EXPECT_THAT(decide({run_out()}), IsEmpty());
}

// A follower continues to report until it has applied the end, and its reports take time.
TEST_F(LeaseQuorumTest, NothingIsKeptOfASessionThatEnded) {  // P11
    report(2);
    sessions_.remove(session_);
    quorum_.forget(session_);
    report(3);
    EXPECT_THAT(decide(), IsEmpty());
    EXPECT_EQ(quorum_.pending(), 0U);
}

TEST_F(LeaseQuorumTest, WhatWasHeardOrDecidedInAnotherTermDoesNotCount) {  // B-R4
    report(2);
    EXPECT_THAT(decide({run_out()}), ElementsAre(run_out()));
    quorum_.clear();
    EXPECT_THAT(decide({run_out()}), IsEmpty());
    report(3);
    EXPECT_THAT(decide({run_out()}), ElementsAre(run_out()));
}

TEST_F(LeaseQuorumTest, ASessionIsForgottenWithoutTheOthers) {
    OpenSession request;
    request.nonce = 8;
    const auto other = sessions_.open(request, LogIndex{6}).id;
    const RenewedLease of_other{other, LogIndex{6}};
    quorum_.report(NodeId{2}, {run_out(), of_other});
    quorum_.forget(session_);
    EXPECT_THAT(decide({run_out(), of_other}), ElementsAre(of_other));
}

}  // namespace
}  // namespace mortise::core
