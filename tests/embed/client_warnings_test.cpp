// A client node warns of holds that last long and of calls that wait long; its member says who is
// in the way (ObservabilityConfig).
#include <algorithm>
#include <chrono>
#include <future>
#include <optional>
#include <stop_token>
#include <string>
#include <vector>

#include <gmock/gmock.h>
#include <unistd.h>

#include "tests/embed/recorded.hpp"
#include <mortise/mortise.hpp>
#include <mortise/testkit/link_proxy.hpp>
#include <mortise/testkit/local_cluster.hpp>

namespace mortise {
namespace {

using namespace std::chrono_literals;
using ::testing::AllOf;
using ::testing::HasSubstr;
using ::testing::Not;
using Kind = NodeEvent::Kind;

class ClientWarnings : public ::testing::Test {
protected:
    void open(Duration slow_hold, Duration long_wait, const std::vector<AccessRule>& rules = {}) {
        proxy.set_target(link, cluster.node(0).status().address);
        Config client;
        client.role = Role::client;
        client.cluster = cluster.node(0).status().cluster;
        client.timing = testkit::quick_timing();
        client.timing.session_ttl = 1h;
        client.timing.call_timeout = 200ms;
        client.tls = cluster.issue_user("app", {AccessRole::client}, rules);
        client.observability = {slow_hold, long_wait};
        client.peers = {{1, proxy.address(link)}};
        node.emplace(client);
        ASSERT_TRUE(node->wait_ready(std::chrono::steady_clock::now() + 20s));
        subscription = node->on_event(events.sink());
    }
    std::vector<NodeEvent> of(Kind kind, std::size_t count) {
        const auto is_one = [&](const NodeEvent& event) { return event.kind == kind; };
        auto all = events.when([&](const std::vector<NodeEvent>& told) {
            return static_cast<std::size_t>(std::ranges::count_if(told, is_one)) >= count;
        });
        std::erase_if(all, [&](const NodeEvent& event) { return !is_one(event); });
        return all;
    }
    // A call that waits until the end of the test.
    std::future<void> wait_for(const std::string& name, const std::string& label) {
        return std::async(std::launch::async, [this, name, label] {
            std::error_code ec;
            std::ignore = node->acquire(name, {.label = label, .cancel = stop.get_token()}, ec);
        });
    }

    testkit::LocalCluster cluster{1, testkit::quick_timing()};
    testkit::LinkProxy proxy;
    testkit::LinkProxy::Link link = proxy.add_link();
    Recorded<NodeEvent> events;
    std::optional<Node> node;
    Subscription subscription;
    std::stop_source stop;
};

TEST_F(ClientWarnings, OfALongWaitNameWhoIsInTheWay) {
    open({}, 30ms);
    const auto hold = cluster.node(0).acquire("job", {.label = "import", .caching = Caching::off});
    const auto waiting = wait_for("job", "web");
    const auto told = of(Kind::long_wait, 2);
    ASSERT_GE(told.size(), 2U);
    const auto& event = told.front();
    EXPECT_EQ(event.name, "job");
    EXPECT_EQ(event.label, "web");
    EXPECT_EQ(event.peer, 1U);
    EXPECT_EQ(event.token, hold.token());
    EXPECT_GE(event.took, Duration{30ms});
    EXPECT_THAT(event.text, HasSubstr("label \"web\"; node 1 holds it, label \"import\", token " +
                                      to_string(hold.token()) + ", for "));
    EXPECT_THAT(event.text, HasSubstr("s, from "));
    EXPECT_GE(told[1].took, Duration{60ms});
    stop.request_stop();
}

TEST_F(ClientWarnings, OfALongHoldSayHowManyWait) {
    open(30ms, {});
    auto hold = node->acquire("job", {.label = "import"});
    auto waiting = std::async(std::launch::async, [&] { return cluster.node(0).acquire("job"); });
    const auto told = events.when([](const std::vector<NodeEvent>& all) {
        return std::ranges::any_of(all, [](const NodeEvent& event) {
            return event.text.find("1 request waits for it") != std::string::npos;
        });
    });
    const auto found = std::ranges::find(told, Kind::slow_hold, &NodeEvent::kind);
    ASSERT_NE(found, told.end());
    EXPECT_EQ(found->label, "import");
    EXPECT_EQ(found->token, hold.token());
    EXPECT_FALSE(hold.release());
    EXPECT_TRUE(waiting.get());
}

// Otherwise nothing would be said just when the cluster is in trouble.
TEST_F(ClientWarnings, ComeWithoutAnAnswerOfTheMember) {
    open({}, 30ms);
    const auto hold = cluster.node(0).acquire("job");
    const auto waiting = wait_for("job", "web");
    ASSERT_FALSE(of(Kind::long_wait, 1).empty());
    proxy.set_mode(link, testkit::LinkMode::drop);
    const auto told = events.when([](const std::vector<NodeEvent>& all) {
        return std::ranges::any_of(all, [](const NodeEvent& event) {
            return event.kind == Kind::long_wait && event.token == FencingToken{};
        });
    });
    const auto alone = std::ranges::find_if(told, [](const NodeEvent& event) {
        return event.kind == Kind::long_wait && event.token == FencingToken{};
    });
    ASSERT_NE(alone, told.end());
    EXPECT_THAT(alone->text, AllOf(HasSubstr("a call waits for "), Not(HasSubstr(";"))));
    stop.request_stop();
}

TEST_F(ClientWarnings, AreGivenForNoCandidateOfAnElection) {
    open({}, 30ms);
    Election election{cluster.node(0), "service"};
    const auto leads = election.campaign("one");
    const auto hold = cluster.node(0).acquire("job");
    const auto candidate = std::async(std::launch::async, [&] {
        std::error_code ec;
        std::ignore = Election{*node, "service"}.campaign("two", {.cancel = stop.get_token()}, ec);
    });
    const auto other = wait_for("job", {});
    for (const auto& event : of(Kind::long_wait, 3))
        EXPECT_EQ(event.name, "job");
    stop.request_stop();
}

}  // namespace
}  // namespace mortise
