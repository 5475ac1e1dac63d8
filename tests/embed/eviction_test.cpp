// A session that is evicted. Its node, if it lives, learns of it at once: the leases here are so
// long that nobody notices their end (S24).
#include <atomic>
#include <chrono>
#include <stop_token>
#include <thread>

#include <gtest/gtest.h>

#include <mortise/mortise.hpp>
#include <mortise/testkit/local_cluster.hpp>

namespace mortise {
namespace {

using namespace std::chrono_literals;
using std::chrono::steady_clock;

TimingConfig long_leases() {
    auto timing = testkit::quick_timing();
    timing.session_ttl = 1h;
    return timing;
}

class Eviction : public ::testing::Test {
protected:
    Config client() {
        Config client;
        client.role = Role::client;
        client.cluster = cluster.node(0).status().cluster;
        client.timing = long_leases();
        client.tls = cluster.issue_user("app", {AccessRole::client});
        for (std::size_t i = 0; i < cluster.size(); ++i)
            client.peers.push_back({NodeId{i + 1}, cluster.node(i).status().address});
        return client;
    }
    // Its callback of the loss runs, its name is free soon, and it goes on in another session.
    void expect_told_at_once(Node& node, Node& other, BreakMode mode) {
        AcquireOptions options;
        options.caching = Caching::off;
        const auto hold = node.acquire("a", options);
        std::atomic<bool> told = false;
        const std::stop_callback lost{hold.lost(), [&] { told = true; }};
        const auto session = other.inspect("a").holders.front().session;
        other.evict(session, "because", mode);
        EXPECT_TRUE(other.acquire_for("a", 5s));
        const auto until = steady_clock::now() + 5s;
        while (!told && steady_clock::now() < until)
            std::this_thread::sleep_for(1ms);
        EXPECT_TRUE(told);
        EXPECT_FALSE(hold.valid());
        EXPECT_EQ(hold.why_lost(), LossReason::broken);
        EXPECT_TRUE(node.acquire_for("b", 5s));
        for (const auto& one : other.sessions())
            EXPECT_NE(one.id, session);
    }

    testkit::LocalCluster cluster{3, long_leases()};
};

TEST_F(Eviction, IsToldToTheLeader) {  // S24
    const auto leader = cluster.leader().value();
    auto& other = cluster.node((leader + 1) % 3);
    expect_told_at_once(cluster.node(leader), other, BreakMode::confirmed);
    expect_told_at_once(cluster.node(leader), other, BreakMode::immediate);
}

TEST_F(Eviction, IsToldToAFollower) {  // S24
    const auto leader = cluster.leader().value();
    auto& holder = cluster.node((leader + 1) % 3);
    expect_told_at_once(holder, cluster.node(leader), BreakMode::confirmed);
    expect_told_at_once(holder, cluster.node(leader), BreakMode::immediate);
}

TEST_F(Eviction, IsToldToAClient) {  // S24, S49
    Node node{client()};
    expect_told_at_once(node, cluster.node(0), BreakMode::confirmed);
    expect_told_at_once(node, cluster.node(0), BreakMode::immediate);
}

// Nobody uses the grant, so nobody is notified.
TEST_F(Eviction, TakesACachedGrantToo) {  // S24, S42
    auto& holder = cluster.node(1);
    for (int i = 0; i < 5; ++i)
        EXPECT_FALSE(holder.acquire("cached").release());
    const auto holders = cluster.node(0).inspect("cached").holders;
    ASSERT_FALSE(holders.empty());
    cluster.node(0).evict(holders.front().session, "because");
    EXPECT_TRUE(cluster.node(0).acquire_for("cached", 5s));
    EXPECT_TRUE(holder.acquire_for("other", 5s));
}

}  // namespace
}  // namespace mortise
