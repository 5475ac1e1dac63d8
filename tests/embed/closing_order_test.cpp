// Who closes a node is told of the loss of each hold before another node is granted the name (S6).
#include <algorithm>
#include <atomic>
#include <chrono>
#include <deque>
#include <functional>
#include <future>
#include <memory>
#include <stop_token>
#include <string>
#include <thread>
#include <utility>
#include <vector>

#include <gtest/gtest.h>

#include "tests/embed/one_node.hpp"
#include <mortise/testkit/local_cluster.hpp>

namespace mortise {
namespace {

using namespace std::chrono_literals;
using Clock = std::chrono::steady_clock;

// Something that holds "x", and its stop token.
struct Owned {
    std::shared_ptr<void> owner;
    std::stop_token lost;
};

template <class Owner>
Owned owned(Owner owner) {
    const auto kept = std::make_shared<Owner>(std::move(owner));
    return {kept, kept->lost()};
}

// A way to have the name.
struct Way {
    std::string name;
    std::function<Owned(Node&)> take;
};

Owned take_nested(Node& node) {
    const AcquireOptions options{.locker = Locker{node}};
    auto outer = std::make_shared<Hold>(node.acquire("x", options));
    auto inner = std::make_shared<Hold>(node.acquire("x", options));
    const auto lost = inner->lost();
    return {std::make_shared<std::pair<decltype(outer), decltype(inner)>>(outer, inner), lost};
}

// Of a member: the last use of a cached grant.
Owned take_again(Node& node) {
    for (int times = 0; times < 2; ++times)
        EXPECT_FALSE(node.acquire("x").release());
    return owned(node.acquire("x"));
}

std::vector<Way> ways() {
    return {
        {"Hold", [](Node& node) { return owned(node.acquire("x")); }},
        {"Hold with max_hold",
         [](Node& node) { return owned(node.acquire("x", {.max_hold = 1h})); }},
        {"Hold that may be suspended",
         [](Node& node) {
             return owned(node.acquire("x", {.on_uncertain = OnUncertain::suspend}));
         }},
        {"reader", [](Node& node) { return owned(node.acquire("x", {.mode = LockMode::shared})); }},
        {"cached grant", take_again},
        {"Locker", take_nested},
        {"HoldSet",
         [](Node& node) {
             return owned(node.acquire_all(std::vector<LockRequest>{{"a"}, {"x"}}));
         }},
        {"Semaphore",
         [](Node& node) {
             return owned(Semaphore{node, "x", 1}.acquire());
         }},
        // The last one: its value stays with the name.
        {"Election", [](Node& node) {
             return owned(Election{node, "x"}.campaign("here"));
         }}};
}

// Waits for the name, in the way of the other nodes.
Owned wait_for_name(Node& node, const Way& way) {
    if (way.name == "Semaphore" || way.name == "Election") return way.take(node);
    return owned(node.acquire("x"));
}

bool wait_for_waiter(Node& node) {
    const auto give_up = Clock::now() + patience;
    while (node.inspect("x").waiters.empty()) {
        if (Clock::now() > give_up) return false;
        std::this_thread::sleep_for(1ms);
    }
    return true;
}

enum class Told { in_time, late, machine_too_busy };

// Ends the one node while the other waits for the name.
Told told_before_the_next(Node& one, Node& other, const Way& way,
                          const std::function<void()>& end) {
    const auto mine = way.take(one);
    std::atomic<bool> told = false;
    const std::stop_callback on_lost{mine.lost, [&] {
                                         std::this_thread::sleep_for(30ms);
                                         told = true;
                                     }};
    auto next = std::async(std::launch::async, [&] {
        const auto its = wait_for_name(other, way);
        return told.load();
    });
    EXPECT_TRUE(wait_for_waiter(other));
    const auto metrics = [&one, &end] {
        end();
        return one.metrics();
    }();
    if (next.get()) return Told::in_time;
    return metrics.lost_untold == 0 ? Told::late : Told::machine_too_busy;
}

class ClosingOrder : public ::testing::Test {
protected:
    Config client_config() {
        Config config;
        config.role = Role::client;
        config.cluster = cluster_.node(1).status().cluster;
        config.timing = testing_timing();
        config.tls = cluster_.issue_user("app", {AccessRole::client});
        for (std::size_t i = 1; i < cluster_.size(); ++i)
            config.peers.push_back({NodeId{i + 1}, cluster_.node(i).status().address});
        return config;
    }
    std::unique_ptr<Node> client() {
        auto node = std::make_unique<Node>(client_config());
        EXPECT_TRUE(node->wait_ready(Clock::now() + patience));
        return node;
    }
    // The node is as new, after it was closed.
    Node& member() {
        if (cluster_.node(0).status().stopped) cluster_.restart(0);
        EXPECT_TRUE(cluster_.wait_ready(patience));
        return cluster_.node(0);
    }
    static TimingConfig testing_timing() {
        auto timing = testkit::quick_timing();
        timing.session_ttl = 10s;  // a loaded machine loses no lease
        return timing;
    }

