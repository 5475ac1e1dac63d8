// Semaphores (S15, S34, S37). The name "a" has three permits, if nothing else is said.
#include "core/locks/limits.hpp"
#include "core/locks/machine/machine_loader.hpp"
#include "tests/unit/core/locks/machine_fixture.hpp"

namespace mortise::core {
namespace {

using enum LockMode;

class LockMachineSemaphores : public LockMachineTest {
protected:
    static Request resize(std::uint64_t session, std::uint64_t seq, std::uint32_t limit,
                          std::uint64_t expected_version = 0) {
        return request(session, seq, Resize{"a", limit, expected_version});
    }
    static Request remove(std::uint64_t session, std::uint64_t seq) {
        return request(session, seq, Remove{"a"});
    }
    static Request on_terms(std::uint64_t session, std::uint64_t seq, HoldTerms terms) {
        auto asked = some_permits(1);
        asked.terms = terms;
        return request(session, seq, std::move(asked));
    }
    static Request with_priority(std::uint64_t session, std::uint64_t seq, Priority priority) {
        auto asked = some_permits(3);
        asked.priority = priority;
        return request(session, seq, std::move(asked));
    }
    static Request trying(std::uint64_t session, std::uint64_t seq, std::uint32_t count) {
        auto asked = some_permits(count);
        asked.wait = false;
        return request(session, seq, std::move(asked));
    }
    [[nodiscard]] bool is_known() const { return machine_.table().find("a") != nullptr; }
    [[nodiscard]] Semaphore::View limit() const { return *machine_.inspect("a").as<Semaphore>(); }
    // The machine is from now on the one that is loaded from its rows.
    void load_again() {
        MachineLoader loader;
        for (const auto& row : machine_.all_rows())
            ASSERT_TRUE(loader.add(row.key, *row.value)) << row.key;
        auto loaded = loader.finish(index_);
        ASSERT_TRUE(loaded.has_value());
        machine_ = std::move(*loaded);
    }
};

TEST_F(LockMachineSemaphores, EachHoldHasANewTokenAndTheLowestFreeSlots) {  // S15, P1, P2
    EXPECT_EQ(put(permits(1, 1, 2)), "1.1 granted a token=1 slots=0,1 previous=none/0/");
    EXPECT_EQ(put(permits(2, 1, 1)), "2.1 granted a token=2 slots=2 previous=none/0/");
    EXPECT_EQ(put(release(1, 2, 1)), "1.2 released");
    EXPECT_EQ(put(permits(3, 1, 1)), "3.1 granted a token=3 slots=0 previous=clean/1/");
    EXPECT_EQ(shown(), "2:X:2[2] 3:X:3[0] |");
}

TEST_F(LockMachineSemaphores, ASmallerRequestDoesNotOvertakeALargerOne) {  // S34, P9
    put(permits(1, 1, 2));
    EXPECT_EQ(put(permits(2, 1, 2)), "2.1 queued");
    EXPECT_EQ(put(permits(3, 1, 1)), "3.1 queued");
    EXPECT_EQ(shown(), "1:X:1[0 1] | 2:X*2 3:X*1");
    EXPECT_EQ(put(trying(3, 2, 1)), "3.2 busy");
    put(release(1, 2, 1));
    EXPECT_EQ(shown(), "2:X:2[0 1] 3:X:3[2] |");
}

TEST_F(LockMachineSemaphores, WhoLeavesLetsInThoseBehind) {  // S30
    put(permits(1, 1, 2));
    put(permits(2, 1, 2));
    put(permits(3, 1, 1));
    EXPECT_EQ(put(cancel(2, 2, 1)),
              "2.1 cancelled; 2.2 cancelled; 3.1 granted a token=2 slots=2 previous=none/0/");
}

TEST_F(LockMachineSemaphores, MoreThanTheLimitWaitsForIt) {  // S34
    EXPECT_EQ(put(permits(1, 1, 4)), "1.1 queued");
    EXPECT_EQ(put(permits(2, 1, 1)), "2.1 queued");
    EXPECT_EQ(shown(), "| 1:X*4 2:X*1");
    EXPECT_EQ(put(resize(3, 1, 4)),
              "3.1 stored; 1.1 granted a token=1 slots=0,1,2,3 previous=none/0/");
    EXPECT_EQ(shown(), "1:X:1[0 1 2 3] | 2:X*1");
}

TEST_F(LockMachineSemaphores, ATryLeavesNothingBehind) {  // S20
    EXPECT_EQ(put(trying(1, 1, 4)), "1.1 busy");
    EXPECT_FALSE(is_known());
    EXPECT_EQ(put(trying(1, 2, 3)), "1.2 granted a token=1 slots=0,1,2 previous=none/0/");
    EXPECT_EQ(put(trying(2, 1, 1)), "2.1 busy");
    EXPECT_EQ(put(release(1, 3, 2)), "1.3 released");
    EXPECT_FALSE(is_known());
}

TEST_F(LockMachineSemaphores, TheLimitOfARequestCountsOnlyWhenItCreatesTheSemaphore) {
    put(permits(1, 1, 1, 1));
    EXPECT_EQ(put(permits(2, 1, 1, 5)), "2.1 queued");
    EXPECT_EQ(limit(), (Semaphore::View{1, 1}));
    put({release(1, 2, 1), release(2, 2, 1)});
    EXPECT_EQ(put(permits(3, 1, 5, 5)), "3.1 granted a token=3 slots=0,1,2,3,4 previous=none/0/");
}

TEST_F(LockMachineSemaphores, AReleaseFreesOnlyItsOwn) {
    put(permits(1, 1, 1));
    EXPECT_EQ(put(release(2, 1, 1)), "2.1 not_held");
    EXPECT_EQ(shown(), "1:X:1[0] |");
}

TEST_F(LockMachineSemaphores, AResizeTakesNothingAway) {  // P2
    put({permits(1, 1, 1), permits(2, 1, 2)});
    EXPECT_EQ(put(resize(3, 1, 1)), "3.1 stored");
    EXPECT_EQ(shown(), "1:X:1[0] 2:X:2[1 2] |");
    EXPECT_EQ(put(permits(3, 2, 1)), "3.2 queued");
    put(release(1, 2, 1));
    EXPECT_EQ(shown(), "2:X:2[1 2] | 3:X*1");
    put(release(2, 2, 1));
    EXPECT_EQ(shown(), "3:X:3[0] |");
}

TEST_F(LockMachineSemaphores, AResizeMayDependOnTheVersion) {
    put(permits(1, 1, 1));
    EXPECT_EQ(put(resize(1, 2, 4, 2)), "1.2 busy");
    EXPECT_EQ(put(resize(1, 3, 4, 1)), "1.3 stored");
    EXPECT_EQ(put(resize(2, 1, 9, 1)), "2.1 busy");
    EXPECT_EQ(put(resize(2, 2, 9, 2)), "2.2 stored");
    EXPECT_EQ(limit(), (Semaphore::View{9, 3}));
}

TEST_F(LockMachineSemaphores, AResizeMayBeTheFirst) {
    EXPECT_EQ(put(resize(1, 1, 0, 2)), "1.1 busy");
    EXPECT_FALSE(is_known());
    EXPECT_EQ(put(resize(1, 2, 0, 1)), "1.2 stored");
    EXPECT_EQ(put(permits(2, 1, 1)), "2.1 queued");  // a limit of zero lets nobody in
    EXPECT_EQ(put(resize(1, 3, 1)), "1.3 stored; 2.1 granted a token=1 slots=0 previous=none/0/");
}

TEST_F(LockMachineSemaphores, AResizedOneStaysUntilItIsRemoved) {  // S37
    put(resize(1, 1, 2));
    put({permits(1, 2, 1), release(1, 3, 2)});
    EXPECT_EQ(limit(), (Semaphore::View{2, 2}));
    EXPECT_EQ(machine_.list("", "", 10).size(), 1U);
    load_again();
    EXPECT_EQ(put(permits(2, 1, 3, 9)), "2.1 queued");
    put(cancel(2, 2, 1));
    EXPECT_TRUE(is_known());
    EXPECT_EQ(put(remove(3, 1)), "3.1 stored");
    EXPECT_FALSE(is_known());
    EXPECT_EQ(put(remove(3, 2)), "3.2 stored");
    EXPECT_EQ(put(permits(2, 3, 3, 9)), "2.3 granted a token=2 slots=0,1,2 previous=none/0/");
}

TEST_F(LockMachineSemaphores, ANameInUseIsNotRemoved) {
    put(permits(1, 1, 3));
    put(permits(2, 1, 1));
    EXPECT_EQ(put(remove(3, 1)), "3.1 busy");
    put(release(1, 2, 1));
    EXPECT_EQ(put(remove(3, 2)), "3.2 busy");
    EXPECT_EQ(shown(), "2:X:2[0] |");
    put(permits(1, 3, 9, 3, "b"));
    EXPECT_EQ(put(request(3, 3, Remove{"b"})), "3.3 busy");  // one waits, and nobody has it
}

TEST_F(LockMachineSemaphores, TheNameOfAFormerHolderIsNotRemoved) {
    put(on_terms(1, 1, {0, 1'000, 0}));
    put(release(1, 2, 1));
    EXPECT_EQ(put(remove(3, 1)), "3.1 busy");
}

TEST_F(LockMachineSemaphores, AValueIsRemovedWithItsName) {  // S36
    put(acquire(1, 1, exclusive));
    put(request(1, 2, SetValue{Seq{1}, "a", "v"}));
    EXPECT_EQ(put(remove(2, 1)), "2.1 busy");
    put(release(1, 3, 1));
    EXPECT_EQ(put(permits(2, 2, 1)), "2.2 kind_mismatch");
    EXPECT_EQ(put(remove(2, 3)), "2.3 stored");
    EXPECT_FALSE(machine_.inspect("a").value.has_value());
    EXPECT_EQ(put(permits(2, 4, 1)), "2.4 granted a token=2 slots=0 previous=none/0/");
}

TEST_F(LockMachineSemaphores, ALockAndASemaphoreAreNotTheSame) {
    put(permits(1, 1, 1));
    put(acquire(1, 2, shared, "b"));
    EXPECT_EQ(put(acquire(2, 1, exclusive)), "2.1 kind_mismatch");
    EXPECT_EQ(put(try_acquire(2, 2, shared)), "2.2 kind_mismatch");
    EXPECT_EQ(put(permits(2, 3, 1, 3, "b")), "2.3 kind_mismatch");
    EXPECT_EQ(put(request(2, 4, Resize{"b", 3, 0})), "2.4 kind_mismatch");
    Acquire several{{{"a", exclusive}, {"c", exclusive}}, true, {}, false, {}};
    for (const auto which : {Acquire::Which::any, Acquire::Which::all}) {
        several.which = which;
        const auto seq = next_of(3);
        EXPECT_EQ(put(request(3, seq, several)), "3." + std::to_string(seq) + " kind_mismatch");
    }
}

TEST_F(LockMachineSemaphores, PermitsEndWithTheirSession) {  // S11
    put({permits(1, 1, 2), permits(2, 1, 1), permits(3, 1, 2)});
    EXPECT_EQ(shown(), "1:X:1[0 1] 2:X:2[2] | 3:X*2");
    put(expiry(1));
    put(Sweep{});
    EXPECT_EQ(shown(), "2:X:2[2] 3:X:3[0 1] |");
    put({close(2), close(3)});
    put(Sweep{});
    EXPECT_FALSE(is_known());
}

TEST_F(LockMachineSemaphores, ABrokenHoldKeepsItsSlots) {  // S24, P2
    put({permits(1, 1, 1), permits(2, 1, 1)});
    put(request(3, 1, BreakLock{"a", FencingToken{1}, "stuck"}));
    load_again();
    put(permits(3, 2, 1));
    EXPECT_EQ(put(permits(3, 3, 1)), "3.3 queued");
    EXPECT_EQ(shown(), "2:X:2[1] 3:X:3[2] | 3:X*1");
    put(release(1, 2, 1));  // the loss is confirmed
    EXPECT_EQ(shown(), "2:X:2[1] 3:X:3[2] 3:X:4[0] |");
}

TEST_F(LockMachineSemaphores, ALostHoldKeepsItsSlotsForItsLockDelay) {  // S9
    put({on_terms(1, 1, {0, 0, 500}), permits(2, 1, 2)});
    put(request(1, 2, Release{Seq{1}, true}));
    load_again();
    EXPECT_EQ(put(permits(3, 1, 1)), "3.1 queued");
    put(EndClosure{ClosureId{3}});
    EXPECT_EQ(shown(), "2:X:2[1 2] 3:X:3[0] |");
}

TEST_F(LockMachineSemaphores, HasNoModesAndNoValue) {  // S27, S36
    put(permits(1, 1, 1));
    EXPECT_EQ(put(request(1, 2, Downgrade{Seq{1}, shared})), "1.2 invalid_argument");
    EXPECT_EQ(put(request(1, 3, Upgrade{Seq{1}})), "1.3 invalid_argument");
    EXPECT_EQ(put(request(1, 4, SetValue{Seq{1}, "a", "v"})), "1.4 invalid_argument");
    EXPECT_EQ(put(request(1, 5, MarkConsistent{Seq{1}, "a"})), "1.5 invalid_argument");
    EXPECT_EQ(put(request(1, 6, Publish{Seq{1}, FencingToken{1}})), "1.6 invalid_argument");
    EXPECT_EQ(shown(), "1:X:1[0] |");
}

TEST_F(LockMachineSemaphores, PermitsGoWithFewOptions) {
    const auto refuses = [&](const Acquire& asked) {
        const auto seq = next_of(1);
        return put(request(1, seq, asked)) == "1." + std::to_string(seq) + " invalid_argument";
    };
    const auto changed = [](auto change) {
        auto asked = some_permits(1);
        change(asked);
        return asked;
    };
    using Which = Acquire::Which;
    EXPECT_TRUE(refuses(changed([](Acquire& it) { it.limit = 0; })));
    EXPECT_TRUE(refuses(changed([](Acquire& it) { it.permits = 0; })));
    EXPECT_TRUE(refuses(changed([](Acquire& it) { it.limit = semaphore_limit_max + 1; })));
    EXPECT_TRUE(refuses(changed([](Acquire& it) { it.permits = permits_max + 1; })));
    EXPECT_TRUE(refuses(changed([](Acquire& it) { it.names[0].mode = shared; })));
    EXPECT_TRUE(refuses(changed([](Acquire& it) { it.names.push_back({"b", exclusive}); })));
    EXPECT_TRUE(refuses(changed([](Acquire& it) { it.which = Which::all; })));
    EXPECT_TRUE(refuses(changed([](Acquire& it) { it.policy = QueuePolicy::fifo; })));
    EXPECT_TRUE(refuses(changed([](Acquire& it) { it.policy_given = true; })));
    EXPECT_TRUE(refuses(changed([](Acquire& it) { it.locker.number = 7; })));
    EXPECT_TRUE(refuses(changed([](Acquire& it) { it.cached_tokens = 1; })));
    EXPECT_FALSE(refuses(changed([](Acquire& it) { it.limit = semaphore_limit_max; })));
    EXPECT_EQ(put(request(2, 1, Resize{"b", semaphore_limit_max + 1, 0})), "2.1 invalid_argument");
}

TEST_F(LockMachineSemaphores, AWaiterThatIsOvertakenMovesUp) {  // S29
    put(permits(1, 1, 3));
    put(permits(2, 1, 1));
    for (std::uint64_t i = 0; i < 9; ++i)
        put(with_priority(3, i + 1, 1));
    // Eight with a higher priority go first, and then it is its turn.
    put(release(1, 2, 1));
    std::uint64_t overtaken = 0;
    for (; machine_.inspect("a").holders.front().operation.session == SessionId{3}; ++overtaken)
        put(release(3, next_of(3), overtaken + 1));
    EXPECT_EQ(overtaken, 8U);
}

TEST_F(LockMachineSemaphores, AReadAnswersATryAsTheLogWould) {  // S20
    const auto granted = [&](std::uint32_t count, std::uint32_t limit = 3) {
        return machine_.views().would_grant_permits(some_permits(count, limit));
    };
    EXPECT_TRUE(granted(3));
    EXPECT_FALSE(granted(4));
    put(permits(1, 1, 2));
    EXPECT_TRUE(granted(1));
    EXPECT_FALSE(granted(2));
    EXPECT_TRUE(machine_.would_grant("a", shared));  // the log says that it is no lock
    put(permits(2, 1, 2));
    EXPECT_FALSE(granted(1));  // another one waits
    put(expiry(2));
    EXPECT_TRUE(granted(1));
    EXPECT_FALSE(granted(2));
    put(expiry(1));
    EXPECT_TRUE(granted(5, 5));  // nobody is left, so it begins anew with this limit
    EXPECT_FALSE(granted(3, 2));
}

TEST_F(LockMachineSemaphores, AResizedOneWithoutLiveHoldersHasItsOwnLimit) {
    put(resize(2, 1, 2));
    put(permits(1, 1, 2));
    put(expiry(1));
    EXPECT_TRUE(machine_.views().would_grant_permits(some_permits(2, 9)));
    EXPECT_FALSE(machine_.views().would_grant_permits(some_permits(3, 9)));
    EXPECT_EQ(limit(), (Semaphore::View{2, 2}));
}

TEST_F(LockMachineSemaphores, IsTheSameFromItsRows) {
    put(permits(1, 1, 2));
    put(permits(2, 1, 2));
    put(resize(1, 2, 1));
    const auto before = machine_.list("", "", 10);
    load_again();
    EXPECT_EQ(machine_.list("", "", 10), before);
    EXPECT_EQ(put(permits(1, 1, 2)), "1.1 granted a token=1 slots=0,1 previous=none/0/");
    put(resize(3, 1, 4));
    EXPECT_EQ(shown(), "1:X:1[0 1] 2:X:2[2 3] |");
}

}  // namespace
}  // namespace mortise::core
