// One name: tokens, turns, fairness, and what its record keeps (P1, P2, P9, S12, S13, S23, S29-S31,
// S37).
#include "tests/unit/core/locks/machine_fixture.hpp"

namespace mortise::core {
namespace {

using enum LockMode;

using LockMachineQueue = LockMachineTest;

TEST_F(LockMachineQueue, EveryModeIsAdmittedAsTheTableSays) {  // P2, S26
    std::uint64_t seq = 0;
    for (const auto held : all_lock_modes) {
        for (const auto wanted : all_lock_modes) {
            const auto name = spec::words(held) + " then " + spec::words(wanted);
            put(acquire(1, ++seq, held, name));
            const auto said = put(acquire(2, seq, wanted, name));
            EXPECT_EQ(said.find("granted") != std::string::npos, compatible(held, wanted)) << name;
        }
    }
}

TEST_F(LockMachineQueue, ExclusiveTokensAscend) {  // P1, S12
    std::uint64_t seq = 0;
    std::uint64_t token = 0;
    for (int i = 0; i < 5; ++i) {
        const auto hold = ++seq;
        EXPECT_EQ(put(acquire(1, hold, exclusive)),
                  "1." + std::to_string(hold) + " granted token=" + std::to_string(++token) +
                      " previous=none/0/");
        put(release(1, ++seq, hold));  // the record is gone, the counter is not
    }
}

TEST_F(LockMachineQueue, OneEntryGivesDifferentTokens) {  // S12
    put({acquire(1, 1, exclusive, "a"), acquire(1, 2, exclusive, "b"), acquire(2, 1, shared, "c")});
    EXPECT_EQ(shown("a") + shown("b") + shown("c"), "1:X:1 |1:X:2 |2:S:3 |");
}

TEST_F(LockMachineQueue, ReadersOfOneModeShareAToken) {  // S13
    put(acquire(1, 1, shared));
    put(acquire(2, 1, shared));
    EXPECT_EQ(shown(), "1:S:1 2:S:1 |");
    put(release(1, 2, 1));
    put(acquire(1, 3, shared));
    EXPECT_EQ(shown(), "2:S:1 1:S:1 |");
    put(acquire(3, 1, intent_shared));
    put(acquire(3, 2, shared));
    EXPECT_EQ(shown(), "2:S:1 1:S:1 3:IS:2 3:S:3 |");
}

TEST_F(LockMachineQueue, NoReaderSharesATokenPastAnUpdateHolder) {  // P1, S13
    put(acquire(1, 1, shared));
    put(acquire(2, 1, update));
    put(acquire(3, 1, shared));
    EXPECT_EQ(shown(), "1:S:1 2:U:2 3:S:3 |");
    put(acquire(1, 2, shared));
    EXPECT_EQ(shown(), "1:S:1 2:U:2 3:S:3 1:S:3 |");
}

TEST_F(LockMachineQueue, TheGrantTellsHowThePreviousHolderLeft) {  // S23
    put(request(1, 1, Acquire{{{"a", exclusive}}, true, {}, false, "backup"}));
    put(acquire(2, 1, exclusive));
    put(acquire(3, 1, exclusive));
    EXPECT_EQ(put(release(1, 2, 1)), "1.2 released; 2.1 granted token=2 previous=clean/1/backup");
    put(expiry(2));
    EXPECT_EQ(put(Sweep{}), "3.1 granted token=3 previous=expired/2/");
}

// Its session is gone, so it is the origin of the session that tells who it was.
TEST_F(LockMachineQueue, TheGrantTellsWhereALostHolderWithoutALabelRan) {  // S23
    for (const std::uint64_t session : {4, 5}) {
        auto open = opening(session);
        open.origin = {"db3", "backup", session, {}};
        put(open);
    }
    put(acquire(4, 1, exclusive));
    put(request(5, 1, Acquire{{{"a", exclusive}}, true, {}, false, "own"}));
    put(acquire(1, 1, exclusive));
    put(acquire(2, 1, exclusive));
    put(expiry(4));
    EXPECT_EQ(put(Sweep{}), "5.1 granted token=2 previous=expired/1/backup@db3:4");
    put(expiry(5));
    EXPECT_EQ(put(Sweep{}), "1.1 granted token=3 previous=expired/2/own");
}

TEST_F(LockMachineQueue, TheGrantTellsWhoSaysThatItHasLostAHoldWithoutALabel) {  // S23
    auto open = opening(4);
    open.origin = {"db3", "backup", 7, {}};
    put(open);
    put(acquire(4, 1, exclusive));
    put(acquire(2, 1, exclusive));
    EXPECT_EQ(put(request(4, 2, Release{Seq{1}, true})),
              "4.2 released; 2.1 granted token=2 previous=expired/1/backup@db3:7");
}

TEST_F(LockMachineQueue, TheGrantTellsWhereABrokenHolderWithoutALabelRan) {  // S23, S24
    auto open = opening(4);
    open.origin = {"db3", "backup", 7, {}};
    put(open);
    put(acquire(4, 1, exclusive));
    put(acquire(2, 1, exclusive));
    put(request(3, 1, BreakLock{"a", FencingToken{1}, "stuck", false, {}}));
    EXPECT_EQ(put(release(4, 2, 1)),
              "4.2 lost; closure 1 ended; 2.1 granted token=2 previous=broken/1/backup@db3:7");
}

TEST_F(LockMachineQueue, WritersAreServedInLogOrder) {  // S29
    put(acquire(1, 1, exclusive));
    put(acquire(2, 1, update));
    put(acquire(3, 1, exclusive));
    put(acquire(1, 2, update));
    put(release(1, 3, 1));
    EXPECT_EQ(shown(), "2:U:2 | 3:X 1:U");
    put(release(2, 2, 1));
    EXPECT_EQ(shown(), "3:X:3 | 1:U");
    put(release(3, 2, 1));
    EXPECT_EQ(shown(), "1:U:4 |");
}

TEST_F(LockMachineQueue, AWaiterThatLeavesGrantsThoseItKeptOut) {  // S30
    put(acquire(1, 1, shared));
    put(acquire(2, 1, exclusive));
    put(acquire(3, 1, shared));
    EXPECT_EQ(put(cancel(2, 2, 1)),
              "2.1 cancelled; 2.2 cancelled; 3.1 granted token=1 previous=none/0/");
}

TEST_F(LockMachineQueue, TheLastWaiterThatLeavesGrantsNothing) {  // S30
    put(acquire(1, 1, shared));
    put(acquire(2, 1, exclusive));
    put(acquire(3, 1, shared));
    EXPECT_EQ(put(cancel(3, 2, 1)), "3.1 cancelled; 3.2 cancelled");
}

TEST_F(LockMachineQueue, AReaderDoesNotPassAWaitingWriter) {  // S31
    put(acquire(1, 1, shared));
    put(acquire(2, 1, exclusive));
    EXPECT_EQ(put(acquire(3, 1, shared)), "3.1 queued");
    EXPECT_EQ(put(acquire(1, 2, intent_shared)), "1.2 queued");
}

TEST_F(LockMachineQueue, ARequestWithoutConflictIsGrantedAtOnce) {  // S31
    put(acquire(1, 1, shared));
    put(acquire(2, 1, intent_exclusive));  // waits
    EXPECT_EQ(put(acquire(3, 1, intent_shared)), "3.1 granted token=2 previous=none/0/");
}

TEST_F(LockMachineQueue, AfterAWriterAllReadersAreGrantedTogether) {  // S31
    put(acquire(1, 1, exclusive));
    put(acquire(2, 1, exclusive));
    put(acquire(3, 1, shared));
    put(acquire(1, 2, exclusive));
    put(acquire(3, 2, shared));
    put(release(1, 3, 1));  // after a writer, a batch
    EXPECT_EQ(shown(), "3:S:2 3:S:2 | 2:X 1:X");
    put(release(3, 3, 1));
    EXPECT_EQ(shown(), "3:S:2 | 2:X 1:X");
    put(release(3, 4, 2));
    EXPECT_EQ(shown(), "2:X:3 | 1:X");
}

TEST_F(LockMachineQueue, TheOldestReaderLeadsTheBatch) {  // S31
    put(acquire(1, 1, exclusive));
    put(acquire(2, 1, intent_exclusive));
    put(acquire(3, 1, shared));
    put(acquire(3, 2, shared));
    put(acquire(2, 2, intent_shared));
    put(acquire(2, 3, intent_exclusive));
    put(release(1, 2, 1));  // more readers want shared, but the oldest does not
    EXPECT_EQ(shown(), "2:IX:2 2:IS:3 2:IX:4 | 3:S 3:S");
}

TEST_F(LockMachineQueue, AWriterIsNoMemberOfABatch) {  // S29, S31
    put(acquire(1, 1, exclusive));
    put(acquire(2, 1, exclusive));
    put(acquire(3, 1, shared));
    put(acquire(3, 2, update));
    put(release(1, 2, 1));
    EXPECT_EQ(shown(), "3:S:2 | 2:X 3:U");
}

TEST_F(LockMachineQueue, AWriterIsPassedByOneBatchOnly) {  // P9, S31
    put(acquire(1, 1, exclusive));
    put(acquire(2, 1, exclusive));
    put(acquire(3, 1, shared));
    put(release(1, 2, 1));
    put(acquire(1, 3, shared));  // comes while the batch holds
    EXPECT_EQ(shown(), "3:S:2 | 2:X 1:S");
    put(release(3, 2, 1));
    EXPECT_EQ(shown(), "2:X:3 | 1:S");
}

TEST_F(LockMachineQueue, AfterABatchComesAWriter) {  // S31
    put(acquire(1, 1, exclusive));
    put(acquire(2, 1, exclusive));
    put(acquire(3, 1, intent_exclusive));
    put(acquire(3, 2, shared));  // no member of that batch
    put(release(1, 2, 1));
    EXPECT_EQ(shown(), "3:IX:2 | 2:X 3:S");
    put(release(3, 3, 1));
    EXPECT_EQ(shown(), "2:X:3 | 3:S");
}

TEST_F(LockMachineQueue, ItIsTheReadersTurnWhenOnlyReadersHold) {  // S31
    put(acquire(1, 1, update));
    put(acquire(2, 1, shared));
    put(acquire(3, 1, exclusive));
    put(acquire(3, 2, shared));
    put(release(1, 2, 1));
    EXPECT_EQ(shown(), "2:S:2 3:S:2 | 3:X");
}

TEST_F(LockMachineQueue, AHoldWithoutConflictInFrontDelaysNothing) {  // S31
    put(acquire(1, 1, intent_shared));
    put(acquire(3, 1, shared));
    put(acquire(2, 1, intent_exclusive));
    put(acquire(2, 2, shared_intent_exclusive));
    put(release(3, 2, 1));  // the writers' turn, as the oldest waiter conflicts with no holder
    EXPECT_EQ(shown(), "1:IS:1 2:SIX:3 | 2:IX");
}

TEST_F(LockMachineQueue, FifoServesReadersInLogOrderToo) {  // S31
    put(fifo_acquire(1, 1, exclusive));
    put(fifo_acquire(2, 1, exclusive));
    put(fifo_acquire(3, 1, shared));
    put(fifo_acquire(3, 2, shared));
    put(release(1, 2, 1));
    EXPECT_EQ(shown(), "2:X:2 | 3:S 3:S");
    put(release(2, 2, 1));
    EXPECT_EQ(shown(), "3:S:3 3:S:3 |");
}

TEST_F(LockMachineQueue, ThePolicyIsThatOfTheFirstRequest) {  // S31
    const auto with = [](QueuePolicy policy, bool given) {
        return Acquire{{{"a", shared}}, true, policy, given, {}};
    };
    put(request(1, 1, with(QueuePolicy::fifo, false)));
    EXPECT_EQ(put(request(2, 1, with(QueuePolicy::phase_fair, true))), "2.1 kind_mismatch");
    EXPECT_EQ(put(request(2, 1, with(QueuePolicy::phase_fair, true))), "2.1 kind_mismatch");
    EXPECT_EQ(put(request(2, 2, with(QueuePolicy::phase_fair, false))),
              "2.2 granted token=1 previous=none/0/");
    EXPECT_EQ(put(request(3, 1, with(QueuePolicy::fifo, true))),
              "3.1 granted token=1 previous=none/0/");
    EXPECT_EQ(machine_.inspect("a").policy, QueuePolicy::fifo);
}

TEST_F(LockMachineQueue, ADeletedRecordLosesItsPolicyAndItsPast) {  // S37
    put(request(1, 1, Acquire{{{"a", exclusive}}, true, QueuePolicy::fifo, true, {}}));
    put(release(1, 2, 1));
    EXPECT_TRUE(machine_.table().records().empty());
    EXPECT_EQ(
        put(request(2, 1, Acquire{{{"a", exclusive}}, true, QueuePolicy::phase_fair, true, {}})),
        "2.1 granted token=2 previous=none/0/");
}

TEST_F(LockMachineQueue, TheRecordOfADeadHolderLosesItsPolicy) {  // S11, S37
    put(request(1, 1, Acquire{{{"a", exclusive}}, true, QueuePolicy::fifo, true, {}}));
    put(expiry(1));
    EXPECT_EQ(
        put(request(2, 1, Acquire{{{"a", exclusive}}, true, QueuePolicy::phase_fair, true, {}})),
        "2.1 granted token=2 previous=expired/1/");
    EXPECT_EQ(machine_.inspect("a").policy, QueuePolicy::phase_fair);
}

TEST_F(LockMachineQueue, NamesAreBytes) {  // S38
    const std::string zeroes("\0\0", 2);
    put(acquire(1, 1, exclusive, zeroes));
    put(acquire(1, 2, exclusive, "\xff\xfe not text"));
    put(acquire(1, 3, exclusive, std::string(name_bytes_max, 'x')));
    EXPECT_EQ(shown(zeroes), "1:X:1 |");
    EXPECT_EQ(shown(std::string("\0", 1)), "|");
    const auto all = machine_.list("", "", 10);
    ASSERT_EQ(all.size(), 3U);
    EXPECT_EQ(all[0].name, zeroes);
    EXPECT_EQ(all[2].name, "\xff\xfe not text");  // as unsigned bytes
}

}  // namespace
}  // namespace mortise::core
