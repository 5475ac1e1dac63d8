// The text for Prometheus, read by a parser of its own.
#include <chrono>
#include <stdexcept>

#include <gtest/gtest.h>

#include "embed/values/duration_buckets.hpp"
#include "embed/values/prometheus_writer.hpp"
#include "tests/support/prometheus_text.hpp"
#include <mortise/prometheus.hpp>

namespace mortise {
namespace {

using namespace std::chrono_literals;
using tests::read_prometheus;
using tests::value_of;

NodeReading reading_of(NodeId id) {
    NodeReading reading;
    reading.status.id = id;
    reading.status.cluster = "orders";
    reading.status.version = "1.2.3";
    return reading;
}

tests::PrometheusMetrics metrics_of(const NodeReading& reading) {
    return read_prometheus(prometheus_text(std::span{&reading, 1}));
}

void expect_refused(const std::string& text) {
    EXPECT_THROW((void)read_prometheus(text), std::runtime_error) << text;
}

// --- the parser itself: each rule of the format

TEST(PrometheusParser, ReadsWhatFollowsTheRules) {
    const auto metrics = read_prometheus(
        "# HELP a_total All of it.\n# TYPE a_total counter\na_total 3\na_total{x=\"1\",y=\"\\\"\"} "
        "2.5\n");
    EXPECT_EQ(metrics.at("a_total").type, "counter");
    EXPECT_EQ(metrics.at("a_total").samples.at(1).labels.at("y"), "\"");
    EXPECT_EQ(value_of(metrics, "a_total", {{"x", "1"}}), 2.5);
}

TEST(PrometheusParser, RefusesWhatBreaksThem) {
    const std::string begin = "# HELP a Help.\n# TYPE a gauge\n";
    expect_refused("a 1\n");                                        // no type
    expect_refused("# TYPE a gauge\na 1\n");                        // no help
    expect_refused(begin + "a 1");                                  // no end of the line
    expect_refused(begin + "b 1\n");                                // of another metric
    expect_refused(begin + "a 1\na 1\n");                           // twice
    expect_refused(begin + "a one\n");                              // no number
    expect_refused(begin + "a{x=1} 1\n");                           // no quotes
    expect_refused(begin + "a{x=\"\\y\"} 1\n");                     // an unknown escape
    expect_refused(begin + "a{x=\"1\",x=\"2\"} 1\n");               // a label twice
    expect_refused(begin + begin);                                  // a metric twice
    expect_refused("# HELP a-b Help.\n# TYPE a-b gauge\na-b 1\n");  // no name
    expect_refused("# HELP a Help.\n# TYPE a number\na 1\n");       // no type of Prometheus
}

TEST(PrometheusParser, RefusesHistogramsThatAreNone) {
    const std::string begin = "# HELP a Help.\n# TYPE a histogram\n";
    const auto bucket = [](const std::string& le, int value) {
        return "a_bucket{le=\"" + le + "\"} " + std::to_string(value) + "\n";
    };
    EXPECT_NO_THROW(
        (void)read_prometheus(begin + bucket("1", 1) + bucket("+Inf", 2) + "a_sum 3\na_count 2\n"));
    expect_refused(begin + bucket("1", 1) + "a_sum 3\na_count 1\n");
    expect_refused(begin + bucket("1", 2) + bucket("+Inf", 1) + "a_sum 3\na_count 1\n");
    expect_refused(begin + bucket("2", 1) + bucket("1", 1) + bucket("+Inf", 1) + "a_count 1\n");
    expect_refused(begin + bucket("1", 1) + bucket("+Inf", 2) + "a_sum 3\na_count 3\n");
    expect_refused(begin + bucket("1", 1) + bucket("+Inf", 2));
    expect_refused(begin + "a 1\n");
}

// --- the text

TEST(PrometheusText, EachMetricHasAHelpATypeAndANameByTheConventions) {
    auto reading = reading_of(1);
    reading.status.members.push_back({.id = 1});
    reading.metrics.certificate_left = 1h;
    reading.metrics.prefixes.emplace_back();
    const auto metrics = metrics_of(reading);
    EXPECT_GT(metrics.size(), 50U);
    for (const auto& [name, metric] : metrics) {
        EXPECT_TRUE(name.starts_with("mortise_")) << name;
        EXPECT_EQ(metric.type == "counter", name.ends_with("_total")) << name;
        EXPECT_EQ(metric.type == "histogram",
                  name.ends_with("_duration_seconds") || name.ends_with("_slack_seconds"))
            << name;
        EXPECT_TRUE(metric.help.ends_with('.')) << name;
        const bool is_of_the_leader = name == "mortise_member_lag_entries";
        EXPECT_EQ(metric.samples.empty(), is_of_the_leader) << name;
        for (const auto& sample : metric.samples) {
            EXPECT_EQ(sample.labels.at("cluster"), "orders") << name;
            EXPECT_EQ(sample.labels.at("node"), "1") << name;
        }
    }
}

TEST(PrometheusText, HistogramsAreCumulativeAndInSeconds) {
    auto reading = reading_of(1);
    detail::count(reading.metrics.acquire_time, 3us);
    detail::count(reading.metrics.acquire_time, 1ms);
    detail::count(reading.metrics.acquire_time, 2h);
    const auto metrics = metrics_of(reading);
    const std::string name = "mortise_acquire_duration_seconds";
    EXPECT_EQ(value_of(metrics, name + "_bucket", {{"le", "2e-06"}}), 0);
    EXPECT_EQ(value_of(metrics, name + "_bucket", {{"le", "5e-06"}}), 1);
    EXPECT_EQ(value_of(metrics, name + "_bucket", {{"le", "0.001"}}), 2);
    EXPECT_EQ(value_of(metrics, name + "_bucket", {{"le", "5000"}}), 2);
    EXPECT_EQ(value_of(metrics, name + "_bucket", {{"le", "+Inf"}}), 3);
    EXPECT_EQ(value_of(metrics, name + "_count"), 3);
    EXPECT_DOUBLE_EQ(value_of(metrics, name + "_sum"), 7200.001003);
}

TEST(PrometheusText, EachNumberIsThatOfItsMember) {
    auto reading = reading_of(1);
    reading.metrics.acquire_results.deadlocked = 1;
    reading.metrics.lost_broken = 2;
    reading.metrics.holds = 3;
    reading.metrics.log_bytes = 4;
    reading.metrics.certificate_left = 90s;
    reading.metrics.slowest_log_write = 250ms;
    reading.status.term = 5;
    reading.status.forgetful = true;
    reading.metrics.unsynced_writes = 6;
    reading.metrics.background_syncs = 7;
    reading.metrics.unsynced_age = 500ms;
    const auto metrics = metrics_of(reading);
    EXPECT_EQ(value_of(metrics, "mortise_acquires_total", {{"result", "deadlocked"}}), 1);
    EXPECT_EQ(value_of(metrics, "mortise_acquires_total", {{"result", "granted"}}), 0);
    EXPECT_EQ(value_of(metrics, "mortise_holds_lost_total", {{"reason", "broken"}}), 2);
    EXPECT_EQ(value_of(metrics, "mortise_holds"), 3);
    EXPECT_EQ(value_of(metrics, "mortise_log_written_bytes_total"), 4);
    EXPECT_EQ(value_of(metrics, "mortise_certificate_left_seconds"), 90);
    EXPECT_EQ(value_of(metrics, "mortise_slowest_log_write_seconds"), 0.25);
    EXPECT_EQ(value_of(metrics, "mortise_term"), 5);
    EXPECT_EQ(value_of(metrics, "mortise_forgetful"), 1);
    EXPECT_EQ(value_of(metrics, "mortise_log_unsynced_writes_total"), 6);
    EXPECT_EQ(value_of(metrics, "mortise_log_background_syncs_total"), 7);
    EXPECT_EQ(value_of(metrics, "mortise_unsynced_seconds"), 0.5);
}

// Never one for each name: there may be millions.
TEST(PrometheusText, EachPrefixHasASeries) {
    auto reading = reading_of(1);
    reading.metrics.waiters = 5;
    reading.metrics.contended_names = 2;
    reading.metrics.oldest_wait = 1500ms;
    reading.metrics.hottest = {{"orders/1", NameKind::lock, 1, 5, 1500ms}};
    reading.metrics.prefixes = {{"orders/", 3, 5, 2, 7, 1500ms}, {"", 1, 0, 0, 9, 0ms}};
    const auto metrics = metrics_of(reading);
    EXPECT_EQ(value_of(metrics, "mortise_waiters"), 5);
    EXPECT_EQ(value_of(metrics, "mortise_contended_names"), 2);
    EXPECT_EQ(value_of(metrics, "mortise_oldest_wait_seconds"), 1.5);
    const auto of_orders = [&](const std::string& name) {
        EXPECT_EQ(metrics.at(name).samples.size(), 2U) << name;
        return value_of(metrics, name, {{"prefix", "orders/"}});
    };
    EXPECT_EQ(of_orders("mortise_prefix_holders"), 3);
    EXPECT_EQ(of_orders("mortise_prefix_waiters"), 5);
    EXPECT_EQ(of_orders("mortise_prefix_contended_names"), 2);
    EXPECT_EQ(of_orders("mortise_prefix_grants_total"), 7);
    EXPECT_EQ(of_orders("mortise_prefix_oldest_wait_seconds"), 1.5);
    EXPECT_EQ(value_of(metrics, "mortise_prefix_grants_total", {{"prefix", ""}}), 9);
    EXPECT_EQ(prometheus_text(std::span{&reading, 1}).find("orders/1"), std::string::npos);
}

TEST(PrometheusText, WithoutTlsNoCertificateExpires) {
    const auto metrics = metrics_of(reading_of(1));
    EXPECT_TRUE(metrics.at("mortise_certificate_left_seconds").samples.empty());
}

TEST(PrometheusText, TheLeaderSaysHowFarTheOthersAreBehind) {
    auto reading = reading_of(1);
    reading.status.standing = Standing::leader;
    reading.status.leader = 1;
    reading.status.commit_index = 100;
    reading.status.members = {{.id = 1, .connected = true},
                              {.id = 2, .connected = true, .matching = 90},
                              {.id = 3, .role = Role::learner, .matching = 120}};
    const auto metrics = metrics_of(reading);
    const auto lag = [&](const char* member) {
        return value_of(metrics, "mortise_member_lag_entries", {{"member", member}});
    };
    EXPECT_EQ(lag("1"), 0);
    EXPECT_EQ(lag("2"), 10);
    EXPECT_EQ(lag("3"), 0);
    EXPECT_EQ(value_of(metrics, "mortise_member_connected", {{"member", "3"}}), 0);
    EXPECT_EQ(value_of(metrics, "mortise_members", {{"role", "voter"}}), 2);
    EXPECT_EQ(value_of(metrics, "mortise_members", {{"role", "learner"}}), 1);
    EXPECT_EQ(value_of(metrics, "mortise_leader"), 1);
}

TEST(PrometheusText, SeveralNodesAreOneText) {
    const std::array readings{reading_of(1), reading_of(2)};
    const auto metrics = read_prometheus(prometheus_text(readings));
    EXPECT_EQ(value_of(metrics, "mortise_ready", {{"node", "2"}}), 0);
    EXPECT_EQ(metrics.at("mortise_ready").samples.size(), 2U);
}

TEST(PrometheusText, LabelsAreEscaped) {
    auto reading = reading_of(1);
    reading.status.version = "a\"b\\c\nd\xff";
    const auto metrics = metrics_of(reading);
    EXPECT_EQ(value_of(metrics, "mortise_node_info", {{"version", "a\"b\\c\\x0ad\\xff"}}), 1);
}

}  // namespace
}  // namespace mortise
