#include <algorithm>
#include <atomic>
#include <chrono>
#include <filesystem>
#include <future>
#include <stdexcept>
#include <stop_token>
#include <thread>

#include <gtest/gtest.h>

#include <mortise/testkit/local_cluster.hpp>

namespace mortise::testkit {
namespace {

using namespace std::chrono_literals;

constexpr auto patience = 60s;

bool stops(const std::stop_token& token) {
    const auto end = std::chrono::steady_clock::now() + patience;
    while (!token.stop_requested() && std::chrono::steady_clock::now() < end)
        std::this_thread::sleep_for(1ms);
    return token.stop_requested();
}

std::size_t await_leader(const LocalCluster& cluster) {
    const auto end = std::chrono::steady_clock::now() + patience;
    while (std::chrono::steady_clock::now() < end) {
        const auto leader = cluster.leader();
        if (leader && cluster.is_running(*leader)) return *leader;
        std::this_thread::sleep_for(5ms);
    }
    throw std::runtime_error{"no leader"};
}

// Calls fail with no_quorum or session_expired while the cluster recovers.
Hold acquire_in_the_end(Node& node, const char* name) {
    const auto end = std::chrono::steady_clock::now() + patience;
    while (true) {
        std::error_code ec;
        auto hold = node.acquire(name, ec);
        if (!ec) return hold;
        if (!is_retryable(ec) || std::chrono::steady_clock::now() > end) throw LockError{ec};
        std::this_thread::sleep_for(10ms);
    }
}

TEST(LocalCluster, StartsNodesThatAgreeOnALeader) {
    LocalCluster cluster{3, quick_timing()};
    EXPECT_EQ(cluster.size(), 3U);
    await_leader(cluster);
    for (std::size_t i = 0; i < 3; ++i) {
        EXPECT_TRUE(cluster.is_running(i));
        EXPECT_EQ(cluster.node(i).id(), i + 1);
    }
}

TEST(LocalCluster, ALockHeldOnOneNodeIsBusyOnTheOthers) {
    LocalCluster cluster{3, quick_timing()};
    auto hold = cluster.node(0).acquire("orders/42");
    EXPECT_TRUE(hold.valid());
    EXPECT_FALSE(cluster.node(1).try_acquire("orders/42"));
    EXPECT_FALSE(cluster.node(2).try_acquire("orders/42"));
    const auto token = hold.token();
    EXPECT_FALSE(hold.release());
    const auto next = cluster.node(1).acquire("orders/42");
    EXPECT_GT(next.token(), token);
}

// The last node would wait for members that are gone, for an hour here.
TEST(LocalCluster, EndsAtOnceIfNothingIsHeld) {
    auto timing = quick_timing();
    timing.close_timeout = 1h;
    LocalCluster cluster{3, timing};
    for (std::size_t i = 0; i < 3; ++i) {
        auto& node = cluster.node(i);
        for (int times = 0; times < 2; ++times)  // the second one is cached
            EXPECT_FALSE(acquire_in_the_end(node, "orders").release());
        EXPECT_FALSE(acquire_in_the_end(node, std::to_string(i).c_str()).release());
        EXPECT_FALSE(acquire_in_the_end(node, std::to_string(i).c_str()).release());
    }
}

// What somebody uses is given back as soon as there is a majority again.
TEST(LocalCluster, ACloseWaitsForAMajorityIfSomethingIsHeld) {
    auto timing = quick_timing();
    timing.close_timeout = timing.session_ttl = 1h;
    LocalCluster cluster{3, timing};
    const auto victim = (await_leader(cluster) + 1) % 3;
    const auto held = cluster.node(victim).acquire("orders/42");
    cluster.isolate(victim);
    while (cluster.node(victim).status().leader)
        std::this_thread::sleep_for(1ms);
    auto closed = std::async(std::launch::async, [&] { cluster.node(victim).close(); });
    EXPECT_TRUE(stops(held.lost()));
    EXPECT_EQ(closed.wait_for(100ms), std::future_status::timeout);
    cluster.heal();
    closed.get();
    auto next = cluster.node((victim + 1) % 3).try_acquire("orders/42");
    ASSERT_TRUE(next);
    EXPECT_FALSE(next->release());  // or the close of that node would wait for it
}

// A leader that closes waits until another node campaigns, so no node has to detect its absence.
TEST(LocalCluster, ALeaderThatClosesHandsOver) {
    LocalCluster cluster{3, quick_timing()};
    const auto leader = await_leader(cluster);
    const auto term = cluster.node(leader).status().term;
    cluster.node(leader).close();
    std::uint64_t newest = 0;
    for (std::size_t i = 0; i < 3; ++i) {
        if (i != leader) newest = std::max(newest, cluster.node(i).status().term);
    }
    EXPECT_GT(newest, term);
}

TEST(LocalCluster, GoesOnWithoutItsLeader) {
    LocalCluster cluster{3, quick_timing()};
    const auto leader = await_leader(cluster);
    const auto held = cluster.node(leader).acquire("orders/42");
    const auto token = held.token();
    // A waiter learns how the previous holder left; for a later request this may be forgotten.
    auto& other = cluster.node((leader + 1) % 3);
    auto waiting =
        std::async(std::launch::async, [&other] { return acquire_in_the_end(other, "orders/42"); });
    while (other.inspect("orders/42", ReadLevel::local).waiters.empty())
        std::this_thread::yield();
    cluster.kill(leader);
    EXPECT_FALSE(cluster.is_running(leader));
    EXPECT_FALSE(held.valid());
    EXPECT_EQ(held.why_lost(), LossReason::node_stopped);
    EXPECT_THROW(static_cast<void>(cluster.node(leader)), std::logic_error);
    const auto next = waiting.get();
    EXPECT_GT(next.token(), token);
    EXPECT_EQ(next.previous().how, Predecessor::expired);
}

TEST(LocalCluster, AnIsolatedHoldIsNotValidOnceAnotherIsGrantedAndItsHolderIsTold) {  // P3
    LocalCluster cluster{3, quick_timing()};
    const auto victim = (await_leader(cluster) + 1) % 3;
    const auto held = cluster.node(victim).acquire("orders/42");
    cluster.isolate(victim);
    const auto next = acquire_in_the_end(cluster.node((victim + 1) % 3), "orders/42");
    EXPECT_FALSE(held.valid());
    EXPECT_TRUE(stops(held.lost()));
    EXPECT_EQ(held.why_lost(), LossReason::expired);
    EXPECT_GT(next.token(), held.token());
    EXPECT_TRUE(cluster.is_running(victim));
}

TEST(LocalCluster, AnIsolatedHolderIsWarnedAndGoesOnWhenItsLinksAreHealedInTime) {
    auto timing = quick_timing();
    timing.session_ttl = 6s;
    LocalCluster cluster{3, timing};
    const auto victim = (await_leader(cluster) + 1) % 3;
    std::promise<Duration> warned;
    const Locker locker{cluster.node(victim)};
    const auto quiet = cluster.node(victim).acquire("orders/42", {.locker = locker});
    AcquireOptions options{.locker = locker};
    options.on_at_risk = [&](Duration remaining) { warned.set_value(remaining); };
    const auto held = cluster.node(victim).acquire("orders/42", options);
    cluster.isolate(victim);
    const auto remaining = warned.get_future().get();
    EXPECT_EQ(held.state(), HoldState::at_risk);
    EXPECT_GT(remaining, 0s);
    EXPECT_LE(remaining, 3s);
    cluster.heal();
    while (held.state() == HoldState::at_risk)
        std::this_thread::yield();
    EXPECT_EQ(held.state(), HoldState::held);
    EXPECT_TRUE(quiet.valid());
}

TEST(LocalCluster, AnIsolatedHolderIsWarnedAlsoWithTheShortestTimes) {
    auto timing = quick_timing();
    timing.session_ttl = 200ms;
    timing.election_timeout = 40ms;
    timing.heartbeat = 10ms;
    LocalCluster cluster{3, timing};
    std::atomic<int> warned = 0;
    AcquireOptions options;
    options.on_at_risk = [&](Duration) { ++warned; };
    Hold held;
    std::error_code ec = Errc::not_ready;
    while (ec)
        held = cluster.node(0).acquire("orders/42", options, ec);
    cluster.isolate(0);
    ASSERT_TRUE(stops(held.lost()));
    EXPECT_GE(warned, 1);
}

// No session is ended while no two nodes are connected.
TEST(LocalCluster, ASuspendedHolderIsTheHolderAgainWhenThereIsAQuorum) {
    LocalCluster cluster{3, quick_timing()};
    std::promise<void> suspended;
    AcquireOptions options;
    options.on_uncertain = OnUncertain::suspend;
    options.on_suspended = [&] { suspended.set_value(); };
    const auto held = cluster.node(0).acquire("orders/42", options);
    const auto token = held.token();
    for (std::size_t i = 0; i < 3; ++i)
        cluster.isolate(i);
    suspended.get_future().wait();
    EXPECT_EQ(held.state(), HoldState::suspended);
    EXPECT_THROW(held.check(), LockError);
    std::error_code ec;
    held.confirm(std::chrono::steady_clock::now() + 10ms, ec);
    EXPECT_EQ(ec, Errc::no_quorum);
    cluster.heal();
    held.confirm(std::chrono::steady_clock::now() + patience);
    EXPECT_EQ(held.state(), HoldState::held);
    EXPECT_EQ(held.token(), token);
    EXPECT_FALSE(cluster.node(1).try_acquire("orders/42"));
}

TEST(LocalCluster, ASuspendedHolderIsLostWhenTheOthersGoOn) {
    LocalCluster cluster{3, quick_timing()};
    const auto victim = (await_leader(cluster) + 1) % 3;
    AcquireOptions options;
    options.on_uncertain = OnUncertain::suspend;
    const auto held = cluster.node(victim).acquire("orders/42", options);
    cluster.isolate(victim);
    const auto next = acquire_in_the_end(cluster.node((victim + 1) % 3), "orders/42");
    EXPECT_FALSE(held.valid());
    EXPECT_FALSE(held.lost().stop_requested()) << "it cannot know yet";
    cluster.heal();
    EXPECT_TRUE(stops(held.lost()));
    EXPECT_EQ(held.why_lost(), LossReason::expired);
    EXPECT_GT(next.token(), held.token());
}

TEST(LocalCluster, AnIsolatedNodeWorksAgainOnceTheLinksAreHealed) {
    LocalCluster cluster{3, quick_timing()};
    const auto victim = await_leader(cluster);
    cluster.isolate(victim);
    auto held = acquire_in_the_end(cluster.node((victim + 1) % 3), "orders/42");
    cluster.heal();
    const auto other = acquire_in_the_end(cluster.node(victim), "orders/43");
    EXPECT_TRUE(other.valid());
    EXPECT_FALSE(cluster.node(victim).try_acquire("orders/42"));
    EXPECT_FALSE(held.release());
}

TEST(LocalCluster, AKilledNodeComesBackOnItsDirectory) {
    LocalCluster cluster{3, quick_timing()};
    auto held = cluster.node(0).acquire("orders/42");
    const auto cluster_id = cluster.node(0).status().cluster_id;
    const auto token = held.token();
    cluster.kill(0);
    cluster.restart(0);
    ASSERT_TRUE(cluster.wait_ready(patience));
    EXPECT_EQ(cluster.node(0).status().cluster_id, cluster_id);
    const auto next = acquire_in_the_end(cluster.node(0), "orders/42");
    EXPECT_GT(next.token(), token);
}

TEST(LocalCluster, RestartKillsARunningNodeFirst) {
    LocalCluster cluster{3, quick_timing()};
    const auto held = cluster.node(1).acquire("orders/42");
    cluster.restart(1);
    EXPECT_EQ(held.why_lost(), LossReason::node_stopped);
    EXPECT_TRUE(cluster.wait_ready(patience));
}

TEST(LocalCluster, OneNodeIsAClusterToo) {
    LocalCluster cluster{1, quick_timing()};
    EXPECT_TRUE(cluster.node(0).acquire("orders/42").valid());
}

TEST(LocalCluster, LeavesNothingOnTheDisk) {
    std::filesystem::path directory;
    {
        LocalCluster cluster{1, quick_timing()};
        directory = cluster.directory();
        EXPECT_TRUE(std::filesystem::exists(directory / "1"));
    }
    EXPECT_FALSE(std::filesystem::exists(directory));
}

TEST(LocalCluster, ANodeThatThereIsNotIsAMistake) {
    LocalCluster cluster{1, quick_timing()};
    EXPECT_THROW(static_cast<void>(cluster.node(1)), std::logic_error);
    EXPECT_THROW(cluster.restart(1), std::logic_error);
    EXPECT_THROW(cluster.isolate(1), std::logic_error);
}

}  // namespace
}  // namespace mortise::testkit
