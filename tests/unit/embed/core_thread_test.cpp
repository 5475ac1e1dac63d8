// The core thread and how other threads reach it.
#include "embed/runtime/core_thread.hpp"

#include <chrono>

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

}  // namespace
}  // namespace mortise::detail
