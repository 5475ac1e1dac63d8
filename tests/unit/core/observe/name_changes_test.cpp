// The changes of names by each entry: what happened, in order (S46).
#include "tests/unit/core/observe/observing.hpp"

namespace mortise::core {
namespace {

using enum LockMode;

class NameChangesTest : public ObservingTest {};

TEST_F(NameChangesTest, AHoldBeginsAndEnds) {
    EXPECT_EQ(log(acquire(1, 1, exclusive)), "granted a 1.1 X 1");
    EXPECT_EQ(ring_[0].change.node, NodeId{1});
    EXPECT_EQ(ring_[0].change.since, index_);
    EXPECT_EQ(log(acquire(2, 1, exclusive)), "");
    EXPECT_EQ(log(release(1, 2, 1)), "released a 1.1 X 1 clean; granted a 2.1 X 2");
}

TEST_F(NameChangesTest, WhatAnEntryBothBeginsAndEndsIsTold) {  // P2
    EXPECT_EQ(log({acquire(1, 1, exclusive), release(1, 2, 1), acquire(2, 1, shared),
                   acquire(3, 1, shared)}),
              "granted a 1.1 X 1; released a 1.1 X 1 clean; granted a 2.1 S 2; granted a 3.1 S 2");
}

TEST_F(NameChangesTest, TheOwnerOfAHoldIsTold) {
    Acquire asked{{{"a", exclusive}}, true, {}, false, "nightly"};
    asked.locker = {4, "job"};
    log(request(1, 1, asked));
    EXPECT_EQ(ring_[0].change.label, "nightly");
    EXPECT_EQ(ring_[0].change.locker, (LockerTag{4, "job"}));
    log({release(1, 2, 1), acquire(1, 3, exclusive)});
    EXPECT_EQ(ring_[2].change.label, "");
    EXPECT_EQ(ring_[2].change.locker, LockerTag{});
}

class NameChangesInASmallRing : public ObservingTest {
protected:
    NameChangesInASmallRing() : ObservingTest{{.changes = 2}} {}
};

// A full ring gives the memory of a forgotten change to a newer one. Forty changes fill it more
// than once.
TEST_F(NameChangesInASmallRing, NothingIsLeftOfAFormerChange) {
    Acquire asked{{{"a", exclusive}}, true, {}, false, "nightly"};
    asked.locker = {4, "job"};
    log(request(1, 1, asked));
    log(release(1, 2, 1));
    for (std::uint64_t seq = 3; seq < 40; seq += 2) {
        log(acquire(1, seq, exclusive));
        log(release(1, seq + 1, seq));
        for (std::size_t at = 0; at < 2; ++at) {
            EXPECT_EQ(ring_[at].change.label, "");
            EXPECT_EQ(ring_[at].change.locker, LockerTag{});
        }
    }
}

TEST_F(NameChangesTest, AHoldIsConverted) {
    log({acquire(1, 1, update), acquire(2, 1, shared)});
    EXPECT_EQ(log(request(1, 2, Upgrade{Seq{1}, true})), "");
    EXPECT_EQ(log(release(2, 2, 1)), "released a 2.1 S 2 clean; converted a 1.1 X 3");
    EXPECT_EQ(log(request(1, 3, Downgrade{Seq{1}, shared})), "converted a 1.1 S 3");
    EXPECT_EQ(log(request(1, 4, Upgrade{Seq{1}, true})), "converted a 1.1 X 4");
}

TEST_F(NameChangesTest, ACachedGrantIsPublished) {  // S45
    EXPECT_EQ(log(cached(1, 1, 8)), "granted a 1.1 X 1");
    EXPECT_EQ(ring_[0].change.cached_tokens, 8U);
    EXPECT_EQ(log(request(1, 2, Publish{Seq{1}, FencingToken{3}, {5, ""}, "user"})),
              "published a 1.1 X 3");
    EXPECT_EQ(ring_[1].change.cached_tokens, 0U);
    EXPECT_EQ(ring_[1].change.label, "user");
}

TEST_F(NameChangesTest, AnEndedSessionLeavesWhenItIsSwept) {  // S11
    log({acquire(1, 1, exclusive), set(1, 2, 1, "x")});
    EXPECT_EQ(log(expiry(1)), "");
    EXPECT_EQ(log(Sweep{}), "released a 1.1 X 1 expired; value dirty a 1.1 X 1");
    EXPECT_FALSE(ring_[2].change.node.is_set());
}

TEST_F(NameChangesTest, ABrokenHoldEndsOnce) {  // S24
    log({acquire(1, 1, exclusive), set(1, 2, 1, "x"), acquire(2, 1, exclusive)});
    EXPECT_EQ(log(request(3, 1, BreakLock{"a", FencingToken{1}, "test", false})),
              "released a 1.1 X 1 broken; value dirty a 1.1 X 1");
    EXPECT_EQ(log(release(1, 3, 1)), "granted a 2.1 X 2");
    EXPECT_EQ(log(request(3, 2, BreakLock{"a", FencingToken{2}, "test", true})),
              "released a 2.1 X 2 broken");
}

TEST_F(NameChangesTest, AHoldThatKeepsItsNameClosedHasEnded) {  // S8
    Acquire asked{{{"a", exclusive}}, true, {}, false, {}};
    asked.terms.min_hold_ms = 1'000;
    log({request(1, 1, asked), acquire(2, 1, exclusive)});
    EXPECT_EQ(log(release(1, 2, 1)), "released a 1.1 X 1 clean");
    EXPECT_EQ(log(EndClosure{ClosureId{1}}), "granted a 2.1 X 2");
}

TEST_F(NameChangesTest, AValueIsWritten) {  // S36
    log(acquire(1, 1, exclusive));
    EXPECT_EQ(log(set(1, 2, 1, "x")), "value set a 1.1 X 1 =x");
    EXPECT_EQ(log(set(1, 3, 1, "y")), "value set a 1.1 X 1 =y");
    EXPECT_EQ(ring_[2].change.version, 2U);
    EXPECT_EQ(log(request(1, 4, MarkConsistent{Seq{1}, "a"})), "");
    EXPECT_EQ(log(set(1, 5, 1, "")), "value removed a 1.1 X 1");
    EXPECT_EQ(log(set(1, 6, 1, "")), "");
}

TEST_F(NameChangesTest, AValueIsDirtyUntilItIsConsistent) {  // S36
    log({acquire(1, 1, exclusive), set(1, 2, 1, "x"), expiry(1), Sweep{}});
    EXPECT_EQ(log({acquire(2, 1, exclusive), set(2, 2, 1, "y")}),
              "granted a 2.1 X 2; value set a 2.1 X 2 =y still dirty");
    EXPECT_EQ(log(request(2, 3, MarkConsistent{Seq{1}, "a"})), "consistent a 2.1 X 2");
    EXPECT_EQ(log(request(2, 4, MarkConsistent{Seq{1}, "a"})), "");
}

}  // namespace
}  // namespace mortise::core
