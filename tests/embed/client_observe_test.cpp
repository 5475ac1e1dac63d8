// A client node observes by way of its members, and goes on at another one when that one is gone
// (S46, S49).
#include <algorithm>
#include <chrono>
#include <future>
#include <string>
#include <thread>
#include <vector>

#include <gtest/gtest.h>

#include "tests/embed/recorded.hpp"
#include <mortise/mortise.hpp>
#include <mortise/testkit/link_proxy.hpp>
#include <mortise/testkit/local_cluster.hpp>

namespace mortise {
namespace {

using namespace std::chrono_literals;

std::string observed_words(const std::vector<Event>& events) {
    std::string text;
    for (const auto& event : events) {
        text += (text.empty() ? "" : "; ") + std::string{to_string(event.kind)};
        if (!event.name.empty()) text += " " + event.name;
    }
    return text;
}

// Not cached: each grant and each release is a change.
const AcquireOptions each_time{.caching = Caching::off};

// A cluster of three, whose members a client reaches by links that can be broken.
class ClientObserving : public ::testing::Test {
protected:
    void SetUp() override {
        for (std::size_t i = 0; i < cluster.size(); ++i) {
            links.push_back(proxy.add_link());
            proxy.set_target(links.back(), cluster.node(i).status().address);
        }
    }
    Config config(const std::vector<AccessRule>& rules = {}) {
        Config client;
        client.role = Role::client;
        client.cluster = cluster.node(0).status().cluster;
        client.timing = testkit::quick_timing();
        client.tls = cluster.issue_user("app", {AccessRole::client}, rules);
        for (std::size_t i = 0; i < links.size(); ++i)
            client.peers.push_back({NodeId{i + 1}, proxy.address(links[i])});
        return client;
    }
    // The place of the member that an observer without a fault asks.
    static std::size_t member_of(Node& client) {
        EXPECT_TRUE(client.wait_ready(std::chrono::steady_clock::now() + 20s));
        return client.status().served_by.value_or(1) - 1;
    }
    void take(std::size_t member, const std::string& name) {
        EXPECT_FALSE(cluster.node(member).acquire(name, each_time).release());
    }

