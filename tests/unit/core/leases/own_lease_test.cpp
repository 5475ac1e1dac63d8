// The holder's part of a lease: from which request and which time it counts (S2, S3).
#include "core/leases/own_lease.hpp"

#include <gtest/gtest.h>

namespace mortise::core {
namespace {

using namespace std::chrono_literals;

constexpr std::uint32_t ttl_ms = 10'000;
constexpr std::uint32_t rho_ppm = 10'000;
// ttl*(1-rho), less a hundredth of the ttl.
constexpr Nanoseconds trust = 9'800ms;

constexpr Instant at(Nanoseconds time) {
    return Instant{} + time;
}

class OwnLeaseTest : public testing::Test {
protected:
    OwnLease lease_{ttl_ms, rho_ppm};
};

TEST_F(OwnLeaseTest, IsNotValidBeforeAnyRenewalWasApplied) {
    EXPECT_FALSE(lease_.is_valid(at(-1h)));
    lease_.sent(0, at(5s));
    EXPECT_FALSE(lease_.is_valid(at(5s)));
}

TEST_F(OwnLeaseTest, RunsFromWhenTheRequestWasSentNotFromWhenItWasApplied) {  // P3, B-R7
    lease_.sent(0, at(5s));
    lease_.applied(0);
    EXPECT_EQ(lease_.valid_until(), at(5s + trust));
    EXPECT_TRUE(lease_.is_valid(at(5s + trust - 1ns)));
    EXPECT_FALSE(lease_.is_valid(at(5s + trust)));
}

TEST_F(OwnLeaseTest, NumbersRiseAndAreNeverUsedAgain) {
    EXPECT_EQ(lease_.next_request(at(1s)), 1U);
    EXPECT_EQ(lease_.next_request(at(2s)), 2U);
    lease_.applied(2);
    EXPECT_EQ(lease_.next_request(at(3s)), 3U);
}

TEST_F(OwnLeaseTest, OnlyTheNumberThatWasAppliedCounts) {  // P3
    const auto first = lease_.next_request(at(1s));
    const auto second = lease_.next_request(at(4s));
    lease_.applied(first);
    EXPECT_EQ(lease_.valid_until(), at(1s + trust));
    lease_.applied(second);
    EXPECT_EQ(lease_.valid_until(), at(4s + trust));
}

TEST_F(OwnLeaseTest, AResendDoesNotChangeWhenItWasSent) {
    const auto number = lease_.next_request(at(1s));
    lease_.sent(number, at(3s));
    lease_.applied(number);
    EXPECT_EQ(lease_.valid_until(), at(1s + trust));
}

TEST_F(OwnLeaseTest, WhatWasOvertakenOrIsUnknownExtendsNothing) {
    const auto first = lease_.next_request(at(1s));
    const auto second = lease_.next_request(at(4s));
    lease_.applied(second);
    lease_.applied(first);
    lease_.applied(second);
    lease_.applied(77);
    EXPECT_EQ(lease_.valid_until(), at(4s + trust));
}

TEST_F(OwnLeaseTest, ForgetsTheOldestOfTooManyRequests) {
    const auto oldest = lease_.next_request(at(1s));
    std::uint64_t newest = 0;
    for (int i = 0; i < 256; ++i)
        newest = lease_.next_request(at(2s));
    lease_.applied(oldest);
    EXPECT_FALSE(lease_.is_valid(at(1s)));
    lease_.applied(newest);
    EXPECT_EQ(lease_.valid_until(), at(2s + trust));
}

}  // namespace
}  // namespace mortise::core
