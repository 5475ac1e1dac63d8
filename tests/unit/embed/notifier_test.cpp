#include "embed/threads/notifier.hpp"

#include <atomic>
#include <chrono>
#include <csignal>
#include <filesystem>
#include <future>
#include <iterator>
#include <stdexcept>
#include <thread>
#include <vector>

#include <gtest/gtest.h>

#include "tests/support/no_threads.hpp"

namespace mortise::detail {
namespace {

TEST(Notifier, RunsTasksInOrderOnAThreadOfItsOwn) {
    Notifier notifier{"test"};
    std::vector<int> order;
    std::promise<bool> own;
    for (int i = 0; i < 3; ++i)
        notifier.post([&order, i] { order.push_back(i); });
    notifier.post([&] { own.set_value(notifier.is_own_thread()); });
    EXPECT_TRUE(own.get_future().get());
    EXPECT_FALSE(notifier.is_own_thread());
    EXPECT_EQ(order, (std::vector{0, 1, 2}));
}

// Its threads take what is posted in a burst at once, unless all sleep. A third one wakes up once
// by itself.
TEST(Notifier, IsWokenAtTheEndOfABurst) {
    using namespace std::chrono_literals;
    Notifier notifier{"test"};
    for (int slept = 0; slept < 4;) {
        std::promise<void> last;
        auto ran = last.get_future();
        {
            const Notifier::Burst burst{notifier};
            const Notifier::Burst inner{notifier};
            notifier.post([&] { last.set_value(); });
            if (ran.wait_for(50ms) == std::future_status::timeout) ++slept;
        }
        ASSERT_EQ(ran.wait_for(10s), std::future_status::ready);
    }
    notifier.stop();
}

// It would wait for ever if the second task waited for the first.
TEST(Notifier, GoesOnWithTheRestWhileOneTakesItsTime) {  // P10
    Notifier notifier{"test"};
    std::promise<void> second;
    std::promise<void> first;
    auto second_ran = second.get_future();
    notifier.post([&] {
        second_ran.wait();
        first.set_value();
    });
    notifier.post([&] { second.set_value(); });
    first.get_future().wait();
    EXPECT_GE(notifier.overruns(), 1U);
}

TEST(Notifier, SurvivesWhatATaskThrows) {
    Notifier notifier{"test"};
    std::promise<void> next;
    notifier.post([] { throw std::runtime_error{"theirs"}; });
    notifier.post([&] { next.set_value(); });
    next.get_future().wait();
}

TEST(Notifier, RunsWhatWasPostedBeforeItStopsAndNothingAfter) {
    Notifier notifier{"test"};
    std::atomic<int> ran = 0;
    for (int i = 0; i < 100; ++i) {
        notifier.post([&] {
            ++ran;
            notifier.post([&] { ++ran; });
        });
    }
    notifier.stop();
    EXPECT_EQ(ran, 200);
    EXPECT_FALSE(notifier.post([&] { ++ran; }));
    EXPECT_EQ(ran, 200);
}

// A callback that waits for another one gets its answer, also after the end has begun.
TEST(Notifier, GoesOnWithTheRestWhileItStops) {
    Notifier notifier{"test"};
    std::promise<void> first;
    std::promise<void> second;
    std::promise<void> stopping;
    bool own = false;
    auto second_ran = second.get_future();
    std::future_status waited{};
    notifier.post([&] {
        first.set_value();
        stopping.get_future().wait();
        // it waits for this thread by now
        std::this_thread::sleep_for(std::chrono::milliseconds{50});
        own = notifier.is_own_thread();
        notifier.post([&] { second.set_value(); });
        waited = second_ran.wait_for(std::chrono::seconds{30});
    });
    first.get_future().wait();
    stopping.set_value();
    notifier.stop();
    EXPECT_TRUE(own);
    EXPECT_EQ(waited, std::future_status::ready);
}

std::ptrdiff_t threads_of_process() {
    const std::filesystem::directory_iterator tasks{"/proc/self/task"};
    return std::distance(begin(tasks), end(tasks));
}

// Callbacks that wait for a later event of their own node.
TEST(Notifier, ManyThatWaitDoNotStopIt) {
    const auto before = threads_of_process();
    Notifier notifier{"test"};
    std::promise<void> last;
    const auto told = last.get_future().share();
    std::atomic<int> ended = 0;
    constexpr int many = 50;
    for (int i = 0; i < many; ++i)
        notifier.post([&] {
            told.wait();
            ++ended;
        });
    notifier.post([&] { last.set_value(); });
    ASSERT_EQ(told.wait_for(std::chrono::seconds{30}), std::future_status::ready);
    while (ended < many)
        std::this_thread::yield();
    // The additional threads end again.
    const auto give_up = std::chrono::steady_clock::now() + std::chrono::seconds{30};
    while (threads_of_process() > before + 3 && std::chrono::steady_clock::now() < give_up)
        std::this_thread::sleep_for(std::chrono::milliseconds{20});
    EXPECT_LE(threads_of_process(), before + 3);
    // One thread still watches those that work.
    std::promise<void> again;
    const auto told_again = again.get_future().share();
    for (int i = 0; i < 3; ++i)
        notifier.post([told_again] { told_again.wait(); });
    std::this_thread::sleep_for(std::chrono::milliseconds{1'200});
    notifier.post([&] { again.set_value(); });
    EXPECT_EQ(told_again.wait_for(std::chrono::seconds{30}), std::future_status::ready);
}

TEST(Notifier, DoesWithTheThreadsThatThereAre) {
    Notifier notifier{"test"};
    std::atomic<int> ran = 0;
    {
        const test::NoThreads none;
        std::promise<void> last;
        for (int i = 0; i < 10; ++i)
            notifier.post([&] { ++ran; });
        notifier.post([&] { last.set_value(); });
        last.get_future().wait();
        EXPECT_FALSE(run_elsewhere([&] { ++ran; }));
    }
    EXPECT_EQ(ran, 10);
}

TEST(Notifier, WhatRunsElsewhereMayThrowAndTakesNoSignals) {
    std::promise<bool> blocked;
    const bool runs = run_elsewhere([&] {
        sigset_t mask;
        pthread_sigmask(SIG_SETMASK, nullptr, &mask);
        blocked.set_value(sigismember(&mask, SIGTERM) == 1);
        throw std::runtime_error{"theirs"};
    });
    ASSERT_TRUE(runs);
    EXPECT_TRUE(blocked.get_future().get());
}

}  // namespace
}  // namespace mortise::detail
