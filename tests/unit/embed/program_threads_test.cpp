// The threads that run code of the program.
#include "embed/threads/program_threads.hpp"

#include <atomic>
#include <future>
#include <thread>

#include <gtest/gtest.h>

namespace mortise::detail {
namespace {

using namespace std::chrono_literals;

TEST(ProgramThreads, KnowTheirOwn) {
    ProgramThreads threads{[](auto) {}};
    EXPECT_FALSE(threads.is_own());
    std::promise<bool> one;
    std::promise<bool> other;
    threads.notifier()->post([&] { one.set_value(threads.is_own()); });
    threads.losses().post([&] { other.set_value(threads.is_own()); });
    EXPECT_TRUE(one.get_future().get());
    EXPECT_TRUE(other.get_future().get());
    threads.stop();
}

TEST(ProgramThreads, TellOneOfManySlowCallbacks) {
    std::atomic<int> told = 0;
    ProgramThreads threads{[&](std::chrono::nanoseconds took) {
        EXPECT_GE(took, 100ms);
        ++told;
    }};
    for (auto* const notifier : {threads.notifier().get(), &threads.losses()})
        notifier->post([] { std::this_thread::sleep_for(100ms); });
    threads.stop();
    EXPECT_EQ(threads.notifier()->slow_tasks() + threads.losses().slow_tasks(), 2U);
    EXPECT_EQ(told, 1);
}

}  // namespace
}  // namespace mortise::detail