    testkit::LocalCluster cluster_{3, testing_timing()};
};

TEST_F(ClosingOrder, AMembersOwnersAreToldFirst) {  // S6, P3
    for (const auto& way : ways()) {
        auto told = Told::machine_too_busy;
        while (told == Told::machine_too_busy) {
            auto& node = member();
            told = told_before_the_next(node, cluster_.node(1), way, [&] { node.close(); });
        }
        EXPECT_EQ(told, Told::in_time) << way.name;
    }
}

TEST_F(ClosingOrder, AClientsOwnersAreToldFirst) {  // S6, S49, P3
    for (const auto& way : ways()) {
        auto told = Told::machine_too_busy;
        while (told == Told::machine_too_busy) {
            const auto node = client();
            told = told_before_the_next(*node, cluster_.node(1), way, [&] { node->close(); });
        }
        EXPECT_EQ(told, Told::in_time) << way.name;
    }
}

// The callbacks run one after the other, and one of them takes its time.
TEST_F(ClosingOrder, AllOwnersAreToldBeforeAnyNameIsFree) {  // S6
    std::size_t told_count = 0;
    std::uint64_t untold = 1;
    constexpr std::size_t others = 10;
    while (told_count != others && untold != 0) {
        auto& node = member();
        const auto slow = node.acquire("x");
        const std::stop_callback on_slow{slow.lost(), [] { std::this_thread::sleep_for(30ms); }};
        std::deque<Hold> holds;
        std::atomic<std::size_t> told = 0;
        const auto count = [&told] {
            std::this_thread::sleep_for(3ms);
            ++told;
        };
        std::deque<std::stop_callback<decltype(count)>> on_lost;
        for (std::size_t i = 0; i < others; ++i) {
            holds.push_back(node.acquire("other/" + std::to_string(i)));
            on_lost.emplace_back(holds.back().lost(), count);
        }
        auto next = std::async(std::launch::async, [&] {
            const auto hold = cluster_.node(1).acquire("x");
            return told.load();
        });
        EXPECT_TRUE(wait_for_waiter(cluster_.node(1)));
        node.close();
        told_count = next.get();
        untold = node.metrics().lost_untold;
    }
    EXPECT_EQ(told_count, others);
}

TEST_F(ClosingOrder, ADestructorTellsFirstAsWell) {  // S6
    const auto way = ways().front();
    for (int round = 0; round < 5; ++round) {
        auto node = client();
        const auto mine = way.take(*node);
        std::atomic<std::int64_t> told_at = 0;
        const std::stop_callback on_lost{mine.lost, [&] {
                                             std::this_thread::sleep_for(5ms);
                                             told_at = Clock::now().time_since_epoch().count();
                                         }};
        auto next = std::async(std::launch::async, [&] {
            const auto hold = cluster_.node(1).acquire("x");
            return Clock::now().time_since_epoch().count();
        });
        EXPECT_TRUE(wait_for_waiter(cluster_.node(1)));
        const auto began = Clock::now().time_since_epoch().count();
        node.reset();
        const auto granted_at = next.get();
        const bool was_busy = granted_at - began > Clock::duration{80ms}.count();
        EXPECT_TRUE(was_busy || told_at <= granted_at) << round;
    }
}

TEST_F(ClosingOrder, ACallbackThatHangsKeepsTheNameFromNobody) {  // S6
    auto& node = member();
    const auto mine = node.acquire("x");
    std::promise<void> enough;
    const std::stop_callback on_lost{mine.lost(), [&] { enough.get_future().wait(); }};
    const auto began = Clock::now();
    auto closing = std::async(std::launch::async, [&] { node.close(); });
    EXPECT_TRUE(cluster_.node(1).acquire_for("x", patience).has_value());
    EXPECT_GE(Clock::now() - began, 100ms);
    enough.set_value();
    closing.get();
    EXPECT_EQ(node.metrics().lost_untold, 1U);
}

// Nobody took its lost(), so there is nobody to wait for; who takes it later sees the loss at once.
TEST_F(ClosingOrder, AHoldThatNobodyListensToIsLostAtOnce) {
    auto& node = member();
    const auto hold = node.acquire("x");
    node.close();
    EXPECT_TRUE(hold.lost().stop_requested());
    EXPECT_EQ(hold.why_lost(), LossReason::node_stopped);
    EXPECT_EQ(node.metrics().lost_untold, 0U);
    bool told = false;
    const std::stop_callback on_lost{hold.lost(), [&] { told = true; }};
    EXPECT_TRUE(told);
}

}  // namespace
}  // namespace mortise
