// What is contended, and what happened lately, as nodes show it (docs/decisions/0082).
#include <chrono>
#include <future>
#include <optional>
#include <string>
#include <thread>

#include "tests/embed/one_node.hpp"
#include <mortise/remote.hpp>
#include <mortise/testkit/local_cluster.hpp>

namespace mortise {
namespace {

using namespace std::chrono_literals;

const AcquireOptions not_cached{.caching = Caching::off};

// The first activity that meets the condition; the last one if none does in time.
template <class Source, class Condition>
Activity activity_when(Source&& source, const Condition& condition) {
    const auto give_up = std::chrono::steady_clock::now() + patience;
    while (true) {
        auto activity = source.activity();
        if (condition(activity) || std::chrono::steady_clock::now() > give_up) return activity;
        std::this_thread::sleep_for(1ms);
    }
}

class NodeActivity : public ::testing::Test {
protected:
    NodeActivity() {
        auto config = Config::in_memory();
        config.listen = "127.0.0.1:0";
        config.observability.prefixes = {"jobs/"};
        node_.emplace(config);
        EXPECT_TRUE(node_->wait_ready(std::chrono::steady_clock::now() + patience));
    }
    // Waits for the name until it is released.
    auto waiter(const std::string& name) {
        return std::async(std::launch::async,
                          [this, name] { return node_->acquire(name, not_cached).valid(); });
    }

    std::optional<Node> node_;
};

TEST_F(NodeActivity, ShowsWhoWaits) {
    auto hold = node_->acquire("jobs/1", not_cached);
    const auto other = node_->acquire("other", not_cached);
    auto waiting = waiter("jobs/1");
    const auto seen = activity_when(*node_, [](const Activity& now) { return now.waiters == 1; });
    EXPECT_EQ(seen.node, node_->id());
    EXPECT_EQ(seen.leader, node_->id());
    EXPECT_EQ(seen.members, 1U);
    EXPECT_EQ(seen.sessions, 1U);
    EXPECT_EQ(seen.names, 2U);
    EXPECT_EQ(seen.waiters, 1U);
    EXPECT_EQ(seen.contended_names, 1U);
    ASSERT_EQ(seen.hottest.size(), 1U);
    EXPECT_EQ(seen.hottest[0].name, "jobs/1");
    EXPECT_EQ(seen.hottest[0].kind, NameKind::lock);
    EXPECT_EQ(seen.hottest[0].holders, 1U);
    EXPECT_EQ(seen.hottest[0].waiters, 1U);
    ASSERT_EQ(seen.prefixes.size(), 2U);
    EXPECT_EQ(seen.prefixes[0].prefix, "jobs/");
    EXPECT_EQ(seen.prefixes[0].waiters, 1U);
    EXPECT_EQ(seen.prefixes[1].holders, 1U);
    EXPECT_EQ(seen.prefixes[1].waiters, 0U);

    const auto later = activity_when(
        *node_, [](const Activity& now) { return now.oldest_wait >= Duration{20ms}; });
    EXPECT_GE(later.oldest_wait, Duration{20ms});
    EXPECT_GE(later.hottest[0].oldest_wait, Duration{20ms});
    const auto metrics = node_->metrics();
    EXPECT_EQ(metrics.waiters, 1U);
    EXPECT_EQ(metrics.contended_names, 1U);
    EXPECT_GE(metrics.oldest_wait, Duration{20ms});
    EXPECT_EQ(metrics.hottest.size(), 1U);
    EXPECT_EQ(metrics.prefixes.size(), 2U);
    EXPECT_TRUE(node_->activity("other").hottest.empty());
    EXPECT_EQ(node_->activity("jobs/").hottest.size(), 1U);

    hold.unlock();
    EXPECT_TRUE(waiting.get());
    const auto after =
        activity_when(*node_, [](const Activity& now) { return now.recent.releases == 2; });
    EXPECT_EQ(after.waiters, 0U);
    EXPECT_EQ(after.oldest_wait, Duration::zero());
    EXPECT_TRUE(after.hottest.empty());
    EXPECT_EQ(after.recent.grants, 3U);
    EXPECT_EQ(after.recent.waiters_max, 1U);
    EXPECT_GE(after.recent.wait_p99, Duration{20ms});
    EXPECT_GE(after.recent.hold_p99, Duration{20ms});
    EXPECT_EQ(after.slots.size(), 1U);
}

TEST_F(NodeActivity, ARemoteSeesTheSame) {
    const auto hold = node_->acquire("jobs/1", not_cached);
    auto waiting = waiter("jobs/1");
    Remote remote{{node_->status().address}, patience};
    auto seen = activity_when(remote, [](const Activity& now) { return now.waiters == 1; });
    EXPECT_EQ(seen.hottest.size(), 1U);
    EXPECT_TRUE(remote.activity("other").hottest.empty());
    auto own = node_->activity();
    EXPECT_GE(own.oldest_wait, seen.oldest_wait);
    for (auto* const each : {&own, &seen}) {
        each->oldest_wait = each->hottest[0].oldest_wait = each->prefixes[0].oldest_wait = {};
        each->recent.length = each->slots.back().length = {};
    }
    EXPECT_EQ(own, seen);
    node_->close();
    EXPECT_EQ(thrown_by([&] { waiting.get(); }), Errc::node_stopped);
    EXPECT_EQ(thrown_by([&] { (void)node_->activity(); }), Errc::node_stopped);
}

TEST(ActivityOfACluster, IsTheSameAtEveryMember) {
    testkit::LocalCluster cluster{3, testkit::quick_timing()};
    for (int i = 0; i < 5; ++i) {
        auto hold = cluster.node(0).acquire("a", not_cached);
        EXPECT_FALSE(hold.release());
    }
    const auto hold = cluster.node(1).acquire("a", not_cached);
    auto waiting = std::async(std::launch::async, [&] {
        return cluster.node(2).acquire_for("a", 200ms, not_cached).has_value();
    });
    for (std::size_t member = 0; member < 3; ++member) {
        const auto seen = activity_when(cluster.node(member), [](const Activity& now) {
            return now.recent.grants == 6 && now.recent.waiters_max == 1;
        });
        EXPECT_EQ(seen.recent.grants, 6U) << member;
        EXPECT_EQ(seen.recent.releases, 5U) << member;
        EXPECT_EQ(seen.recent.waiters_max, 1U) << member;
        EXPECT_EQ(seen.members, 3U) << member;
    }
    EXPECT_FALSE(waiting.get());
    const auto seen =
        activity_when(cluster.node(0), [](const Activity& now) { return now.waiters == 0; });
    EXPECT_EQ(seen.waiters, 0U) << "it gave up";
}

}  // namespace
}  // namespace mortise
