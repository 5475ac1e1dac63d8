#include "embed/runtime/unready_watch.hpp"

#include <chrono>
#include <string>
#include <vector>

#include <gmock/gmock.h>

namespace mortise::detail {
namespace {

using namespace std::chrono_literals;
using ::testing::HasSubstr;

class UnreadyWatchTest : public ::testing::Test {
protected:
    LogConfig collecting() {
        LogConfig config;
        config.sink = [this](LogLevel, std::string_view line) { lines_.emplace_back(line); };
        return config;
    }

    std::vector<std::string> lines_;
    asio::io_context io_;
    NodeLog log_{collecting(), 1};
    UnreadyWatch watch_{io_, log_, 1ms, [] { return std::string{"no majority"}; }};
};

TEST_F(UnreadyWatchTest, WarnsAtTheLimitAndEachTimeThatTheTimeHasDoubled) {
    watch_.not_ready();
    EXPECT_TRUE(lines_.empty());
    while (lines_.size() < 3)
        io_.run_one();
    for (const auto& line : lines_)
        EXPECT_THAT(line, HasSubstr("not ready for 0s: no majority"));
}

TEST_F(UnreadyWatchTest, SaysNothingAnyMoreWhenTheNodeIsReady) {
    watch_.not_ready();
    watch_.ready();
    io_.run();  // returns, since no timer is left
    EXPECT_TRUE(lines_.empty());
}

}  // namespace
}  // namespace mortise::detail
