// Requests: exactly once, cancels, releases (S16-S22).
#include "core/base/check.hpp"
#include "tests/unit/core/locks/machine_fixture.hpp"

namespace mortise::core {
namespace {

using enum LockMode;

using LockMachineRequests = LockMachineTest;

constexpr auto granted = "1.1 granted token=1 previous=none/0/";

TEST_F(LockMachineRequests, TheGrantIsTheAnswerOfTheWaitingAcquire) {  // S16
    EXPECT_EQ(put(acquire(1, 1, exclusive)), granted);
    EXPECT_EQ(put(acquire(2, 1, exclusive)), "2.1 queued");
    EXPECT_EQ(put(release(1, 2, 1)), "1.2 released; 2.1 granted token=2 previous=clean/1/");
}

TEST_F(LockMachineRequests, ARepeatGetsTheSameAnswer) {  // S17
    const auto busy = try_acquire(2, 1, shared);
    const auto freed = release(1, 2, 1);
    put(acquire(1, 1, exclusive));
    EXPECT_EQ(put(busy), "2.1 busy");
    EXPECT_EQ(put(freed), "1.2 released");
    EXPECT_EQ(put(acquire(1, 1, exclusive)), granted);  // takes nothing a second time
    EXPECT_EQ(shown(), "|");
    EXPECT_EQ(put(busy), "2.1 busy");
    EXPECT_EQ(put(freed), "1.2 released");
    EXPECT_EQ(machine_.table().newest_token(), FencingToken{1});
}

TEST_F(LockMachineRequests, ARepeatOfAQueuedOneAttachesAgain) {  // S17
    put(acquire(1, 1, exclusive));
    put(acquire(2, 1, shared));
    put(acquire(3, 1, exclusive));
    EXPECT_EQ(put(acquire(2, 1, shared)), "2.1 queued");
    EXPECT_EQ(shown(), "1:X:1 | 2:S 3:X");
}

TEST_F(LockMachineRequests, AnAnswerIsKeptUntilItWasReceived) {  // S17
    put(acquire(1, 1, exclusive));                               // at index 4
    put(Acknowledge{SessionId{1}, LogIndex{3}});
    EXPECT_EQ(put(acquire(1, 1, exclusive)), granted);
    put(Acknowledge{SessionId{2}, LogIndex{4}});  // of another session
    EXPECT_EQ(put(acquire(1, 1, exclusive)), granted);
    put(Acknowledge{SessionId{1}, LogIndex{4}});
    EXPECT_EQ(put(acquire(1, 1, exclusive)), "1.1 stale_request");
    EXPECT_EQ(put(acquire(1, 1, exclusive)), "1.1 stale_request");
    EXPECT_EQ(shown(), "1:X:1 |");
    EXPECT_EQ(put(release(1, 2, 1)), "1.2 released");
}

TEST_F(LockMachineRequests, TheGrantOfAWaiterIsKeptFromItsOwnIndexOn) {  // S17
    put(acquire(1, 1, exclusive));
    put(acquire(2, 1, exclusive));  // queued at 5
    put(release(1, 2, 1));          // granted at 6
    put(Acknowledge{SessionId{2}, LogIndex{5}});
    EXPECT_EQ(put(acquire(2, 1, exclusive)), "2.1 granted token=2 previous=clean/1/");
    put(Acknowledge{SessionId{2}, LogIndex{6}});
    EXPECT_EQ(put(acquire(2, 1, exclusive)), "2.1 stale_request");
}

TEST_F(LockMachineRequests, AnUnknownSessionGetsNoAnswer) {
    EXPECT_EQ(put(acquire(9, 1, exclusive)), "");
    put(close(1));
    EXPECT_EQ(put(acquire(1, 1, exclusive)), "");
    EXPECT_EQ(shown(), "|");
}

TEST_F(LockMachineRequests, APredecessorThatHasNotArrivedIsWaitedFor) {  // S20
    const auto later = request(1, 2, Acquire{"a", exclusive, false, {}, false, {}}, 1);
    EXPECT_EQ(put(later), "");
    EXPECT_EQ(shown(), "|");
    put(acquire(1, 1, exclusive, "b"));
    EXPECT_EQ(put(later), "1.2 granted token=2 previous=none/0/");
}

TEST_F(LockMachineRequests, UnlockThenTryLockSucceeds) {  // S20
    put(acquire(1, 1, exclusive));
    const auto again = request(1, 3, Acquire{"a", exclusive, false, {}, false, {}}, 2);
    EXPECT_EQ(put({again, release(1, 2, 1), again}),
              "1.2 released; 1.3 granted token=2 previous=none/0/");
}

TEST_F(LockMachineRequests, ATryLeavesNothingBehind) {  // S20
    put(acquire(1, 1, shared));
    put(acquire(2, 1, exclusive));
    EXPECT_EQ(put(try_acquire(3, 1, shared)), "3.1 busy");
    EXPECT_EQ(shown(), "1:S:1 | 2:X");
    EXPECT_EQ(put(release(1, 2, 1)), "1.2 released; 2.1 granted token=2 previous=clean/1/");
}

TEST_F(LockMachineRequests, ACancelledWaiterNeverHolds) {  // S18
    put(acquire(1, 1, exclusive));
    put(acquire(2, 1, exclusive));
    EXPECT_EQ(put(cancel(2, 2, 1)), "2.1 cancelled; 2.2 cancelled");
    EXPECT_EQ(put(release(1, 2, 1)), "1.2 released");
    EXPECT_EQ(put(acquire(2, 1, exclusive)), "2.1 cancelled");
    EXPECT_EQ(put(cancel(2, 2, 1)), "2.2 cancelled");
    EXPECT_EQ(shown(), "|");
}

TEST_F(LockMachineRequests, ACancelAfterTheGrantFreesIt) {  // S18
    put(acquire(1, 1, exclusive));
    put(acquire(2, 1, exclusive));
    EXPECT_EQ(put(cancel(1, 2, 1)), "1.2 released; 2.1 granted token=2 previous=clean/1/");
    EXPECT_EQ(put(cancel(1, 3, 1)), "1.3 not_held");
}

TEST_F(LockMachineRequests, ACancelThatOvertakesItsOperationIsRemembered) {  // S18
    EXPECT_EQ(put(cancel(1, 2, 1)), "1.1 cancelled; 1.2 cancelled");
    EXPECT_EQ(put(acquire(1, 1, exclusive)), "1.1 cancelled");
    EXPECT_EQ(shown(), "|");
    put(Acknowledge{SessionId{1}, LogIndex{99}});
    EXPECT_EQ(put(acquire(1, 1, exclusive)), "1.1 stale_request");
    EXPECT_EQ(shown(), "|");
}

TEST_F(LockMachineRequests, ACancelledOperationCountsAsArrived) {  // S18, S20
    put(cancel(1, 2, 1));
    EXPECT_EQ(put(request(1, 3, Acquire{"a", exclusive, true, {}, false, {}}, 1)),
              "1.3 granted token=1 previous=none/0/");
}

TEST_F(LockMachineRequests, ACancelOfWhatIsOverIsNotHeld) {  // S18
    put(acquire(1, 1, exclusive));
    put(try_acquire(2, 1, exclusive));
    EXPECT_EQ(put(cancel(2, 2, 1)), "2.2 not_held");  // was busy
    put(release(1, 2, 1));
    EXPECT_EQ(put(cancel(1, 3, 1)), "1.3 not_held");  // released
    EXPECT_EQ(put(cancel(1, 4, 2)), "1.4 not_held");  // a release
    EXPECT_EQ(put(cancel(1, 5, 5)), "1.5 not_held");  // itself
}

TEST_F(LockMachineRequests, ACancelFindsItsWaiterGrantedByTheDeathOfTheHolder) {  // S11, S18
    put(acquire(1, 1, exclusive));
    put(acquire(2, 1, exclusive));
    put(acquire(3, 1, exclusive));
    put(expiry(1));
    EXPECT_EQ(put(cancel(2, 2, 1)),
              "2.2 released; 2.1 granted token=2 previous=expired/1/; "
              "3.1 granted token=3 previous=clean/2/");
    EXPECT_EQ(shown(), "3:X:3 |");
}

TEST_F(LockMachineRequests, AReleaseFindsItsWaiterGrantedByTheDeathOfTheHolder) {  // S11, S19
    put(acquire(1, 1, exclusive));
    put(acquire(2, 1, exclusive));
    put(expiry(1));
    EXPECT_EQ(put(release(2, 2, 1)), "2.2 released; 2.1 granted token=2 previous=expired/1/");
    EXPECT_EQ(shown(), "|");
}

TEST_F(LockMachineRequests, AReleaseLetsTheWaitersOfDeadOnesIn) {  // S11, S19
    put(acquire(1, 1, shared));
    put(acquire(2, 1, shared));
    put(acquire(3, 1, exclusive));
    put(acquire(2, 2, shared));
    put(expiry(3));
    EXPECT_EQ(put(release(1, 2, 1)), "1.2 released; 2.2 granted token=1 previous=none/0/");
}

TEST_F(LockMachineRequests, AStaleReleaseNeverFreesANewerHold) {  // S19
    put(acquire(1, 1, exclusive));
    put(release(1, 2, 1));
    put(acquire(1, 3, exclusive));
    EXPECT_EQ(put(release(1, 4, 1)), "1.4 not_held");
    EXPECT_EQ(put(release(1, 2, 1)), "1.2 released");  // a repeat of the first one
    EXPECT_EQ(shown(), "1:X:2 |");
}

TEST_F(LockMachineRequests, AReleaseFreesOnlyWhatItsSessionHolds) {  // S19, S21
    put(acquire(1, 1, exclusive));
    put(acquire(2, 1, exclusive));
    EXPECT_EQ(put(release(2, 2, 1)), "2.2 not_held");  // waits
    EXPECT_EQ(put(release(3, 2, 1)), "3.2 not_held");  // has not arrived
    EXPECT_EQ(put(release(2, 3, 7)), "2.3 not_held");
    EXPECT_EQ(shown(), "1:X:1 | 2:X");
    EXPECT_EQ(put(acquire(3, 1, shared, "b")), "3.1 granted token=2 previous=none/0/");
}

TEST_F(LockMachineRequests, TwoHoldsOfOneSessionConflictLikeAnyTwo) {  // S22
    put(acquire(1, 1, exclusive));
    EXPECT_EQ(put(acquire(1, 2, exclusive)), "1.2 queued");
    EXPECT_EQ(put(release(1, 3, 1)), "1.3 released; 1.2 granted token=2 previous=clean/1/");
}

TEST_F(LockMachineRequests, CommandsOfOneEntryTakeEffectInTheirOrder) {
    EXPECT_EQ(put({acquire(1, 1, exclusive), acquire(2, 1, exclusive), acquire(3, 1, shared),
                   release(1, 2, 1)}),
              "2.1 queued; 3.1 queued; 1.2 released; 1.1 granted token=1 previous=none/0/; "
              "3.1 granted token=2 previous=clean/1/");
    EXPECT_EQ(shown(), "3:S:2 | 2:X");
}

TEST_F(LockMachineRequests, TheLogDoesNotGoBack) {
    Outcomes outcomes;
    EXPECT_THROW(machine_.apply(LogIndex{3}, {}, outcomes), InvariantBroken);
}

}  // namespace
}  // namespace mortise::core
