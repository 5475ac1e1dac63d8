// What a node counts and measures, and its text for Prometheus.
#include <atomic>
#include <chrono>
#include <future>
#include <stop_token>
#include <string>
#include <thread>

#include <gtest/gtest.h>

#include "tests/embed/one_node.hpp"
#include "tests/embed/recorded.hpp"
#include "tests/support/prometheus_text.hpp"
#include <mortise/prometheus.hpp>
#include <mortise/testkit/local_cluster.hpp>
#include <mortise/testkit/temp_directory.hpp>

namespace mortise {
namespace {

using namespace std::chrono_literals;

const AcquireOptions uncached{.caching = Caching::off};
constexpr auto moment = 20ms;

// The first metrics that meet the condition; the last ones if none do in time.
template <class Condition>
Metrics metrics_when(const Node& node, const Condition& condition) {
    const auto give_up = std::chrono::steady_clock::now() + patience;
    while (true) {
        const auto metrics = node.metrics();
        if (condition(metrics) || std::chrono::steady_clock::now() > give_up) return metrics;
        std::this_thread::sleep_for(1ms);
    }
}

class NodeMetrics : public OneNode {
protected:
    // A caller that gets the name when `hold` is released, `moment` after it began to wait.
    void hand_over(Hold hold, const AcquireOptions& options) {
        auto next = std::async(std::launch::async, [&] { return node_.acquire("x", options); });
        const auto before = node_.metrics().waits;
        metrics_when(node_,
                     [&](const Metrics& now) { return now.waits > 0 && now.waits >= before; });
        std::this_thread::sleep_for(moment);
        hold.unlock();
        EXPECT_TRUE(next.get().valid());
    }
};

TEST(MetricsOfABusyNode, AreThoseThatItToldLast) {
    std::promise<void> blocked;
    std::promise<void> go_on;
    auto config = Config::in_memory();
    config.timing.call_timeout = 300ms;
    config.log.level = LogLevel::debug;
    config.log.record_sink = [&](const LogRecord& record) {
        if (record.key != "lock_broken") return;
        blocked.set_value();
        go_on.get_future().wait();
    };
    Node node{config};
    ASSERT_TRUE(node.wait_ready(std::chrono::steady_clock::now() + patience));
    const auto hold = node.acquire("x", uncached);
    EXPECT_EQ(node.metrics().granted, 1U);
    std::thread breaking{[&] {
        std::error_code ignored;
        node.break_lock("x", hold.token(), "", BreakMode::immediate, ignored);
    }};
    blocked.get_future().wait();
    EXPECT_EQ(node.metrics().granted, 1U);
    go_on.set_value();
    breaking.join();
}

TEST_F(NodeMetrics, AcquiresAreCountedByTheirResult) {
    auto hold = node_.acquire("x", uncached);
    EXPECT_FALSE(node_.try_acquire("x", uncached));
    EXPECT_FALSE(node_.acquire_for("x", 1ms, uncached));
    ASSERT_TRUE(wait_for_waiters("x", 0));
    std::stop_source stop;
    auto cancelled = uncached;
    cancelled.cancel = stop.get_token();
    auto waiting = std::async(std::launch::async, [&] {
        return thrown_by([&] { (void)node_.acquire("x", cancelled); });
    });
    EXPECT_TRUE(wait_for_waiters("x", 1));
    stop.request_stop();
    EXPECT_EQ(waiting.get(), Errc::cancelled);
    const Locker locker{node_};
    auto held = node_.acquire("a", {.caching = Caching::off, .locker = locker});
    std::error_code ec;
    EXPECT_FALSE(node_.acquire_all({"a", "b"}, {.locker = locker}, ec));
    EXPECT_EQ(ec, Errc::deadlock);

    const auto metrics = node_.metrics();
    const auto& results = metrics.acquire_results;
    EXPECT_EQ(results.granted, 2U);
    EXPECT_EQ(results.busy, 1U);
    EXPECT_EQ(results.timed_out, 1U);
    EXPECT_EQ(results.cancelled, 1U);
    EXPECT_EQ(results.deadlocked, 1U);
    EXPECT_EQ(results.refused + results.failed, 0U);
    EXPECT_EQ(metrics.acquires, 6U);
}

TEST_F(NodeMetrics, OtherCallsAreNoAcquires) {
    EXPECT_FALSE(node_.inspect("x").is_held());
    EXPECT_EQ(thrown_by([&] { node_.break_lock("x", FencingToken::from_raw(1), "test"); }),
              Errc::not_held);
    const auto metrics = node_.metrics();
    EXPECT_EQ(metrics.acquire_results, AcquireResults{});
    EXPECT_EQ(metrics.failed, 1U);
}

TEST_F(NodeMetrics, ReleasesAreCountedThoughNobodyWaitsForThem) {
    node_.acquire("x", uncached).unlock();
    EXPECT_FALSE(node_.acquire("y", uncached).release());
    const auto metrics =
        metrics_when(node_, [](const Metrics& now) { return now.holds_released == 2; });
    EXPECT_EQ(metrics.holds_released, 2U);
    EXPECT_EQ(metrics.released, 1U);
}

TEST_F(NodeMetrics, TimesOfAnAcquireAndOfAHold) {
    auto hold = node_.acquire("x", uncached);
    std::this_thread::sleep_for(moment);
    EXPECT_FALSE(hold.release());
    const auto metrics = node_.metrics();
    EXPECT_EQ(metrics.acquire_time.total(), 1U);
    EXPECT_GT(metrics.acquire_time.sum_us, 0U);
    EXPECT_EQ(metrics.hold_time.total(), 1U);
    EXPECT_GE(metrics.hold_time.sum_us, 20'000U);
    EXPECT_EQ(metrics.hand_over_time.total(), 0U);
}

TEST_F(NodeMetrics, TheTimeOfAnAcquireIncludesTheWait) {
    hand_over(node_.acquire("x", uncached), uncached);
    const auto metrics = node_.metrics();
    EXPECT_EQ(metrics.acquire_time.total(), 2U);
    EXPECT_GE(metrics.acquire_time.sum_us, 20'000U);
    EXPECT_EQ(metrics.hand_over_time.total(), 1U);
    EXPECT_LT(metrics.hand_over_time.sum_us, metrics.acquire_time.sum_us);
    EXPECT_EQ(metrics.handed_over, 0U);
}

TEST_F(NodeMetrics, HandOversWithinTheNodeAreCountedAsServedByTheCache) {
    for (int times = 0; times < 2; ++times)  // now the node keeps it
        EXPECT_FALSE(node_.acquire("x").release());
    const auto before = node_.metrics();
    hand_over(node_.acquire("x"), {});
    const auto after = node_.metrics();
    EXPECT_EQ(after.handed_over, 1U);
    EXPECT_EQ(after.served_from_cache, before.served_from_cache + 2);
    EXPECT_EQ(after.acquire_results.granted, before.acquire_results.granted + 2);
    EXPECT_EQ(after.acquire_time.total(), before.acquire_time.total() + 1);
    EXPECT_GE(after.acquire_time.sum_us, 20'000U);
    EXPECT_EQ(after.hand_over_time.total(), 1U);
}

TEST_F(NodeMetrics, CachedGrantsAreInNoTime) {
    for (int times = 0; times < 3; ++times)
        EXPECT_FALSE(node_.acquire("x").release());
    const auto metrics = node_.metrics();
    EXPECT_EQ(metrics.served_from_cache, 1U);
    EXPECT_EQ(metrics.acquire_time.total(), 2U);
    EXPECT_EQ(metrics.hold_time.total(), 1U);
}

TEST_F(NodeMetrics, BrokenHoldsAreLostForThatReason) {
    const auto hold = node_.acquire("x", uncached);
    node_.break_lock("x", hold.token(), "test");
    ASSERT_TRUE(is_lost(hold));
    const auto metrics =
        metrics_when(node_, [](const Metrics& now) { return now.lost_broken == 1; });
    EXPECT_EQ(metrics.lost_broken, 1U);
    EXPECT_EQ(metrics.holds_lost, 1U);
    EXPECT_EQ(metrics.locks_broken, 1U);
    EXPECT_EQ(metrics.lost_expired + metrics.lost_node_stopped, 0U);
    EXPECT_EQ(metrics.hold_time.total(), 1U);
}

TEST_F(NodeMetrics, WhatANodeDoesByItself) {
    node_.acquire("x", uncached).unlock();
    const auto metrics = node_.metrics();
    EXPECT_EQ(metrics.elections_started, 1U);
    EXPECT_EQ(metrics.sessions_opened, 1U);
    EXPECT_GT(metrics.commit_time.total(), 0U);
    EXPECT_GT(metrics.log_memory_bytes, 0U);
    EXPECT_EQ(metrics.log_write_time.total(), metrics.log_writes);
}

// Its members are one, so it changes its durability when it has formed its cluster.
TEST(MetricsOfMemory, SayHowFarTheDiskIsBehind) {
    const testkit::TempDirectory directory{"metrics-test"};
    auto config = Config::single_node(directory.path() / "node");
    config.durability = Durability::replicated;
    config.sync_interval = 10s;
    Node node{config};
    const auto behind = metrics_when(node, [&](const Metrics& now) {
        node.acquire("x", uncached).unlock();
        return now.unsynced_writes > 0 && now.unsynced_age > 0ms;
    });
    EXPECT_GT(behind.unsynced_writes, 0U);
    EXPECT_GT(behind.unsynced_age, 0ms);
    EXPECT_EQ(behind.background_syncs, 0U);
    const auto metrics = tests::read_prometheus(prometheus_text(node));
    EXPECT_GT(tests::value_of(metrics, "mortise_unsynced_seconds"), 0);
    EXPECT_EQ(tests::value_of(metrics, "mortise_forgetful"), 0);
}

TEST(MetricsOfMemory, SayThatTheDiskHasFollowed) {
    const testkit::TempDirectory directory{"metrics-test"};
    auto config = Config::single_node(directory.path() / "node");
    config.durability = Durability::replicated;
    config.sync_interval = 1ms;
    Node node{config};
    const auto synced = metrics_when(node, [&](const Metrics& now) {
        if (now.unsynced_writes == 0) node.acquire("x", uncached).unlock();
        return now.background_syncs > 0 && now.unsynced_age == Duration{};
    });
    EXPECT_GT(synced.background_syncs, 0U);
    EXPECT_EQ(synced.unsynced_age, Duration{});
}

TEST_F(NodeMetrics, TheTextHasTheSameNumbers) {
    const auto hold = node_.acquire("x", uncached);
    const auto metrics = tests::read_prometheus(prometheus_text(node_));
    EXPECT_EQ(tests::value_of(metrics, "mortise_acquires_total", {{"result", "granted"}}), 1);
    EXPECT_EQ(tests::value_of(metrics, "mortise_holds", {{"node", "1"}}), 1);
    EXPECT_EQ(tests::value_of(metrics, "mortise_ready"), 1);
    EXPECT_EQ(tests::value_of(metrics, "mortise_leader"), 1);
    EXPECT_EQ(tests::value_of(metrics, "mortise_acquire_duration_seconds_count"), 1);
    EXPECT_EQ(tests::value_of(metrics, "mortise_member_lag_entries", {{"member", "1"}}), 0);
}

TEST_F(NodeMetrics, AStoppedNodeHasItsLastNumbers) {
    node_.acquire("x", uncached).unlock();
    node_.close();
    const auto metrics = tests::read_prometheus(prometheus_text(node_));
    EXPECT_EQ(tests::value_of(metrics, "mortise_stopped"), 1);
    EXPECT_EQ(tests::value_of(metrics, "mortise_ready"), 0);
    EXPECT_EQ(tests::value_of(metrics, "mortise_acquires_total", {{"result", "granted"}}), 1);
}

// --- the callback

TEST_F(NodeMetrics, AreToldAtAnInterval) {
    Recorded<Metrics> told;
    const auto began = std::chrono::steady_clock::now();
    const auto subscription = node_.on_metrics(20ms, told.sink());
    node_.acquire("x", uncached).unlock();
    const auto all = told.at_least(3);
    const Duration took = std::chrono::steady_clock::now() - began;
    ASSERT_GE(all.size(), 3U);
    EXPECT_GE(took, Duration{60ms});
    EXPECT_EQ(all.back().granted, 1U);
    EXPECT_EQ(all.back().log_write_time.total(), all.back().log_writes);
}

TEST_F(NodeMetrics, ASinkThatIsSlowHoldsUpNothingAndMissesSome) {
    std::promise<void> begun;
    std::promise<void> go_on;
    std::atomic<int> told = 0;
    const auto subscription = node_.on_metrics(10ms, [&](const Metrics&) {
        if (++told > 1) return;
        begun.set_value();
        go_on.get_future().wait();
    });
    begun.get_future().wait();
    Recorded<Metrics> other;
    const auto another = node_.on_metrics(10ms, other.sink());
    EXPECT_TRUE(node_.acquire("x", uncached).valid());
    EXPECT_GE(other.at_least(5).size(), 5U);
    EXPECT_EQ(told, 1);
    go_on.set_value();
}

TEST_F(NodeMetrics, EndWithTheSubscription) {
    std::atomic<int> told = 0;
    auto subscription = node_.on_metrics(10ms, [&](const Metrics&) { ++told; });
    const auto give_up = std::chrono::steady_clock::now() + patience;
    while (told == 0 && std::chrono::steady_clock::now() < give_up)
        std::this_thread::sleep_for(1ms);
    subscription.end();
    const int so_far = told;
    EXPECT_GT(so_far, 0);
    std::this_thread::sleep_for(50ms);
    EXPECT_EQ(told, so_far);
}

TEST_F(NodeMetrics, AreNotToldAfterClose) {
    std::atomic<int> told = 0;
    const auto subscription = node_.on_metrics(10ms, [&](const Metrics&) { ++told; });
    node_.close();
    const int so_far = told;
    std::this_thread::sleep_for(50ms);
    EXPECT_EQ(told, so_far);
    EXPECT_TRUE(node_.on_metrics(10ms, [](const Metrics&) {}));
}

// --- clusters

TEST(ClusterMetrics, OnlyTheLeaderMeasuresCommits) {
    testkit::LocalCluster cluster{3};
    const auto leader = cluster.leader();
    ASSERT_TRUE(leader);
    for (std::size_t i = 0; i < cluster.size(); ++i)
        cluster.node(i).acquire("x" + std::to_string(i), uncached).unlock();
    for (std::size_t i = 0; i < cluster.size(); ++i) {
        const auto metrics = cluster.node(i).metrics();
        EXPECT_EQ(metrics.commit_time.total() > 0, i == *leader) << i;
        EXPECT_EQ(metrics.acquire_time.total(), 1U);
        const auto read = tests::read_prometheus(prometheus_text(cluster.node(i)));
        EXPECT_EQ(read.at("mortise_member_connected").samples.size(), 3U);
        EXPECT_EQ(read.at("mortise_member_lag_entries").samples.size(), i == *leader ? 3U : 0U);
    }
}

struct TroubleCounter {
    const char* name;
    std::uint64_t Metrics::*count;
};

// Each of them counts something that an operator has to look at. A pause of the machine, which is
// no fault of the cluster, counts in others: loop_overruns, late_callbacks.
constexpr TroubleCounter trouble_counters[] = {
    {"messages_refused", &Metrics::messages_refused},
    {"messages_dropped", &Metrics::messages_dropped},
    {"connections_refused", &Metrics::connections_refused},
    {"handshakes_failed", &Metrics::handshakes_failed},
    {"calls_refused", &Metrics::calls_refused},
    {"failed", &Metrics::failed},
    {"timed_out", &Metrics::timed_out},
    {"holds_lost", &Metrics::holds_lost},
    {"lost_expired", &Metrics::lost_expired},
    {"lost_broken", &Metrics::lost_broken},
    {"lost_node_stopped", &Metrics::lost_node_stopped},
    {"lost_untold", &Metrics::lost_untold},
    {"locks_broken", &Metrics::locks_broken},
    {"sessions_expired", &Metrics::sessions_expired},
    {"states_taken_over", &Metrics::states_taken_over},
    {"snapshots_sent", &Metrics::snapshots_sent},
    {"log_lines_left_out", &Metrics::log_lines_left_out},
};

void expect_no_trouble(testkit::LocalCluster& cluster, const char* when) {
    for (std::size_t i = 0; i < cluster.size(); ++i) {
        const auto metrics = cluster.node(i).metrics();
        for (const auto& [name, count] : trouble_counters)
            EXPECT_EQ(metrics.*count, 0U) << name << " of node " << i << ", " << when;
    }
}

TEST(ClusterMetrics, AHealthyClusterCountsNoTrouble) {
    testkit::LocalCluster cluster{3};
    expect_no_trouble(cluster, "formed");
    for (std::size_t i = 0; i < cluster.size(); ++i) {
        EXPECT_FALSE(cluster.node(i).acquire("x", uncached).release());
        EXPECT_TRUE(cluster.node(i).try_acquire("y" + std::to_string(i)));
    }
    expect_no_trouble(cluster, "used");
    const auto leader = cluster.leader();
    ASSERT_TRUE(leader);
    const auto next = (*leader + 1) % cluster.size();
    cluster.node(*leader).transfer_leadership(cluster.node(next).id());
    EXPECT_FALSE(cluster.node(*leader).acquire("x", uncached).release());
    expect_no_trouble(cluster, "after a transfer of leadership");
    for (std::size_t i = 0; i < cluster.size(); ++i)
        cluster.node(i).close();
    expect_no_trouble(cluster, "closed");
}

TEST(ClusterMetrics, RenewalsHaveTimeLeft) {
    TimingConfig timing;
    timing.session_ttl = 2s;
    timing.election_timeout = 400ms;
    testkit::LocalCluster cluster{1, timing};
    const auto metrics = metrics_when(
        cluster.node(0), [](const Metrics& now) { return now.renewal_slack.total() >= 3; });
    EXPECT_GE(metrics.renewal_slack.total(), 3U);
    EXPECT_LE(metrics.renewal_slack.quantile(1), Duration{2s});
    EXPECT_GE(metrics.renewal_slack.quantile(0.5), Duration{200ms});
}

}  // namespace
}  // namespace mortise
