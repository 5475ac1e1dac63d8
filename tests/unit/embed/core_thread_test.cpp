// The core thread and how other threads reach it.
#include "embed/runtime/core_thread.hpp"

#include <chrono>
#include <thread>
#include <vector>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace mortise::detail {
namespace {

using namespace std::chrono_literals;

TEST(CoreThread, RunsWhatIsPostedUntilItIsStopped) {
    CoreThread core;
    EXPECT_FALSE(core.is_started());
    EXPECT_FALSE(core.is_own());
    core.start([&] { core.io().run(); });
    EXPECT_TRUE(core.is_started());
    EXPECT_EQ(core.questions().ask([&] { return core.is_own(); }, 30s), true);
    bool is_done = false;
    core.post([&] {
        core.stop();
        is_done = true;
    });
    core.join();
    EXPECT_TRUE(is_done);
    EXPECT_FALSE(core.is_started());
}

// The core thread writes entries that may be forgotten, and the log thread the next ones, before
// the step has ended in which both were submitted.
TEST(CoreThread, RunsTheTasksOfAllThreadsInTheOrderOfTheirPosts) {
    CoreThread core;
    std::vector<int> ran;
    core.post([&] {
        core.post([&] { ran.push_back(1); });
        std::thread{[&] { core.post([&] { ran.push_back(2); }); }}.join();
        core.post([&] { core.stop(); });
    });
    core.io().run();
    EXPECT_THAT(ran, testing::ElementsAre(1, 2));
}

}  // namespace
}  // namespace mortise::detail
