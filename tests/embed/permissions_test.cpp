// A call that the certificate of a node does not allow is refused at once, and the error says what
// is missing.
#include <array>
#include <functional>
#include <future>
#include <map>
#include <vector>

#include "embed/runtime/node_runtime.hpp"
#include "tests/embed/one_node.hpp"

namespace mortise {
namespace {

using core::AccessRole;
using core::Right;

Config with_a_door() {
    auto config = Config::in_memory();
    config.listen = "127.0.0.1:0";
    return config;
}

class Permissions : public ::testing::Test {
protected:
    explicit Permissions(core::Access access = {{AccessRole::voter}, {{Right::acquire, "jobs/"}}},
                         Config config = with_a_door())
        : node_{detail::NodeRuntime::node_of(
              detail::NodeRuntime::open(std::move(config), std::move(access)))} {}
    void SetUp() override {
        ASSERT_TRUE(node_.wait_ready(std::chrono::steady_clock::now() + patience));
    }
    // The error of the call.
    static void expect_denied(const std::function<void()>& call, const std::string& says) {
        try {
            call();
            ADD_FAILURE() << "it is not refused: " << says;
        } catch (const LockError& error) {
            EXPECT_EQ(error.code(), Errc::permission_denied) << says;
            EXPECT_NE(error.detail().reason.find(says), std::string::npos) << error.what();
        }
    }

