// Latches (S35, S37). The name "a" is a latch that begins with two, if nothing else is said.
#include "core/locks/limits.hpp"
#include "core/locks/machine/machine_loader.hpp"
#include "tests/unit/core/locks/machine_fixture.hpp"

namespace mortise::core {
namespace {

class LockMachineLatches : public LockMachineTest {
protected:
    static Request count(std::uint64_t session, std::uint64_t seq, std::uint32_t by = 1,
                         std::uint32_t expected = 2) {
        return request(session, seq, CountDown{"a", expected, by});
    }
    static Request wait(std::uint64_t session, std::uint64_t seq, std::uint32_t expected = 2) {
        return request(session, seq, AwaitLatch{"a", expected, {}});
    }
    static Request remove(std::uint64_t session, std::uint64_t seq) {
        return request(session, seq, Remove{"a"});
    }
    [[nodiscard]] bool is_known() const { return machine_.table().find("a") != nullptr; }
    // What remains to be counted; empty if the name is not a latch.
    [[nodiscard]] std::optional<std::uint32_t> remaining() const {
        const auto view = machine_.inspect("a");
        const auto* latch = view.as<Latch>();
        return latch != nullptr ? std::optional{latch->remaining} : std::nullopt;
    }
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

TEST_F(LockMachineLatches, WhoWaitsPassesWhenNothingRemains) {  // P2
    EXPECT_EQ(put(wait(1, 1)), "1.1 queued");
    EXPECT_EQ(put(wait(2, 1)), "2.1 queued");
    EXPECT_EQ(put(count(3, 1)), "3.1 stored");
    EXPECT_EQ(remaining(), 1U);
    EXPECT_EQ(put(count(3, 2)), "3.2 stored; 1.1 passed; 2.1 passed");
    EXPECT_EQ(shown(), "|");
    EXPECT_EQ(put(wait(3, 3)), "3.3 passed");
}

TEST_F(LockMachineLatches, WhoPassedHoldsNothing) {
    put({wait(1, 1), count(2, 1, 2)});
    EXPECT_EQ(put(release(1, 2, 1)), "1.2 not_held");
    EXPECT_EQ(put(cancel(1, 3, 1)), "1.3 not_held");
    EXPECT_TRUE(machine_.sessions().find(SessionId{1})->operations.empty());
    EXPECT_EQ(machine_.sessions().find(SessionId{1})->names, 0U);
}

// S17: a node sends a request again when no answer comes.
TEST_F(LockMachineLatches, ARepeatedCountCountsOnce) {  // P2
    EXPECT_EQ(put(count(1, 1)), "1.1 stored");
    EXPECT_EQ(put(count(1, 1)), "1.1 stored");
    EXPECT_EQ(remaining(), 1U);
}

TEST_F(LockMachineLatches, ACountSurvivesItsSession) {
    put({wait(2, 1), count(1, 1)});
    put({expiry(1), Sweep{}});
    EXPECT_EQ(remaining(), 1U);
    EXPECT_EQ(put(count(3, 1)), "3.1 stored; 2.1 passed");
}

TEST_F(LockMachineLatches, MoreThanRemainsIsNotCounted) {
    EXPECT_EQ(put(count(1, 1, 3)), "1.1 invalid_argument");
    EXPECT_FALSE(is_known());
    put(count(1, 2, 1));
    EXPECT_EQ(put(count(1, 3, 2)), "1.3 invalid_argument");
    EXPECT_EQ(remaining(), 1U);
    put(count(1, 4, 1));
    EXPECT_EQ(put(count(1, 5, 1)), "1.5 invalid_argument");
    EXPECT_EQ(put(count(1, 6, 0)), "1.6 stored");
    EXPECT_EQ(remaining(), 0U);
}

TEST_F(LockMachineLatches, WhatARequestExpectsCountsOnlyWhenItCreatesTheLatch) {
    put(count(1, 1, 1, 5));
    EXPECT_EQ(put(count(2, 1, 1, 1)), "2.1 stored");
    EXPECT_EQ(put(wait(3, 1, 0)), "3.1 queued");
    EXPECT_EQ(remaining(), 3U);
}

TEST_F(LockMachineLatches, OfNothingIsOpenAtOnce) {
    EXPECT_EQ(put(wait(1, 1, 0)), "1.1 passed");
    EXPECT_EQ(remaining(), 0U);
}

TEST_F(LockMachineLatches, StaysUntilItIsRemoved) {  // S37
    put({wait(1, 1), count(2, 1, 2)});
    put({close(1), close(2), Sweep{}});
    EXPECT_EQ(remaining(), 0U);
    EXPECT_EQ(put(remove(3, 1)), "3.1 stored");
    EXPECT_FALSE(is_known());
    EXPECT_EQ(put(wait(3, 2)), "3.2 queued");
    EXPECT_EQ(put(remove(3, 3)), "3.3 busy");
    EXPECT_EQ(remaining(), 2U);
}

TEST_F(LockMachineLatches, AWaitEndsWithACancelOrItsSession) {
    put({wait(1, 1), wait(2, 1), wait(3, 1)});
    EXPECT_EQ(put(cancel(1, 2, 1)), "1.1 cancelled; 1.2 cancelled");
    put(close(2));
    EXPECT_EQ(put(count(1, 3, 2)), "1.3 stored; 3.1 passed");
    EXPECT_FALSE(machine_.needs_sweep());
}

TEST_F(LockMachineLatches, IsNoLockAndNoSemaphore) {
    using enum LockMode;
    put(count(1, 1));
    EXPECT_EQ(put(acquire(1, 2, exclusive)), "1.2 kind_mismatch");
    EXPECT_EQ(put(permits(1, 3, 1)), "1.3 kind_mismatch");
    EXPECT_EQ(put(request(1, 4, Resize{"a", 3, 0})), "1.4 kind_mismatch");
    Acquire both{{{"a", exclusive}, {"b", exclusive}}, true, {}, false, {}};
    both.which = Acquire::Which::all;
    EXPECT_EQ(put(request(1, 5, both)), "1.5 kind_mismatch");
    EXPECT_TRUE(machine_.would_grant("a", exclusive)) << "the log refuses it";
    EXPECT_EQ(put(remove(1, 6)), "1.6 stored");
    put(acquire(1, 7, exclusive));
    EXPECT_EQ(put(count(2, 1)), "2.1 kind_mismatch");
    EXPECT_EQ(put(wait(2, 2)), "2.2 kind_mismatch");
}

TEST_F(LockMachineLatches, AFormerHolderWhoseSessionEndedIsNotInTheWay) {  // S11
    put(acquire(1, 1, LockMode::exclusive));
    put(expiry(1));
    EXPECT_EQ(put(count(2, 1)), "2.1 stored");
    EXPECT_EQ(remaining(), 1U);
}

TEST_F(LockMachineLatches, BeginsWithAtMostItsLimit) {
    EXPECT_EQ(put(count(1, 1, 1, latch_max)), "1.1 stored");
    EXPECT_EQ(put(request(1, 2, CountDown{"b", latch_max + 1, 1})), "1.2 invalid_argument");
    EXPECT_EQ(put(request(1, 3, AwaitLatch{"b", latch_max + 1, {}})), "1.3 invalid_argument");
    EXPECT_EQ(machine_.table().find("b"), nullptr);
}

TEST_F(LockMachineLatches, IsLoadedAsItWas) {
    put({wait(1, 1), request(2, 1, AwaitLatch{"a", 2, "late"}), count(3, 1)});
    const auto before = machine_.inspect("a");
    load_again();
    EXPECT_EQ(machine_.inspect("a"), before);
    EXPECT_EQ(before.waiters.at(1).label, "late");
    EXPECT_EQ(put(count(3, 2)), "3.2 stored; 1.1 passed; 2.1 passed");
    load_again();
    EXPECT_EQ(remaining(), 0U);
    EXPECT_EQ(put(wait(1, 2)), "1.2 passed");
}

TEST_F(LockMachineLatches, TheAnswerOfAPassIsKept) {  // S17
    put({wait(1, 1), count(2, 1, 2)});
    load_again();
    EXPECT_EQ(put(wait(1, 1)), "1.1 passed");
}

}  // namespace
}  // namespace mortise::core
