#include "embed/threads/event_hub.hpp"

#include <algorithm>
#include <atomic>
#include <future>
#include <vector>

#include <gtest/gtest.h>

namespace mortise::detail {
namespace {

NodeEvent about(NodeId peer) {
    return {.kind = NodeEvent::Kind::peer_up, .peer = peer};
}

TEST(EventHub, TellsEachSubscriberInOrder) {
    Notifier notifier{"test"};
    EventHub hub{notifier};
    std::vector<NodeId> heard;
    const auto subscription =
        hub.subscribe([&](const NodeEvent& event) { heard.push_back(event.peer); });
    for (NodeId peer = 1; peer <= 50; ++peer)
        hub.publish(about(peer));
    notifier.stop();
    ASSERT_EQ(heard.size(), 50U);
    EXPECT_TRUE(std::is_sorted(heard.begin(), heard.end()));
}

TEST(EventHub, CallsNobodyWhoseSubscriptionEnded) {
    Notifier notifier{"test"};
    EventHub hub{notifier};
    int heard = 0;
    auto subscription = hub.subscribe([&](const NodeEvent&) { ++heard; });
    subscription.end();
    hub.publish(about(1));
    notifier.stop();
    EXPECT_EQ(heard, 0);
}

// The end of a subscription waits for a running call, unless it is called from that call.
TEST(EventHub, WaitsForTheCallThatIsRunning) {
    Notifier notifier{"test"};
    EventHub hub{notifier};
    std::promise<void> called;
    std::promise<void> go_on;
    std::atomic<bool> returned = false;
    auto subscription = hub.subscribe([&](const NodeEvent&) {
        called.set_value();
        go_on.get_future().wait();
        returned = true;
    });
    hub.publish(about(1));
    called.get_future().wait();
    go_on.set_value();
    subscription.end();
    EXPECT_TRUE(returned);
}

TEST(EventHub, MayBeLeftFromWithinTheCall) {
    Notifier notifier{"test"};
    EventHub hub{notifier};
    Subscription subscription;
    int heard = 0;
    subscription = hub.subscribe([&](const NodeEvent&) {
        ++heard;
        subscription.end();
    });
    hub.publish(about(1));
    hub.publish(about(2));
    notifier.stop();
    EXPECT_EQ(heard, 1);
}

}  // namespace
}  // namespace mortise::detail
