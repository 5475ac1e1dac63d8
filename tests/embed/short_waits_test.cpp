// Waits that are over before an answer can come: the time has ended, and nothing is wrong (S48).
#include <array>

#include "tests/embed/one_node.hpp"

namespace mortise {
namespace {

using namespace std::chrono_literals;

constexpr int rounds = 100;

// Nobody ever lets these callers in.
class ShortWaits : public OneNode {
protected:
    // The errors of that many calls that are neither granted nor empty.
    template <class Call>
    static std::vector<std::error_code> errors_of(const Call& call) {
        std::vector<std::error_code> errors;
        for (int round = 0; round < rounds; ++round) {
            std::error_code ec;
            EXPECT_FALSE(call(ec));
            if (ec) errors.push_back(ec);
        }
        return errors;
    }
    // The same for calls whose time ends with an error.
    template <class Call>
    static void all_time_out(const Call& call) {
        for (int round = 0; round < rounds; ++round) {
            std::error_code ec;
            call(ec);
            EXPECT_EQ(ec, Errc::timed_out);
        }
    }

    static constexpr std::array<Duration, 2> shortest{1ns, 100us};
};

TEST_F(ShortWaits, S48_OfALockAreEmpty) {
    const auto holder = node_.acquire("x", {.caching = Caching::off});
    const AcquireOptions uncached{.caching = Caching::off};
    for (const auto time : shortest) {
        EXPECT_TRUE(errors_of([&](std::error_code& ec) {
                        return node_.acquire_for("x", time, uncached, ec).has_value();
                    }).empty());
        const AcquireOptions limited{.wait_max = time, .caching = Caching::off};
        all_time_out([&](std::error_code& ec) { (void)node_.acquire("x", limited, ec); });
        EXPECT_FALSE(Mutex(node_, "x").try_lock_for(time.to_nanoseconds()));
    }
}

TEST_F(ShortWaits, S48_OfASemaphoreAreEmpty) {
    Semaphore semaphore{node_, "x", 1};
    const auto holder = semaphore.acquire();
    for (const auto time : shortest) {
        EXPECT_TRUE(errors_of([&](std::error_code& ec) {
                        return semaphore.acquire_for(1, time, ec).has_value();
                    }).empty());
    }
}

TEST_F(ShortWaits, S48_OfALatchAreFalse) {
    const Latch latch{node_, "x", 1};
    for (const auto time : shortest) {
        EXPECT_TRUE(
            errors_of([&](std::error_code& ec) { return latch.wait_for(time, ec); }).empty());
        all_time_out([&](std::error_code& ec) { latch.wait({.wait_max = time}, ec); });
    }
}

// The first one that gives up breaks it.
TEST_F(ShortWaits, S48_OfABarrierAreFalse) {
    for (int round = 0; round < rounds; ++round) {
        Barrier barrier{node_, "x" + std::to_string(round), 2};
        std::error_code ec;
        EXPECT_FALSE(barrier.arrive_and_wait_for(1ns, ec));
        EXPECT_FALSE(ec) << ec.message();
    }
}

TEST_F(ShortWaits, S48_OfAnUpgradeTimeOut) {
    auto one = node_.acquire("x", {.mode = LockMode::update});
    const auto other = node_.acquire("x", {.mode = LockMode::shared});
    const auto soon = [] { return std::chrono::steady_clock::now() + 1ns; };
    all_time_out([&](std::error_code& ec) { one.upgrade(soon(), ec); });
    EXPECT_TRUE(one.valid());
}

}  // namespace
}  // namespace mortise
