#include "embed/runtime/timing_words.hpp"

#include <gtest/gtest.h>

namespace mortise::detail {
namespace {

using namespace std::chrono_literals;

const core::HelloTiming ours{1s, 100ms, 10s};

TEST(TimingWords, NameWhatDiffersAndNothingElse) {
    EXPECT_EQ(timing_differences(ours, ours), "");
    EXPECT_EQ(timing_differences({5s, 100ms, 10s}, ours), "election_timeout 5s (here 1s)");
    EXPECT_EQ(timing_differences({1s, 1500us, 20s}, ours),
              "heartbeat 1500us (here 100ms), session_ttl 20s (here 10s)");
}

TEST(TimingWords, AreEmptyForANodeThatSendsNoTimes) {
    EXPECT_EQ(timing_differences({}, ours), "");
    EXPECT_EQ(timing_differences(ours, {}), "");
}

}  // namespace
}  // namespace mortise::detail
