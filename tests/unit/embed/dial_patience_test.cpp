#include "embed/runtime/dial_patience.hpp"

#include <gtest/gtest.h>

namespace mortise::detail {
namespace {

using namespace std::chrono_literals;

core::ClientOptions options(core::Nanoseconds election_timeout, std::uint32_t session_ttl_ms) {
    core::ClientOptions options;
    options.election_timeout = election_timeout;
    options.session_ttl_ms = session_ttl_ms;
    return options;
}

TEST(DialPatience, IsTwiceTheElectionTimeoutAndAtLeastASecond) {
    EXPECT_EQ(dial_patience(options(1s, 30'000), true), 2s);
    EXPECT_EQ(dial_patience(options(100ms, 30'000), true), 1s);
}

TEST(DialPatience, IsASixthOfTheTtlAtMostWhileThereIsALease) {
    EXPECT_EQ(dial_patience(options(1s, 6'000), true), 1s);
    EXPECT_EQ(dial_patience(options(500ms, 3'000), true), 500ms);
    EXPECT_EQ(dial_patience(options(40ms, 240), true), 40ms);
}

TEST(DialPatience, IsNotBoundedByTheTtlWithoutALease) {
    EXPECT_EQ(dial_patience(options(1s, 6'000), false), 2s);
    EXPECT_EQ(dial_patience(options(40ms, 240), false), 1s);
}

}  // namespace
}  // namespace mortise::detail
