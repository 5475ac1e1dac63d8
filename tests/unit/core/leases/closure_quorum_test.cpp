// Quorum timers of names and holds (S24): every voter counts them, and a majority decides.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "core/leases/countdowns.hpp"
#include "core/leases/timer_votes.hpp"

namespace mortise::core {
namespace {

using namespace std::chrono_literals;
using testing::ElementsAre;
using testing::IsEmpty;

constexpr ClosureId first{1};
constexpr ClosureId second{2};
const CountdownTimes ten_seconds = closure_times(10'000, 0);

Instant at(Nanoseconds time) {
    return Instant{1'000'000'000} + time;
}

TEST(ClosureCountdowns, RunOutWhenTheirTimeIsOver) {
    Countdowns<ClosureId> closures;
    closures.start(first, ten_seconds, 0s, at(0s));
    closures.start(second, ten_seconds, 4s, at(0s));
    closures.saved(at(5s));
    EXPECT_EQ(closures.deadline(), at(6s));
    closures.advance(at(6s));
    EXPECT_THAT(closures.run_out(), ElementsAre(second));
    closures.saved(at(9s));
    EXPECT_EQ(closures.deadline(), at(10s));
    closures.advance(at(10s) - 1ns);
    EXPECT_THAT(closures.run_out(), ElementsAre(second));
    closures.advance(at(10s));
    EXPECT_THAT(closures.run_out(), ElementsAre(first, second));
}

TEST(ClosureCountdowns, OneThatWasStoppedNeverRunsOut) {
    Countdowns<ClosureId> closures;
    closures.start(first, ten_seconds, 0s, at(0s));
    closures.start(second, closure_times(1'000, 0), 0s, at(0s));
    closures.advance(at(2s));
    closures.stop(first);
    closures.stop(second);
    EXPECT_THAT(closures.run_out(), IsEmpty());
    closures.saved(at(2s));
    EXPECT_EQ(closures.deadline(), Instant::never());
}

TEST(ClosureCountdowns, AreSavedWithTheTimeThatIsOver) {
    Countdowns<ClosureId> closures;
    closures.start(first, ten_seconds, 3s, at(0s));
    EXPECT_THAT(closures.save(at(2s)), ElementsAre(SavedCountdown<ClosureId>{first, 5s}));
    EXPECT_EQ(closures.save_at(), at(1'250ms));
    closures.saved(at(2s));
    EXPECT_EQ(closures.save_at(), at(3'250ms));
}

class ClosureQuorumTest : public testing::Test {
protected:
    ClosureQuorumTest() {
        configuration_.cluster = {1, 1};
        for (std::uint64_t id = 1; id <= 3; ++id)
            configuration_.voters.push_back({NodeId{id}, Incarnation{100 + id}, {}});
        configuration_.learners.push_back({NodeId{4}, Incarnation{104}, {}});
    }

    void report(std::uint64_t from) { quorum_.report(NodeId{from}, {first}); }
    std::vector<ClosureId> decide(const std::set<ClosureId>& own = {}) {
        return quorum_.decide({configuration_, NodeId{1}, own},
                              [this](ClosureId) { return is_there_; });
    }

    Configuration configuration_;
    TimerVotes<ClosureId> quorum_;
    bool is_there_ = true;
};

TEST_F(ClosureQuorumTest, OneClockEndsNothing) {  // S5
    EXPECT_THAT(decide({first}), IsEmpty());
    report(4);  // a node without a vote does not count
    EXPECT_THAT(decide({first}), IsEmpty());
}

TEST_F(ClosureQuorumTest, AMajorityDoesAndOnce) {
    report(2);
    EXPECT_THAT(decide({first}), ElementsAre(first));
    EXPECT_THAT(decide({first}), IsEmpty());
    report(3);
    EXPECT_THAT(decide(), IsEmpty());
}

TEST_F(ClosureQuorumTest, WhatIsNotThereIsForgotten) {
    is_there_ = false;
    report(2);
    EXPECT_THAT(decide({first}), IsEmpty());
    is_there_ = true;
    EXPECT_THAT(decide({first}), IsEmpty());
}

TEST_F(ClosureQuorumTest, AnotherTermHearsAgain) {
    report(2);
    quorum_.clear();
    EXPECT_THAT(decide({first}), IsEmpty());
}

}  // namespace
}  // namespace mortise::core
