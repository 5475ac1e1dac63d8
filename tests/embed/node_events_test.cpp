// The events of the life of a node and of its cluster.
#include <algorithm>
#include <chrono>
#include <optional>
#include <string>
#include <thread>
#include <vector>

#include <gmock/gmock.h>

#include "tests/embed/one_node.hpp"
#include "tests/embed/recorded.hpp"
#include <mortise/testkit/local_cluster.hpp>

namespace mortise {
namespace {

using namespace std::chrono_literals;
using ::testing::HasSubstr;
using Kind = NodeEvent::Kind;
using Events = std::vector<NodeEvent>;

TimingConfig short_timing() {
    TimingConfig timing;
    timing.session_ttl = 2s;
    timing.election_timeout = 400ms;
    timing.heartbeat = 40ms;
    timing.call_timeout = 20s;
    return timing;
}

class NodeEvents : public ::testing::Test {
protected:
    NodeEvents() {
        for (std::size_t i = 0; i < cluster_.size(); ++i)
            subscriptions_.push_back(cluster_.node(i).on_event(events_.at(i).sink()));
    }

    // The first event of that kind that fits; empty if none comes.
    template <class Fits>
    std::optional<NodeEvent> first_at(std::size_t node, Kind kind, const Fits& fits) {
        const auto is_it = [&](const NodeEvent& event) {
            return event.kind == kind && fits(event);
        };
        const auto all = events_.at(node).when(
            [&](const Events& events) { return std::ranges::any_of(events, is_it); });
        const auto found = std::ranges::find_if(all, is_it);
        return found == all.end() ? std::nullopt : std::optional{*found};
    }
    std::optional<NodeEvent> first_at(std::size_t node, Kind kind) {
        return first_at(node, kind, [](const NodeEvent&) { return true; });
    }
    std::optional<NodeEvent> about(NodeId peer, std::size_t node, Kind kind) {
        return first_at(node, kind, [&](const NodeEvent& event) { return event.peer == peer; });
    }
    Config fourth_node() {
        Config config;
        config.role = Role::learner;
        config.node_id = 4;
        config.data_dir = cluster_.directory() / "learner";
        config.listen = "127.0.0.1:0";
        config.timing = short_timing();
        config.log.level = LogLevel::off;
        config.tls = cluster_.issue_node(4);
        for (std::size_t i = 0; i < cluster_.size(); ++i)
            config.peers.push_back({i + 1, cluster_.node(i).status().address});
        return config;
    }

