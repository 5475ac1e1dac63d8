// Lockers that acquire several names at once (S22, S32, S33).
#include <chrono>
#include <future>
#include <stop_token>
#include <thread>
#include <utility>

#include <asio/use_future.hpp>

#include "tests/embed/one_node.hpp"
#include <mortise/async.hpp>

namespace mortise {
namespace {

using namespace std::chrono_literals;

class LockerOfSeveralNames : public OneNode {
protected:
    AcquireOptions by_locker() {
        AcquireOptions options;
        options.locker = locker_;
        return options;
    }
    std::size_t holders() {
        return node_.inspect("a").holders.size() + node_.inspect("b").holders.size();
    }
    // The error of a wait for it.
    template <class Wait>
    void expect_cycle_of_one(const Wait& wait, const char* name) {
        try {
            wait();
            FAIL() << "it was granted";
        } catch (const LockError& error) {
            EXPECT_EQ(error.code(), Errc::deadlock);
            using Steps = std::vector<ErrorDetail::Wait>;
            EXPECT_EQ(error.detail().cycle, (Steps{{"importer", name}}));
        }
    }

    const LockRequests a_and_b_{"a", "b"};
    Locker locker_{node_, "importer"};
    std::error_code ec_;
};

TEST_F(LockerOfSeveralNames, HasThemAsOneHold) {
    auto holds = node_.acquire_all(a_and_b_, by_locker());
    EXPECT_EQ(locker_.hold_count(), 1U);
    EXPECT_FALSE(node_.try_acquire("a"));
    EXPECT_FALSE(holds.release());
    EXPECT_EQ(locker_.hold_count(), 0U);
    EXPECT_EQ(holders(), 0U);
}

TEST_F(LockerOfSeveralNames, TakesOneAfterTheOtherOfAny) {
    auto first = node_.acquire_any(a_and_b_, by_locker());
    auto second = node_.try_acquire_any(a_and_b_, by_locker());
    ASSERT_TRUE(second);
    EXPECT_EQ(first.name() + second->name(), "ab");
    EXPECT_EQ(locker_.hold_count(), 2U);
    EXPECT_FALSE(node_.try_acquire_any(a_and_b_, by_locker()));
    first.unlock();
    EXPECT_EQ(locker_.hold_count(), 1U);
    EXPECT_EQ(node_.acquire_any(a_and_b_, by_locker()).name(), "a");
}

TEST_F(LockerOfSeveralNames, ReleasesThemWithTheRest) {
    auto both = node_.acquire_all(a_and_b_, by_locker());
    auto any = node_.acquire_any({"c", "d"}, by_locker());
    auto one = node_.acquire("x", by_locker());
    EXPECT_EQ(locker_.hold_count(), 3U);
    EXPECT_FALSE(locker_.release_all());
    EXPECT_EQ(locker_.hold_count(), 0U);
    EXPECT_FALSE(both || any || one);
    EXPECT_EQ(holders(), 0U);
    EXPECT_TRUE(node_.try_acquire("c") && node_.try_acquire("x"));
    EXPECT_EQ(both.release(), Errc::not_held);
}

TEST_F(LockerOfSeveralNames, CountsNoneThatIsGone) {
    { const auto holds = node_.acquire_all(a_and_b_, by_locker()); }
    EXPECT_EQ(locker_.hold_count(), 0U);
    const auto taken = node_.acquire("b");
    auto options = by_locker();
    options.wait_max = 20ms;
    std::ignore = node_.acquire_all(a_and_b_, options, ec_);
    EXPECT_EQ(ec_, Errc::timed_out);
    EXPECT_EQ(locker_.hold_count(), 0U);
}

TEST_F(LockerOfSeveralNames, SharesNoneOfThem) {
    const auto holds = node_.acquire_all(a_and_b_, by_locker());
    EXPECT_FALSE(node_.try_acquire("a", by_locker()));
    expect_cycle_of_one([&] { std::ignore = node_.acquire("a", by_locker()); }, "a");
    EXPECT_EQ(locker_.hold_count(), 1U);
}

TEST_F(LockerOfSeveralNames, AreInItsOwnWay) {
    const auto one = node_.acquire("b", by_locker());
    expect_cycle_of_one([&] { std::ignore = node_.acquire_all(a_and_b_, by_locker()); }, "b");
    EXPECT_EQ(node_.acquire_any(a_and_b_, by_locker()).name(), "a");
    const auto other = node_.acquire("a", by_locker());
    expect_cycle_of_one([&] { std::ignore = node_.acquire_any(a_and_b_, by_locker()); }, "a");
}

TEST_F(LockerOfSeveralNames, BelongsToItsNode) {
    Node other{Config::in_memory()};
    std::ignore = other.acquire_all(a_and_b_, by_locker(), ec_);
    EXPECT_EQ(ec_, Errc::invalid_argument);
    std::ignore = other.try_acquire_any(a_and_b_, by_locker(), ec_);
    EXPECT_EQ(ec_, Errc::invalid_argument);
    auto asked = async_acquire_any(other, a_and_b_.list(), by_locker(), asio::use_future);
    EXPECT_THROW(std::ignore = asked.get(), std::system_error);
}

// For the thread sanitizer: the grant is already watched when another thread finds it here.
TEST_F(LockerOfSeveralNames, MayBeReleasedAsSoonAsTheyAreGranted) {
    auto watched = by_locker();
    watched.on_at_risk = [](Duration) {};
    std::jthread releases{[&](const std::stop_token& is_done) {
        while (!is_done.stop_requested()) {
            std::ignore = locker_.release_all();
            std::this_thread::yield();
        }
    }};
    for (int round = 0; round < 100; ++round) {
        const auto both = node_.acquire_all(a_and_b_, watched);
        const auto any =
            async_acquire_any(node_, {{"c", LockMode::exclusive}}, watched, asio::use_future).get();
    }
    releases.request_stop();
    releases.join();
    EXPECT_EQ(locker_.hold_count(), 0U);
    const auto end = std::chrono::steady_clock::now() + 60s;
    // they are released by themselves
    while (holders() != 0 && std::chrono::steady_clock::now() < end)
        std::this_thread::sleep_for(1ms);
    EXPECT_EQ(holders(), 0U);
}

TEST_F(LockerOfSeveralNames, AreAskedForByAsynchronousCallsAsWell) {
    auto both = async_acquire_all(node_, a_and_b_.list(), by_locker(), asio::use_future).get();
    auto any =
        async_acquire_any(node_, {{"c", LockMode::exclusive}}, by_locker(), asio::use_future).get();
    EXPECT_EQ(locker_.hold_count(), 2U);
    any.unlock();
    EXPECT_EQ(locker_.hold_count(), 1U);
    EXPECT_FALSE(locker_.release_all());
    EXPECT_FALSE(both.valid());
}

}  // namespace
}  // namespace mortise
