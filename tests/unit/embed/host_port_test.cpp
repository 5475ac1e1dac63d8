#include "embed/config/host_port.hpp"

#include <string>

#include <gtest/gtest.h>

namespace mortise::detail {
namespace {

TEST(HostPort, IsANameOrALiteralAddressAndAPort) {
    EXPECT_EQ(parse_host_port("127.0.0.1:7401"), (HostPort{"127.0.0.1", 7401}));
    EXPECT_EQ(parse_host_port("[::1]:7401"), (HostPort{"::1", 7401}));
    EXPECT_EQ(parse_host_port("[2001:db8::7]:1"), (HostPort{"2001:db8::7", 1}));
    EXPECT_EQ(parse_host_port("node-1.example:65535"), (HostPort{"node-1.example", 65535}));
    EXPECT_EQ(parse_host_port("db_1:0"), (HostPort{"db_1", 0}));
}

TEST(HostPort, IsNothingElse) {
    for (const std::string text :
         {"",          ":",           "7401",     "host",        "host:",
          ":7401",     "host:x",      "host:-1",  "host:+1",     "host:65536",
          "host: 1",   "host:1 ",     "::1:7401", "[::1]",       "[::1]7401",
          "[::1:7401", "[]:1",        "[host]:1", "[::g]:1",     "a b:1",
          "host/x:1",  "256.0.0.1:1", "127.1:1",  "1.2.3.4.5:1", "tcp://a:1"}) {
        EXPECT_EQ(parse_host_port(text), std::nullopt) << text;
    }
    EXPECT_EQ(parse_host_port(std::string(254, 'a') + ":1"), std::nullopt);
    EXPECT_NE(parse_host_port(std::string(253, 'a') + ":1"), std::nullopt);
    EXPECT_EQ(parse_host_port(std::string{"::1\0", 4} + ":1"), std::nullopt);
}

TEST(FoundPeersName, IsANameAndAPort) {
    EXPECT_EQ(parse_found_peers("dns:mortise.orders.svc:7401"),
              (HostPort{"mortise.orders.svc", 7401}));
    for (const std::string text : {"", "dns:", "mortise:7401", "dns:mortise", "dns:mortise:0",
                                   "dns:10.0.0.1:7401", "dns:[::1]:7401", "DNS:mortise:7401",
                                   "dns://mortise:7401", "dns+srv:mortise", "dns: mortise:1"}) {
        EXPECT_EQ(parse_found_peers(text), std::nullopt) << text;
    }
}

TEST(HostName, HasAnIdIfItEndsWithAHyphenAndANumber) {
    EXPECT_EQ(id_in_host_name("mortise-0"), 1U);
    EXPECT_EQ(id_in_host_name("mortise-2"), 3U);
    EXPECT_EQ(id_in_host_name("orders-locks-12.orders.svc"), 13U);
    for (const char* name : {"", "mortise", "mortise-", "mortise-x", "mortise-1a", "mortise2",
                             "mortise.example-1", "mortise-4294967296"})
        EXPECT_EQ(id_in_host_name(name), std::nullopt) << name;
}

TEST(HostPort, KnowsWhatStaysOnThisMachine) {
    for (const char* text : {"127.0.0.1:1", "127.255.255.254:1", "[::1]:1"}) {
        EXPECT_TRUE(is_loopback(parse_host_port(text).value())) << text;
    }
    // The address of "localhost" depends on the host's files.
    for (const char* text : {"localhost:1", "0.0.0.0:1", "[::]:1", "10.0.0.1:1", "128.0.0.1:1",
                             "[::2]:1", "[::ffff:10.0.0.1]:1", "localhost.example:1", "node-1:1"}) {
        EXPECT_FALSE(is_loopback(parse_host_port(text).value())) << text;
    }
}

}  // namespace
}  // namespace mortise::detail
