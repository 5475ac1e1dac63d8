// Wait cycles between lockers (S33). An answer shows each step as session/locker/label>name.
#include "tests/unit/core/locks/machine_fixture.hpp"

namespace mortise::core {
namespace {

using enum LockMode;

class Deadlocks : public LockMachineTest {
protected:
    using Which = Acquire::Which;
    using Names = ShortList<NamedMode>;

    // A request of locker 1 of the session, if no other is given; zero means no locker.
    static Request asks(std::uint64_t session, std::uint64_t seq, const std::string& name,
                        LockMode mode = exclusive, std::uint64_t locker = 1,
                        QueuePolicy policy = QueuePolicy::phase_fair) {
        return request(session, seq,
                       Acquire{{{name, mode}}, true, policy, false, {}, 0, {locker, {}}});
    }
    static Request asks_any(std::uint64_t session, std::uint64_t seq, Names names) {
        return several(session, seq, Which::any, std::move(names), 1);
    }
    static Request asks_all(std::uint64_t session, std::uint64_t seq, Names names,
                            std::uint64_t locker = 1) {
        return several(session, seq, Which::all, std::move(names), locker);
    }
    static Request several(std::uint64_t session, std::uint64_t seq, Which which, Names names,
                           std::uint64_t locker) {
        Acquire several{std::move(names), true, {}, false, {}, 0, {}, {}, which};
        several.locker.number = locker;
        return request(session, seq, std::move(several));
    }
};

// --- waiting for holders ------------------------------------------------------------------------

TEST_F(Deadlocks, TheRequestThatCompletesACycleIsRefusedAndToldTheCycle) {  // S33, P9
    put(asks(1, 1, "a"));
    put(asks(2, 1, "b"));
    EXPECT_EQ(put(asks(1, 2, "b")), "1.2 queued");
    EXPECT_EQ(put(asks(2, 2, "a")), "2.2 deadlock 2/1/>a 1/1/>b");
    EXPECT_EQ(shown("a") + shown("b"), "1:X:1 |2:X:2 | 1:X");
    EXPECT_EQ(put(release(2, 3, 1)), "2.3 released; 1.2 granted token=3 previous=clean/2/");
}

TEST_F(Deadlocks, ARepeatGetsTheSameAnswer) {  // S17
    put(asks(1, 1, "a"));
    put(asks(2, 1, "b"));
    put(asks(1, 2, "b"));
    const auto said = put(asks(2, 2, "a"));
    put(release(1, 3, 1));
    EXPECT_EQ(put(asks(2, 2, "a")), said);
}

TEST_F(Deadlocks, ACycleHasAnyNumberOfLockers) {  // S33
    for (std::uint64_t i = 1; i <= 3; ++i)
        put(asks(i, 1, std::to_string(i)));
    put(asks(1, 2, "2"));
    EXPECT_EQ(put(asks(2, 2, "3")), "2.2 queued");
    EXPECT_EQ(put(asks(3, 2, "1")), "3.2 deadlock 3/1/>1 1/1/>2 2/1/>3");
}

TEST_F(Deadlocks, TwoLockersOfOneSessionAreTwo) {  // S22
    put(asks(1, 1, "a", exclusive, 1));
    put(asks(1, 2, "b", exclusive, 2));
    put(asks(1, 3, "b", exclusive, 1));
    EXPECT_EQ(put(asks(1, 4, "a", exclusive, 2)), "1.4 deadlock 1/2/>a 1/1/>b");
}

TEST_F(Deadlocks, ALockerThatWaitsForItselfIsACycle) {  // S27
    put(asks(1, 1, "a", shared));
    EXPECT_EQ(put(asks(1, 2, "a")), "1.2 deadlock 1/1/>a");
}

TEST_F(Deadlocks, TheCycleHasTheLabelsOfTheWaiting) {  // S33: the locker's, or else the request's
    put(asks(1, 1, "a"));
    put(asks(2, 1, "b"));
    put(request(1, 2, Acquire{{{"b", exclusive}}, true, {}, false, "of it", 0, {1, "who"}}));
    EXPECT_EQ(put(request(2, 2, Acquire{{{"a", exclusive}}, true, {}, false, "of it", 0, {1, {}}})),
              "2.2 deadlock 2/1/of it>a 1/1/who>b");
}

TEST_F(Deadlocks, HoldsWithoutALockerMakeNoCycle) {  // S33
    put(asks(1, 1, "a", exclusive, 0));
    put(asks(2, 1, "b"));
    EXPECT_EQ(put(asks(1, 2, "b", exclusive, 0)), "1.2 queued");
    EXPECT_EQ(put(asks(2, 2, "a")), "2.2 queued");
}

TEST_F(Deadlocks, ARequestWithoutALockerHasEdgesLikeAnyOther) {  // S33
    put(asks(1, 1, "a", shared, 1, QueuePolicy::fifo));
    put(asks(2, 1, "b"));
    put(asks(3, 1, "a", exclusive, 0));
    put(asks(2, 2, "a", shared));  // only the one without a locker is in its way
    EXPECT_EQ(put(asks(1, 2, "b")), "1.2 deadlock 1/1/>b 2/1/>a 3/0/>a");
}

TEST_F(Deadlocks, CompatibleHoldersAreNotWaitedFor) {  // S33
    put(asks(1, 1, "a", shared));
    put(asks(2, 1, "b"));
    put(asks(1, 2, "b"));
    EXPECT_EQ(put(asks(2, 2, "a", shared)), "2.2 granted token=1 previous=none/0/");
}

TEST_F(Deadlocks, ATryCompletesNoCycle) {  // S20
    put(asks(1, 1, "a"));
    put(asks(2, 1, "b"));
    put(asks(1, 2, "b"));
    auto tries = asks(2, 2, "a");
    std::get<Acquire>(tries.body).wait = false;
    EXPECT_EQ(put(tries), "2.2 busy");
}

// --- waiting for those in front -----------------------------------------------------------------

TEST_F(Deadlocks, WithFifoEveryEarlierRequestIsWaitedFor) {  // S33: fifo
    put(asks(3, 1, "a", intent_exclusive, 0, QueuePolicy::fifo));
    put(asks(2, 1, "a", update));
    put(asks(3, 2, "a", exclusive));
    put(asks(1, 1, "b"));
    put(asks(1, 2, "a", intent_shared));  // behind the exclusive one
    EXPECT_EQ(put(asks(3, 3, "b")), "3.3 deadlock 3/1/>b 1/1/>a");
}

// The update request is the first writer of the queue; the exclusive one keeps the reader out.
TEST_F(Deadlocks, AtTheWritersTurnAReaderWaitsForTheFirstWriterOfTheQueue) {  // S33: phase_fair
    put(asks(3, 1, "a", intent_exclusive, 0));
    put(asks(2, 1, "a", update));
    put(asks(3, 2, "a", exclusive));
    put(asks(1, 1, "b"));
    put(asks(1, 2, "a", intent_shared));
    EXPECT_EQ(put(asks(3, 3, "b")), "3.3 queued");
    put(cancel(3, 4, 3));
    EXPECT_EQ(put(asks(2, 2, "b")), "2.2 deadlock 2/1/>b 1/1/>a");
}

TEST_F(Deadlocks, AtTheReadersTurnAReaderWaitsForTheWriterThatHolds) {  // S33: phase_fair
    put(asks(3, 1, "a", update));
    put(asks(2, 1, "a", exclusive));
    put(asks(1, 1, "b"));
    put(asks(1, 2, "a", intent_shared));  // what is held does not keep it out
    EXPECT_EQ(put(asks(2, 2, "b")), "2.2 queued");
    put(cancel(2, 3, 2));
    EXPECT_EQ(put(asks(3, 2, "b")), "3.2 deadlock 3/1/>b 1/1/>a");
}

TEST_F(Deadlocks, AnEarlierRequestDoesNotWaitForALaterOne) {  // S33
    put(asks(3, 1, "a", exclusive, 0));
    put(asks(1, 1, "a"));
    put(asks(2, 1, "b"));
    put(asks(2, 2, "a"));
    EXPECT_EQ(put(asks(3, 2, "b")), "3.2 queued");
}

TEST_F(Deadlocks, LaterRequestsWaitForABarrier) {  // S32, S33
    put(asks(3, 1, "b", exclusive, 2));
    put(asks_all(2, 1, {{"a", intent_shared}, {"b", exclusive}}));
    EXPECT_EQ(put(asks(3, 2, "a", intent_shared, 2)), "3.2 deadlock 3/2/>a 2/1/>b");
}

TEST_F(Deadlocks, ABarrierWaitsForAllEarlierRequests) {  // S32, S33
    put(asks(3, 1, "a", shared, 0));
    put(asks(2, 1, "a", intent_exclusive));  // waits, and would be compatible with the barrier
    put(asks(1, 1, "c"));
    put(asks_all(1, 2, {{"a", intent_shared}, {"b", exclusive}}));
    put(asks(3, 2, "d"));
    put(asks_all(3, 3, {{"a", intent_shared}, {"d", intent_shared}}, 2));
    EXPECT_EQ(put(asks(3, 4, "c")), "3.4 queued");  // no member of the cycle waits for its locker
    put(cancel(3, 5, 4));
    EXPECT_EQ(put(asks(2, 2, "c")), "2.2 queued");  // granted, a barrier lets it be
}

TEST_F(Deadlocks, ARequestForAnyNameIsStuckOnlyIfEveryNameIs) {  // S33, P9
    put(asks(1, 1, "a"));
    put(asks(2, 1, "b"));
    put(asks(3, 1, "c", exclusive, 0));
    put(asks_any(1, 2, {{"b", exclusive}, {"c", exclusive}}));
    EXPECT_EQ(put(asks(2, 2, "a")), "2.2 queued");
    put(asks(3, 2, "d", exclusive, 0));
    EXPECT_EQ(put(release(3, 3, 1)), "3.3 released; 1.2 granted c token=5 previous=clean/3/");
}

TEST_F(Deadlocks, ARequestForAnyOfStuckNamesIsStuck) {  // S33
    put(asks(1, 1, "a"));
    put(asks(2, 1, "b"));
    put(asks(2, 2, "c"));
    put(asks_any(1, 2, {{"b", exclusive}, {"c", exclusive}}));
    EXPECT_EQ(put(asks(2, 3, "a")), "2.3 deadlock 2/1/>a 1/1/>b");
}

// --- conversions --------------------------------------------------------------------------------

TEST_F(Deadlocks, AWaitingUpgradeCompletesACycle) {  // S27, S33
    put(asks(1, 1, "a", update));
    put(asks(1, 2, "b"));
    put(asks(2, 1, "a", shared));
    put(asks(2, 2, "b"));
    EXPECT_EQ(put(request(1, 3, Upgrade{Seq{1}})), "1.3 deadlock 1/1/>a 2/1/>b");
    EXPECT_EQ(shown("a"), "1:U:1 2:S:3 |");  // the hold stays
}

TEST_F(Deadlocks, AHolderCompletesACycleByWaitingForTheUpgrader) {  // S33
    put(asks(1, 1, "a", update));
    put(asks(2, 1, "a", shared));
    put(request(1, 2, Upgrade{Seq{1}}));
    put(asks(1, 3, "b"));
    EXPECT_EQ(put(asks(2, 2, "b")), "2.2 deadlock 2/1/>b 1/1/>a");
}

TEST_F(Deadlocks, AllOtherWaitersWaitForAnUpgrade) {  // S28, S33
    put(asks(1, 1, "a", update));
    put(asks(2, 1, "a", shared));
    put(asks(2, 2, "c"));
    put(request(1, 2, Upgrade{Seq{1}}));
    put(asks(3, 1, "b"));
    put(asks(3, 2, "a", intent_shared));  // compatible with all who hold it
    EXPECT_EQ(put(asks(2, 3, "b")), "2.3 deadlock 2/1/>b 3/1/>a 1/1/>a");
}

TEST_F(Deadlocks, AnImmediateUpgradeCompletesACycle) {  // S27, S33
    put(asks(1, 1, "a", shared));
    put(asks(2, 1, "b"));
    put(asks(3, 1, "d", exclusive, 0));
    put(asks_all(2, 2, {{"a", intent_shared}, {"d", exclusive}}));  // kept out by d alone
    EXPECT_EQ(put(asks(1, 2, "b")), "1.2 queued");
    EXPECT_EQ(put(request(1, 3, Upgrade{Seq{1}})),
              "1.3 converted token=4; 1.2 deadlock 1/1/>b 2/1/>a");
    EXPECT_EQ(shown("a") + shown("b"), "1:X:4 | 2:IS2:X:2 |");
}

// --- the request that is refused ----------------------------------------------------------------

// A reader waits for an earlier reader of another mode until that is granted, and then for its end.
TEST_F(Deadlocks, TheYoungestIsRefusedWhenAGrantCompletesACycle) {  // S33, P9
    put(asks(3, 1, "a", exclusive, 0));
    put(asks(1, 1, "a", shared));
    put(asks(2, 1, "b"));
    put(asks(2, 2, "a", intent_exclusive));
    EXPECT_EQ(put(asks(1, 2, "b")), "1.2 queued");
    EXPECT_EQ(put(release(3, 2, 1)),
              "3.2 released; 1.2 deadlock 1/1/>b 2/1/>a; 1.1 granted token=3 previous=clean/1/");
}

TEST_F(Deadlocks, TheYoungestIsRefusedWhenTheEndOfABreakCompletesACycle) {  // S24, S33
    put(asks(3, 1, "a", exclusive, 0));
    put(asks(1, 1, "a", shared));
    put(asks(2, 1, "b"));
    put(asks(2, 2, "a", intent_exclusive));
    put(asks(1, 2, "b"));
    put(request(2, 3, BreakLock{"a", FencingToken{1}, {}}));
    EXPECT_EQ(shown("a"), "| 1:S 2:IX");  // nobody has it yet
    EXPECT_EQ(put(Command{EndClosure{ClosureId{1}}}),
              "closure 1 ended; 1.2 deadlock 1/1/>b 2/1/>a; "
              "1.1 granted token=3 previous=broken/1/");
}

// The waiters that it goes before from then on wait for it, and for what its locker waits for.
TEST_F(Deadlocks, TheEighthOvertakingCompletesACycle) {  // S29, S33
    std::uint64_t held = 1;
    std::uint64_t newest = 1;
    const auto urgent = [](std::uint64_t session, std::uint64_t seq, Priority priority,
                           std::uint64_t locker) {
        return request(session, seq,
                       Acquire{{{"a", exclusive}}, true, {}, false, {}, priority, {locker, {}}});
    };
    const auto overtake = [&] {
        const auto asked = ++newest;
        put(urgent(3, asked, 2, 0));
        const auto said = put(release(3, ++newest, held));
        held = asked;
        return said;
    };
    put(asks(3, 1, "a", exclusive, 0, QueuePolicy::fifo));
    put(asks(2, 1, "b"));
    put(asks(1, 1, "a"));
    for (int i = 0; i < 7; ++i)
        overtake();
    EXPECT_EQ(put(urgent(2, 2, 1, 1)), "2.2 queued");
    EXPECT_EQ(put(asks(1, 2, "b")), "1.2 queued");
    EXPECT_EQ(overtake(),
              "3.17 released; 1.2 deadlock 1/1/>b 2/1/>a; "
              "3.16 granted token=10 previous=clean/9/");
    EXPECT_EQ(shown("a"), "3:X:10 | 1:X 2:X");
}

TEST_F(Deadlocks, ARefusalGrantsOtherRequests) {  // S30
    put(asks(3, 1, "a", exclusive, 0));
    put(asks(1, 1, "a", shared));
    put(asks(2, 1, "b", shared));
    put(asks(2, 2, "a", intent_exclusive));
    put(asks(1, 2, "b"));
    EXPECT_EQ(put(asks(3, 2, "b", shared, 0)), "3.2 queued");
    EXPECT_EQ(put(release(3, 3, 1)),
              "3.3 released; 1.2 deadlock 1/1/>b 2/1/>a; 1.1 granted token=3 previous=clean/1/; "
              "3.2 granted token=2 previous=none/0/");
}

TEST_F(Deadlocks, ARequestThatOnlyWaitsForACycleIsNotRefused) {  // S33, P9
    put(asks(1, 1, "a"));
    put(asks(2, 1, "b"));
    put(asks(3, 1, "c"));
    put(asks(3, 2, "a"));
    put(asks(1, 2, "b"));
    EXPECT_EQ(put(asks(2, 2, "a")), "2.2 deadlock 2/1/>a 1/1/>b");
    EXPECT_EQ(shown("a"), "1:X:1 | 3:X");
}

// --- ended sessions and broken holds ------------------------------------------------------------

// 2 waits for a hold of 1, and 1 waits for 3. If 3 waited for 2, that would be a cycle.
class DeadlocksBehindAHold : public Deadlocks {
protected:
    DeadlocksBehindAHold() {
        put(asks(1, 1, "a"));
        put(asks(3, 1, "b"));
        put(asks(1, 2, "b"));
        put(asks(2, 1, "c"));
        put(asks(2, 2, "a"));
    }
};

TEST_F(DeadlocksBehindAHold, IsACycleWhileItIsHeld) {  // S33
    EXPECT_EQ(put(asks(3, 2, "c")), "3.2 deadlock 3/1/>c 2/1/>a 1/1/>b");
}

TEST_F(DeadlocksBehindAHold, IsNoCycleOnceItIsLost) {  // S11, S33, P9
    put(expiry(1));
    EXPECT_EQ(put(asks(3, 2, "c")), "3.2 queued");  // before any request for a
    EXPECT_EQ(put(Command{Sweep{}}), "2.2 granted token=4 previous=expired/1/");
}

TEST_F(DeadlocksBehindAHold, IsNoCycleOnceItIsBroken) {  // S24, S33, P9
    put(request(3, 2, BreakLock{"a", FencingToken{1}, "stuck", false}));
    EXPECT_EQ(put(asks(3, 3, "c")), "3.3 queued");  // before its node confirms
}

TEST_F(Deadlocks, AfterAWritersDeathReadersWaitForTheNextWriter) {  // S11, S33, P9: phase_fair
    put(asks(3, 1, "a", intent_exclusive, 0));
    put(asks(2, 1, "a", exclusive, 0));
    put(asks(1, 1, "a"));
    put(asks(3, 2, "a", shared, 0));
    EXPECT_EQ(put(asks(1, 2, "a")), "1.2 queued");
    EXPECT_EQ(put(close(2)), "ended 2 closed; 1.2 deadlock 1/1/>a 3/0/>a");
    EXPECT_EQ(put(Command{Sweep{}}), "");
}

class DeadlocksBehindABarrier : public Deadlocks {
protected:
    // A barrier of session 2, in front of a request with a priority, and behind others without one.
    DeadlocksBehindABarrier() {
        put(asks(3, 1, "a", exclusive, 0));
        put(asks_all(1, 1, {{"a", exclusive}}));
        put(asks(1, 2, "a"));
        put(asks_all(2, 1, {{"a", exclusive}}, 0));
        const Acquire urgent{{{"a", exclusive}}, true, {}, false, {}, 4, {1, {}}};
        put(request(3, 2, urgent));
    }
    const std::string refused = "3.2 deadlock 3/1/>a 1/1/>a";
};

TEST_F(DeadlocksBehindABarrier, APriorityGoesFirstAfterTheBarrierLeft) {  // S29, S32, S33
    EXPECT_EQ(put(cancel(2, 2, 1)), "2.1 cancelled; 2.2 cancelled; " + refused);
}

TEST_F(DeadlocksBehindABarrier, APriorityGoesFirstAfterTheBarrierWasCleared) {  // S11, S33, P9
    EXPECT_EQ(put(close(2)), "ended 2 closed");
    EXPECT_EQ(put(Command{Sweep{}}), refused);
}

// --- the cost -----------------------------------------------------------------------------------

// Each locker holds one name and waits for the next.
class DeadlocksLongCycle : public Deadlocks {
protected:
    std::string close(std::uint64_t lockers) {
        std::vector<Command> batch;
        for (std::uint64_t i = 1; i <= lockers; ++i)
            batch.emplace_back(asks(1, ++seq_, std::to_string(i), exclusive, i));
        for (std::uint64_t i = 1; i < lockers; ++i)
            batch.emplace_back(asks(1, ++seq_, std::to_string(i + 1), exclusive, i));
        put(batch);
        return put(asks(1, ++seq_, "1", exclusive, lockers));
    }
    std::uint64_t seq_ = 0;
};

TEST_F(DeadlocksLongCycle, OnlyItsBeginningIsReported) {  // P11
    close(100);
    const auto* answer = machine_.sessions().find(SessionId{1})->answers.find(Seq{seq_});
    ASSERT_NE(answer, nullptr);
    EXPECT_EQ(answer->kind, AnswerKind::deadlock);
    ASSERT_EQ(answer->cycle.size(), cycle_steps_max);
    EXPECT_EQ(answer->cycle.front().waits_for, "1");
    EXPECT_EQ(answer->cycle.back().waits_for, "16");
}

// The holder is found before the waiters in front, and is reported instead of them.
TEST_F(DeadlocksLongCycle, IsDetectedThroughALongQueue) {  // P10
    std::vector<Command> batch{asks(1, ++seq_, "hot"), asks(2, 1, "b")};
    for (std::uint64_t i = 2; i < deadlock_steps_max; ++i) {
        batch.emplace_back(asks(1, ++seq_, std::to_string(i), exclusive, i));
        batch.emplace_back(asks(1, ++seq_, "hot", exclusive, i));
    }
    batch.emplace_back(asks(1, ++seq_, "b"));
    put(batch);
    EXPECT_EQ(put(asks(2, 2, "hot")), "2.2 deadlock 2/1/>hot 1/1/>b");
}

// One grant completes a cycle for each of the other requests of its locker.
TEST_F(DeadlocksLongCycle, ManyAtOnceAreAllBroken) {  // S33, P10
    constexpr std::uint64_t count = 300;
    std::vector<Command> batch{asks(1, 1, "a"), asks(2, 1, "a", shared)};
    for (std::uint64_t i = 0; i < count; ++i)
        batch.emplace_back(asks(2, 2 + i, "a"));
    put(batch);
    put(release(1, 2, 1));
    EXPECT_EQ(shown("a"), "2:S:2 |");
}

TEST_F(DeadlocksLongCycle, IsNotDetectedBeyondTheLimit) {  // P10: it ends by a deadline
    EXPECT_TRUE(close(deadlock_steps_max).ends_with("queued"));
}

}  // namespace
}  // namespace mortise::core