    std::array<Recorded<NodeEvent>, 3> events_;
    testkit::LocalCluster cluster_{3, short_timing()};
    std::vector<Subscription> subscriptions_;
};

TEST_F(NodeEvents, ALeaderThatIsCutOffLosesEverythingAndComesBack) {
    const auto leader = cluster_.leader();
    ASSERT_TRUE(leader);
    const auto other = (*leader + 1) % cluster_.size();
    const NodeId id = *leader + 1;
    const auto hold = cluster_.node(*leader).acquire("x", {.caching = Caching::off});
    cluster_.isolate(*leader);

    EXPECT_TRUE(first_at(*leader, Kind::lost_leadership));
    EXPECT_TRUE(about(0, *leader, Kind::leader_changed));
    const auto not_ready = first_at(*leader, Kind::not_ready);
    ASSERT_TRUE(not_ready);
    EXPECT_THAT(not_ready->text, HasSubstr("no leader is known"));
    const auto lost = first_at(*leader, Kind::hold_lost);
    ASSERT_TRUE(lost);
    EXPECT_EQ(lost->name, "x");
    EXPECT_EQ(lost->reason, LossReason::expired);
    EXPECT_TRUE(about(id, other, Kind::peer_down));
    const auto next = first_at(other, Kind::leader_changed, [&](const NodeEvent& event) {
        return event.peer != 0 && event.peer != id;
    });
    ASSERT_TRUE(next);
    EXPECT_TRUE(first_at(static_cast<std::size_t>(next->peer - 1), Kind::became_leader));
    // Granted when the session of the former leader has expired at the others.
    const auto taken = cluster_.node(other).acquire("x", {.caching = Caching::off});

    cluster_.heal();
    EXPECT_TRUE(first_at(*leader, Kind::ready));
    EXPECT_TRUE(about(id, other, Kind::peer_up));
    EXPECT_TRUE(first_at(*leader, Kind::session_expired));
    EXPECT_TRUE(first_at(*leader, Kind::session_opened));
}

TEST_F(NodeEvents, MembersComeAndGo) {
    Node learner{fourth_node()};
    Recorded<NodeEvent> its_events;
    const auto subscription = learner.on_event(its_events.sink());
    cluster_.node(0).add_member(4, learner.status().address);
    for (std::size_t i = 0; i < cluster_.size(); ++i) {
        const auto added = about(4, i, Kind::member_added);
        ASSERT_TRUE(added) << i;
        EXPECT_EQ(added->text, learner.status().address);
        EXPECT_TRUE(first_at(i, Kind::members_changed));
    }
    ASSERT_TRUE(learner.wait_ready(std::chrono::steady_clock::now() + patience));
    cluster_.node(0).remove_member(4);
    for (std::size_t i = 0; i < cluster_.size(); ++i)
        EXPECT_TRUE(about(4, i, Kind::member_removed)) << i;
    const auto all = its_events.when([](const Events& events) {
        return std::ranges::any_of(events, [](auto& one) { return one.kind == Kind::removed; });
    });
    EXPECT_TRUE(std::ranges::any_of(all, [](auto& one) { return one.kind == Kind::removed; }));
}

TEST_F(NodeEvents, OtherTimesOfAPeerAreTold) {
    auto config = fourth_node();
    config.timing.heartbeat = 30ms;
    Node learner{std::move(config)};
    cluster_.node(0).add_member(4, learner.status().address);
    const auto told = about(4, 0, Kind::timing_differs);
    ASSERT_TRUE(told);
    EXPECT_THAT(told->text, HasSubstr("heartbeat"));
}

// The sink must not block; a step of the node takes as long as this one.
TEST(NodeEventsAlone, AStepThatTakesLongIsTold) {
    auto config = Config::in_memory();
    config.log.level = LogLevel::info;
    config.log.sink = [](LogLevel, std::string_view) { std::this_thread::sleep_for(10ms); };
    Recorded<NodeEvent> events;
    Node node{std::move(config)};
    const auto subscription = node.on_event(events.sink());
    ASSERT_TRUE(node.wait_ready(std::chrono::steady_clock::now() + patience));
    const auto hold = node.acquire("x");
    node.break_lock("x", hold.token(), "test");  // writes a line
    const auto is_overrun = [](const NodeEvent& event) { return event.kind == Kind::loop_overrun; };
    const auto all =
        events.when([&](const Events& some) { return std::ranges::any_of(some, is_overrun); });
    const auto told = std::ranges::find_if(all, is_overrun);
    ASSERT_NE(told, all.end());
    EXPECT_GE(told->took, Duration{10ms});
}

TEST(NodeEventsAlone, ACallbackThatTakesLongIsTold) {
    Node node{Config::in_memory()};
    ASSERT_TRUE(node.wait_ready(std::chrono::steady_clock::now() + patience));
    Recorded<NodeEvent> events;
    const auto subscription = node.on_event(events.sink());
    const auto hold = node.acquire("x", {.caching = Caching::off});
    const std::stop_callback slow{hold.lost(), [] { std::this_thread::sleep_for(30ms); }};
    node.break_lock("x", hold.token(), "test");
    const auto is_slow = [](const NodeEvent& event) { return event.kind == Kind::slow_callback; };
    const auto all =
        events.when([&](const Events& some) { return std::ranges::any_of(some, is_slow); });
    const auto told = std::ranges::find_if(all, is_slow);
    ASSERT_NE(told, all.end());
    EXPECT_GE(told->took, Duration{30ms});
    EXPECT_EQ(node.metrics().late_callbacks, 1U);
}

}  // namespace
}  // namespace mortise
