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

TEST_F(LockMachineRequests, ARepeatGetsTheSameAnswer) {  // S17, P6, B-A8
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

TEST_F(LockMachineRequests, ARepeatOfAQueuedRequestIsAttachedAgain) {  // S17, P6
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

TEST_F(LockMachineRequests, ARequestAheadOfAMissingOneHasNoEffect) {  // S17, P6
    const auto ahead = try_acquire(1, 2, exclusive);
    EXPECT_EQ(put_ahead(ahead), "");
    EXPECT_EQ(put_ahead(ahead), "");
    EXPECT_EQ(shown(), "|");
    EXPECT_EQ(machine_.sessions().find(SessionId{1})->applied, Seq{});
    EXPECT_EQ(put(acquire(1, 1, exclusive, "b")), granted);
    EXPECT_EQ(put(ahead), "1.2 granted token=2 previous=none/0/");
}

TEST_F(LockMachineRequests, AMissingRequestIsAppliedWhenItComes) {  // S17
    EXPECT_EQ(put_as_it_is({release(1, 2, 1), release(1, 3, 1)}), "");
    EXPECT_EQ(put(acquire(1, 1, exclusive)), granted);
    EXPECT_EQ(put({release(1, 2, 1), release(1, 3, 1)}), "1.2 released; 1.3 not_held");
}

TEST_F(LockMachineRequests, ARepeatBehindAGapHasNoEffect) {  // S17
    put(acquire(1, 1, exclusive));
    put(release(1, 2, 1));
    EXPECT_EQ(put_ahead(acquire(1, 4, exclusive)), "");
    EXPECT_EQ(put(acquire(1, 1, exclusive)), granted);
    EXPECT_EQ(put(release(1, 2, 1)), "1.2 released");
    EXPECT_EQ(put_ahead(acquire(1, 4, exclusive)), "");
    EXPECT_EQ(shown(), "|");
    EXPECT_EQ(put(acquire(1, 3, exclusive)), "1.3 granted token=2 previous=none/0/");
}

// A node sends its requests again to a new leader: none, some or all of them had arrived before.
TEST_F(LockMachineRequests, AStreamThatIsSentAgainTakesEffectOnce) {  // S17
    const std::vector<Command> stream{acquire(1, 1, exclusive), release(1, 2, 1),
                                      acquire(1, 3, shared), cancel(1, 4, 3),
                                      acquire(1, 5, exclusive)};
    put_as_it_is({stream[0], stream[2], stream[3], stream[4]});
    EXPECT_EQ(shown(), "1:X:1 |");
    put(stream);
    EXPECT_EQ(shown(), "1:X:3 |");
    EXPECT_EQ(put(stream),
              "1.2 released; 1.4 released; 1.1 granted token=1 previous=none/0/; "
              "1.3 granted token=2 previous=none/0/; 1.5 granted token=3 previous=none/0/");
    EXPECT_EQ(shown(), "1:X:3 |");
}

TEST_F(LockMachineRequests, UnlockThenTryLockSucceeds) {  // S20
    put(acquire(1, 1, exclusive));
    const auto again = try_acquire(1, 3, exclusive);
    EXPECT_EQ(put_as_it_is({again, release(1, 2, 1), again}),
              "1.2 released; 1.3 granted token=2 previous=none/0/");
}

TEST_F(LockMachineRequests, ADeclinedRequestIsAnsweredAndTheOthersProceed) {  // P11, S17
    put(acquire(1, 1, exclusive));
    const auto declined = request(1, 2, Declined{});
    EXPECT_EQ(put(declined), "1.2 resource_exhausted");
    EXPECT_EQ(put(declined), "1.2 resource_exhausted");
    // The declined request does not take effect when it is sent again with its number.
    EXPECT_EQ(put(acquire(1, 2, shared)), "1.2 resource_exhausted");
    EXPECT_EQ(shown(), "1:X:1 |");
    EXPECT_EQ(put(cancel(1, 3, 2)), "1.3 not_held");
    EXPECT_EQ(put(release(1, 4, 1)), "1.4 released");
    put(Acknowledge{SessionId{1}, index_});
    EXPECT_EQ(put(declined), "1.2 stale_request");
}

TEST_F(LockMachineRequests, ACloseIsTheLastRequestOfItsStream) {  // S10, S17
    put(acquire(1, 1, exclusive));
    put(acquire(2, 1, exclusive));
    const auto last = request(1, 3, CloseSession{});
    EXPECT_EQ(put_ahead(last), "");
    EXPECT_EQ(shown(), "1:X:1 | 2:X");
    EXPECT_EQ(put({acquire(1, 2, exclusive, "b"), last, acquire(1, 4, exclusive, "c")}),
              "ended 1 closed; 1.2 granted token=2 previous=none/0/");
    EXPECT_EQ(put(last), "");
    EXPECT_EQ(put(Command{Sweep{}}), "2.1 granted token=3 previous=clean/1/");
    EXPECT_EQ(shown("b") + shown("c"), "||");
}

TEST_F(LockMachineRequests, ATryLeavesNothingBehind) {  // S20
    put(acquire(1, 1, shared));
    put(acquire(2, 1, exclusive));
    EXPECT_EQ(put(try_acquire(3, 1, shared)), "3.1 busy");
    EXPECT_EQ(shown(), "1:S:1 | 2:X");
    EXPECT_EQ(put(release(1, 2, 1)), "1.2 released; 2.1 granted token=2 previous=clean/1/");
}

TEST_F(LockMachineRequests, ACancelledWaiterNeverHolds) {  // S18, P6
    put(acquire(1, 1, exclusive));
    put(acquire(2, 1, exclusive));
    EXPECT_EQ(put(cancel(2, 2, 1)), "2.1 cancelled; 2.2 cancelled");
    EXPECT_EQ(put(release(1, 2, 1)), "1.2 released");
    EXPECT_EQ(put(acquire(2, 1, exclusive)), "2.1 cancelled");
    EXPECT_EQ(put(cancel(2, 2, 1)), "2.2 cancelled");
    EXPECT_EQ(shown(), "|");
}

TEST_F(LockMachineRequests, ACancelAfterTheGrantReleasesIt) {  // S18, P6
    put(acquire(1, 1, exclusive));
    put(acquire(2, 1, exclusive));
    EXPECT_EQ(put(cancel(1, 2, 1)), "1.2 released; 2.1 granted token=2 previous=clean/1/");
    EXPECT_EQ(put(cancel(1, 3, 1)), "1.3 not_held");
}

TEST_F(LockMachineRequests, ACancelOfALaterRequestHasNoEffect) {  // S17, S18
    EXPECT_EQ(put(cancel(1, 1, 2)), "1.1 not_held");
    EXPECT_EQ(put(acquire(1, 2, exclusive)), "1.2 granted token=1 previous=none/0/");
    EXPECT_EQ(put(cancel(1, 1, 2)), "1.1 not_held");  // the same answer, and no more
    EXPECT_EQ(shown(), "1:X:1 |");
    EXPECT_EQ(put(cancel(1, 3, 2)), "1.3 released");
}

TEST_F(LockMachineRequests, ACancelOfAnEndedOperationIsNotHeld) {  // S18
    put(acquire(1, 1, exclusive));
    put(try_acquire(2, 1, exclusive));
    EXPECT_EQ(put(cancel(2, 2, 1)), "2.2 not_held");  // was busy
    put(release(1, 2, 1));
    EXPECT_EQ(put(cancel(1, 3, 1)), "1.3 not_held");  // released
    EXPECT_EQ(put(cancel(1, 4, 2)), "1.4 not_held");  // a release
    EXPECT_EQ(put(cancel(1, 5, 5)), "1.5 not_held");  // itself
}

TEST_F(LockMachineRequests, ACancelFindsItsWaiterGrantedByTheHoldersDeath) {  // S11, S18
    put(acquire(1, 1, exclusive));
    put(acquire(2, 1, exclusive));
    put(acquire(3, 1, exclusive));
    put(expiry(1));
    EXPECT_EQ(put(cancel(2, 2, 1)),
              "2.2 released; 2.1 granted token=2 previous=expired/1/; "
              "3.1 granted token=3 previous=clean/2/");
    EXPECT_EQ(shown(), "3:X:3 |");
}

TEST_F(LockMachineRequests, AReleaseFindsItsWaiterGrantedByTheHoldersDeath) {  // S11, S19
    put(acquire(1, 1, exclusive));
    put(acquire(2, 1, exclusive));
    put(expiry(1));
    EXPECT_EQ(put(release(2, 2, 1)), "2.2 released; 2.1 granted token=2 previous=expired/1/");
    EXPECT_EQ(shown(), "|");
}

TEST_F(LockMachineRequests, AReleaseGrantsThoseBehindDeadWaiters) {  // S11, S19
    put(acquire(1, 1, shared));
    put(acquire(2, 1, shared));
    put(acquire(3, 1, exclusive));
    put(acquire(2, 2, shared));
    put(expiry(3));
    EXPECT_EQ(put(release(1, 2, 1)), "1.2 released; 2.2 granted token=1 previous=none/0/");
}

TEST_F(LockMachineRequests, AStaleReleaseNeverReleasesANewerHold) {  // S19
    put(acquire(1, 1, exclusive));
    put(release(1, 2, 1));
    put(acquire(1, 3, exclusive));
    EXPECT_EQ(put(release(1, 4, 1)), "1.4 not_held");
    EXPECT_EQ(put(release(1, 2, 1)), "1.2 released");  // a repeat of the first one
    EXPECT_EQ(shown(), "1:X:2 |");
}

TEST_F(LockMachineRequests, AReleaseReleasesOnlyAHoldOfItsSession) {  // S19, S21
    put(acquire(1, 1, exclusive));
    put(acquire(2, 1, exclusive));
    EXPECT_EQ(put(release(2, 2, 1)), "2.2 not_held");  // waits
    EXPECT_EQ(put(release(3, 1, 2)), "3.1 not_held");  // is yet to come
    EXPECT_EQ(put(release(2, 3, 7)), "2.3 not_held");
    EXPECT_EQ(shown(), "1:X:1 | 2:X");
    EXPECT_EQ(put(acquire(3, 2, shared, "b")), "3.2 granted token=2 previous=none/0/");
}

TEST_F(LockMachineRequests, TwoHoldsOfOneSessionConflictLikeAnyTwo) {  // S22
    put(acquire(1, 1, exclusive));
    EXPECT_EQ(put(acquire(1, 2, exclusive)), "1.2 queued");
    EXPECT_EQ(put(release(1, 3, 1)), "1.3 released; 1.2 granted token=2 previous=clean/1/");
}

TEST_F(LockMachineRequests, CommandsOfOneEntryTakeEffectInTheirOrder) {  // B-A5
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