    Node node_;
};

TEST_F(Permissions, ToEvictASessionIsToBreakEveryName) {
    expect_denied([&] { node_.evict(1, "stuck"); }, R"(node 1 may not break "")");
}

TEST_F(Permissions, EveryWayToAcquireSaysWhatIsMissing) {
    const std::string says =
        R"(node 1 may not acquire "orders/42": its certificate allows acquire on "jobs/")";
    const std::chrono::seconds wait{1};
    const LockRequests jobs_and_orders{{"jobs/1", LockMode::exclusive},
                                       {"orders/42", LockMode::exclusive}};
    LockInfo busy;
    Mutex mutex{node_, "orders/42"};
    const std::vector<std::function<void()>> calls{
        [&] { (void)node_.acquire("orders/42"); },
        [&] { (void)node_.try_acquire("orders/42"); },
        [&] { (void)node_.try_acquire("orders/42", busy); },
        [&] { (void)node_.acquire_for("orders/42", wait); },
        [&] { (void)node_.acquire_all(jobs_and_orders); },
        [&] { (void)node_.acquire_any(jobs_and_orders); },
        [&] { (void)node_.try_acquire_any(jobs_and_orders); },
        [&] { mutex.lock(); },
        [&] { (void)mutex.try_lock(); },
        [&] { (void)mutex.try_lock_for(wait); },
    };
    for (const auto& call : calls)
        expect_denied(call, says);
    std::error_code ec;
    EXPECT_FALSE(node_.acquire("orders/42", ec));
    EXPECT_EQ(ec, Errc::permission_denied);
    EXPECT_TRUE(node_.acquire("jobs/1"));
}

TEST_F(Permissions, WhatIsNoAcquireSaysSoAsWell) {
    const auto token = FencingToken::from_raw(1);
    expect_denied([&] { node_.break_lock("jobs/1", token, "stuck"); }, "may not break \"jobs/1\"");
    expect_denied([&] { node_.request_release("orders/42", "please"); }, "\"orders/42\"");
    expect_denied([&] { (void)node_.inspect("jobs/1"); }, "may not observe \"jobs/1\"");
    expect_denied([&] { (void)node_.list("jobs/"); }, "may not observe \"jobs/\"");
    expect_denied([&] { (void)node_.observe("jobs/", [](const Event&) {}); },
                  "may not observe \"jobs/\"");
    expect_denied([&] { (void)node_.sessions(); }, "may not observe");
    expect_denied([&] { (void)node_.sessions(ReadLevel::local); }, "may not observe");
    expect_denied([&] { (void)Election(node_, "jobs/1").leader(); }, "observe \"jobs/1\"");
    expect_denied([&] { (void)Election(node_, "jobs/1").observe([](const auto&) {}); },
                  "may not observe \"jobs/1\"");
    expect_denied([&] { node_.remove_member(7); }, "may not change the members");
    expect_denied([&] { (void)node_.activity(); }, "may not observe");
    std::error_code ec;
    EXPECT_TRUE(node_.list("jobs/", ec).empty());
    EXPECT_EQ(ec, Errc::permission_denied);
    EXPECT_TRUE(node_.status().ready);
}

// A member does for clients at most what it may do itself.
TEST_F(Permissions, AClientIsToldWhatItsMemberMayNotDo) {
    Remote remote{{node_.status().address}, patience};
    expect_denied([&] { (void)remote.list("jobs/"); }, "node 1 may not observe");
    expect_denied([&] { (void)remote.inspect("jobs/1"); }, "node 1 may not observe");
    expect_denied([&] { (void)remote.sessions(); }, "node 1 may not observe");
    expect_denied([&] { (void)remote.sessions(ReadLevel::local); }, "node 1 may not observe");
    expect_denied([&] { (void)remote.activity(); }, "node 1 may not observe");
    expect_denied([&] { remote.observe("jobs/", [](const Event&) {}, {}, {}); },
                  "node 1 may not observe");
    expect_denied([&] { remote.break_lock("jobs/1", FencingToken::from_raw(1), "stuck"); },
                  "node 1 may not break");
    expect_denied([&] { remote.remove_member(7); }, "node 1 may not change the members");
    EXPECT_EQ(remote.status().size(), 1U);
}

struct PermissionsToBreak : Permissions {
    PermissionsToBreak()
        : Permissions{
              {{AccessRole::voter},
               {{Right::acquire, ""}, {Right::break_lock, ""}, {Right::observe, "jobs/"}}}} {}
};

TEST_F(PermissionsToBreak, EventsAreOfWhatTheNodeMayObserve) {
    std::promise<std::string> told;
    const auto subscription = node_.on_event([&](const NodeEvent& event) {
        if (event.kind == NodeEvent::Kind::lock_broken) told.set_value(event.name);
    });
    for (const auto* name : {"orders/42", "jobs/1"}) {
        const auto hold = node_.acquire(name);
        node_.break_lock(name, hold.token(), "stuck");
    }
    auto name = told.get_future();
    ASSERT_EQ(name.wait_for(patience), std::future_status::ready);
    EXPECT_EQ(name.get(), "jobs/1");
}

Config with_warnings_soon() {
    auto config = Config::in_memory();
    config.observability = {std::chrono::milliseconds{20}, std::chrono::milliseconds{20}};
    return config;
}

struct Ageing : Permissions {
    Ageing()
        : Permissions{{{AccessRole::voter}, {{Right::acquire, ""}, {Right::observe, "jobs/"}}},
                      with_warnings_soon()} {}
};

// What follows the semicolon is about others.
TEST_F(Ageing, WarningsTellOfOthersWhereTheNodeMayObserve) {
    std::mutex mutex;
    std::condition_variable more;
    std::map<std::pair<NodeEvent::Kind, std::string>, NodeEvent> told;
    const auto subscription = node_.on_event([&](const NodeEvent& event) {
        const std::scoped_lock lock{mutex};
        const bool is_of_age =
            event.kind == NodeEvent::Kind::slow_hold || event.kind == NodeEvent::Kind::long_wait;
        if (is_of_age) told.emplace(std::pair{event.kind, event.name}, event);
        more.notify_all();
    });
    std::vector<std::jthread> waiting;
    const std::array holds{node_.acquire("orders/42"), node_.acquire("jobs/1")};
    for (const auto* name : {"orders/42", "jobs/1"})
        waiting.emplace_back([this, name] {
            std::error_code refused;
            (void)node_.acquire_for(name, patience, refused);
        });
    std::unique_lock lock{mutex};
    ASSERT_TRUE(more.wait_for(lock, patience, [&] { return told.size() == 4; }));
    for (const auto& [what, event] : told) {
        const bool tells = event.text.find(';') != std::string::npos;
        EXPECT_EQ(tells, event.name == "jobs/1") << event.text;
    }
}

}  // namespace
}  // namespace mortise