    testkit::LocalCluster cluster{3, testkit::quick_timing()};
    testkit::LinkProxy proxy;
    std::vector<testkit::LinkProxy::Link> links;
    Recorded<Event> told;
};

TEST_F(ClientObserving, TellsTheStateAndThenEachChange) {  // S46
    auto first = cluster.node(0).acquire("jobs/1", each_time);
    const auto other = cluster.node(0).acquire("other");
    Node client{config()};
    const auto subscription = client.observe("jobs/", told.sink());
    auto events = told.at_least(3);
    ASSERT_EQ(observed_words(events), "gap; state jobs/1; state_complete");
    EXPECT_EQ(events[1].holders.at(0).token, first.token());
    first.set_value("y");
    EXPECT_FALSE(first.release());
    const auto own = client.acquire("jobs/2");
    EXPECT_EQ(observed_words(told.at_least(6)),
              "gap; state jobs/1; state_complete; value_set jobs/1; released jobs/1; "
              "granted jobs/2");
}

TEST_F(ClientObserving, GoesOnAtAnotherMemberWithoutAGap) {  // S46, S49
    Node client{config()};
    const auto member = member_of(client);
    const auto other = (member + 1) % cluster.size();
    const auto subscription = client.observe("jobs/", told.sink());
    ASSERT_EQ(observed_words(told.at_least(2)), "gap; state_complete");
    take(other, "jobs/1");
    ASSERT_EQ(told.at_least(4).size(), 4U);
    proxy.set_mode(links[member], testkit::LinkMode::refuse);
    take(other, "jobs/2");
    EXPECT_EQ(observed_words(told.at_least(6)),
              "gap; state_complete; granted jobs/1; released jobs/1; granted jobs/2; "
              "released jobs/2");
    // Nobody is reached for a while, and then one that was left before.
    for (const auto link : links)
        proxy.set_mode(link, testkit::LinkMode::refuse);
    take(other, "jobs/3");
    proxy.set_mode(links[member], testkit::LinkMode::pass);
    EXPECT_EQ(observed_words(told.at_least(8)),
              "gap; state_complete; granted jobs/1; released jobs/1; granted jobs/2; "
              "released jobs/2; granted jobs/3; released jobs/3");
}

// It says nothing, and its connection stays.
TEST_F(ClientObserving, LeavesAMemberThatDoesNotAnswer) {
    Node client{config()};
    const auto member = member_of(client);
    const auto subscription = client.observe("jobs/", told.sink());
    ASSERT_EQ(told.at_least(2).size(), 2U);
    proxy.set_mode(links[member], testkit::LinkMode::drop);
    take((member + 1) % cluster.size(), "jobs/1");
    EXPECT_EQ(observed_words(told.at_least(4)),
              "gap; state_complete; granted jobs/1; released jobs/1");
}

TEST_F(ClientObserving, GoesOnAfterAPositionAndIsToldAGapByAForeignOne) {
    Node client{config()};
    Position before;
    {
        const auto subscription = client.observe("jobs/", told.sink());
        before = told.at_least(2).back().position;
    }
    take(0, "jobs/1");
    told.clear();
    {
        const auto subscription = client.observe("jobs/", told.sink(), {.from = before});
        EXPECT_EQ(observed_words(told.at_least(2)), "granted jobs/1; released jobs/1");
    }
    told.clear();
    const auto foreign = Position::from_string("4711.2.1");
    const auto subscription = client.observe("jobs/", told.sink(), {.from = foreign});
    EXPECT_EQ(observed_words(told.at_least(2)), "gap; state_complete");
}

// More than its queue and one answer contain.
TEST_F(ClientObserving, ASlowSinkMissesNothing) {  // P10
    std::vector<HoldSet> held;
    constexpr std::size_t sets = 48;
    for (std::size_t i = 0; i < sets; ++i) {
        std::vector<LockRequest> names;
        for (int each = 0; each < 64; ++each)
            names.push_back({"jobs/" + std::to_string(i) + "/" + std::to_string(each)});
        held.push_back(cluster.node(0).acquire_all(names));
    }
    Node client{config()};
    std::promise<void> go_on;
    auto may_go_on = go_on.get_future().share();
    const auto subscription = client.observe("jobs/", [&](const Event& event) {
        may_go_on.wait();
        told.sink()(event);
    });
    std::this_thread::sleep_for(300ms);
    go_on.set_value();
    const auto events = told.when([](const std::vector<Event>& all) {
        return !all.empty() && all.back().kind == Event::Kind::state_complete;
    });
    EXPECT_EQ(events.size(), sets * 64 + 2);
    EXPECT_EQ(std::ranges::count(events, Event::Kind::gap, &Event::kind), 1);
}

TEST_F(ClientObserving, FollowsALeader) {  // S35
    Node client{config()};
    Recorded<std::optional<Leader>> leaders;
    Election election{client, "service"};
    const auto subscription = election.observe(leaders.sink());
    Election of_member{cluster.node(0), "service"};
    auto lead = of_member.campaign("10.0.0.1:80");
    const auto is_told = [](const auto& all) { return !all.empty() && all.back().has_value(); };
    const auto seen = leaders.when(is_told);
    ASSERT_TRUE(is_told(seen));
    EXPECT_EQ(seen.back()->value, "10.0.0.1:80");
}

TEST_F(ClientObserving, EndsWithItsSubscriptionAndMayOutliveTheNode) {
    Subscription subscription;
    {
        Node client{config()};
        subscription = client.observe("jobs/", told.sink());
        ASSERT_EQ(told.at_least(2).size(), 2U);
        (void)client.observe("jobs/", told.sink());
    }
    take(0, "jobs/1");
    subscription.end();
    const auto kinds = told.at_least(2);
    EXPECT_EQ(std::ranges::count(kinds, Event::Kind::granted, &Event::kind), 0);
}

// Without TLS there is no certificate.
TEST_F(ClientObserving, ObservesWhatItsCertificateAllows) {
    auto limited = config({{AccessRight::acquire, ""}, {AccessRight::observe, "jobs/"}});
    const auto denied =
        limited.tls.is_set() ? make_error_code(Errc::permission_denied) : std::error_code{};
    Node client{std::move(limited)};
    const auto subscription = client.observe("jobs/", told.sink());
    std::error_code ec;
    (void)client.observe("other/", told.sink(), ec);
    EXPECT_EQ(ec, denied);
}

}  // namespace
}  // namespace mortise
