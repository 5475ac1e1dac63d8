#include "transport/network/handshake_turns.hpp"

#include <string>

#include <gtest/gtest.h>

namespace mortise::transport {
namespace {

asio::ip::address from(const std::string& text) {
    return asio::ip::make_address(text);
}

TEST(HandshakeTurns, WhoseTurnIsTheLongestAgoComesFirst) {
    HandshakeTurns turns;
    const auto flood = from("10.0.0.1");
    const auto peer = from("10.0.0.2");
    turns.took(peer);
    for (int i = 0; i < 100; ++i)
        turns.took(flood);
    EXPECT_LT(turns.last_of(peer), turns.last_of(flood));
    turns.took(peer);
    EXPECT_LT(turns.last_of(flood), turns.last_of(peer));
    EXPECT_EQ(turns.last_of(from("10.0.0.3")), 0U);  // it never had one
}

TEST(HandshakeTurns, ANetworkOfIPv6IsOneSource) {
    HandshakeTurns turns;
    turns.took(from("2001:db8::1"));
    EXPECT_EQ(turns.last_of(from("2001:db8::2")), 1U);
    EXPECT_EQ(turns.last_of(from("2001:db8:0:1::2")), 0U);
}

TEST(HandshakeTurns, ManySourcesTakeLittleMemory) {
    HandshakeTurns turns;
    for (unsigned i = 0; i < 10'000; ++i)
        turns.took(asio::ip::address_v4{0x0a000000U + i});
    EXPECT_EQ(turns.sources(), HandshakeTurns::sources_max);
    EXPECT_EQ(turns.last_of(asio::ip::address_v4{0x0a000000U}), 0U);
    EXPECT_EQ(turns.last_of(asio::ip::address_v4{0x0a000000U + 9'999}),
              HandshakeTurns::sources_max);
}

}  // namespace
}  // namespace mortise::transport
