// A configuration in which every key differs from its default.
#pragma once

#include <gtest/gtest.h>

#include <mortise/config.hpp>

namespace mortise::test {

inline Config sample_config() {
    using namespace std::chrono_literals;
    Config config;
    config.cluster = "orders";
    config.node_id = 2;
    config.data_dir = "/var/lib/orders/mortise";
    config.listen = "127.0.0.1:7402";
    config.advertise = "node-2.example:7402";
    config.durability = Durability::replicated;
    config.sync_interval = 80ms;
    config.tls.insecure = true;
    config.peers = {{1, "127.0.0.1:7401"}, {2, "[::1]:7402"}, {3, "node-3.example:7403"}};
    config.timing = {12s, 2s, 200ms, 1min, 1'500ms, 0.02};
    config.log.level = LogLevel::debug;
    config.log.format = LogFormat::json;
    config.limits = {1'000, 2'097'152, 1'048'576, 5, 6, false};
    config.observability = {90s, 3s, {"orders/", "jobs/"}};
    return config;
}

inline void expect_equal(const Config& config, const Config& expected) {
    EXPECT_EQ(config.cluster, expected.cluster);
    EXPECT_EQ(config.role, expected.role);
    EXPECT_EQ(config.node_id, expected.node_id);
    EXPECT_EQ(config.data_dir, expected.data_dir);
    EXPECT_EQ(config.listen, expected.listen);
    EXPECT_EQ(config.advertise, expected.advertise);
    EXPECT_EQ(config.durability, expected.durability);
    EXPECT_EQ(config.sync_interval, expected.sync_interval);
    EXPECT_EQ(config.peers, expected.peers);
    EXPECT_EQ(config.peers_from, expected.peers_from);
    EXPECT_EQ(config.expect, expected.expect);
    EXPECT_EQ(config.timing, expected.timing);
    EXPECT_EQ(config.tls, expected.tls);
    EXPECT_EQ(config.log.level, expected.log.level);
    EXPECT_EQ(config.log.format, expected.log.format);
    EXPECT_EQ(config.limits, expected.limits);
    EXPECT_EQ(config.observability, expected.observability);
    EXPECT_EQ(config.memory_only, expected.memory_only);
}

}  // namespace mortise::test
