// Warnings of holds that last long and of calls that wait long (ObservabilityConfig).
#include <algorithm>
#include <chrono>
#include <future>
#include <mutex>
#include <string>
#include <thread>
#include <vector>

#include <gmock/gmock.h>
#include <unistd.h>

#include "tests/embed/one_node.hpp"
#include "tests/embed/recorded.hpp"
#include <mortise/testkit/temp_directory.hpp>

namespace mortise {
namespace {

using namespace std::chrono_literals;
using ::testing::HasSubstr;
using Kind = NodeEvent::Kind;

class Lines {
public:
    void add(LogLevel level, std::string_view line) {
        const std::scoped_lock lock{mutex_};
        if (level == LogLevel::warn) lines_.emplace_back(line);
    }
    std::vector<std::string> with(std::string_view part) {
        const std::scoped_lock lock{mutex_};
        std::vector<std::string> found;
        for (const auto& line : lines_) {
            if (line.find(part) != std::string::npos) found.push_back(line);
        }
        return found;
    }

private:
    std::mutex mutex_;
    std::vector<std::string> lines_;
};

class SlowHolds : public ::testing::Test {
protected:
    void open(Duration slow_hold, Duration long_wait) {
        auto config = Config::in_memory();
        config.observability = {slow_hold, long_wait};
        config.log.sink = [this](LogLevel level, std::string_view line) {
            lines_.add(level, line);
        };
        node_.emplace(std::move(config));
        ASSERT_TRUE(node_->wait_ready(std::chrono::steady_clock::now() + patience));
        subscription_ = node_->on_event(events_.sink());
    }
    void TearDown() override { node_.reset(); }
    std::vector<NodeEvent> of(Kind kind, std::size_t count) {
        const auto is_one = [&](const NodeEvent& event) { return event.kind == kind; };
        auto all = events_.when([&](const std::vector<NodeEvent>& events) {
            return static_cast<std::size_t>(std::ranges::count_if(events, is_one)) >= count;
        });
        std::erase_if(all, [&](const NodeEvent& event) { return !is_one(event); });
        return all;
    }

    Lines lines_;
    Recorded<NodeEvent> events_;
    std::optional<Node> node_;
    Subscription subscription_;
};

TEST_F(SlowHolds, AreToldWithTheirLabelTokenAndHowManyWait) {
    open(30ms, {});
    const auto hold = node_->acquire("orders/42", {.label = "import", .caching = Caching::off});
    auto waiting = std::async(std::launch::async, [&] { return node_->acquire("orders/42"); });
    const auto events = of(Kind::slow_hold, 1);
    ASSERT_FALSE(events.empty());
    const auto& event = events.front();
    EXPECT_EQ(event.name, "orders/42");
    EXPECT_EQ(event.label, "import");
    EXPECT_EQ(event.token, hold.token());
    EXPECT_GE(event.took, Duration{30ms});
    EXPECT_THAT(event.text, HasSubstr("label \"import\", token " + to_string(hold.token())));
    EXPECT_THAT(event.text, HasSubstr("1 request waits for it"));
    EXPECT_EQ(lines_.with("\"orders/42\" is " + event.text).size(), 1U);
    node_->break_lock("orders/42", hold.token(), "test", BreakMode::immediate);
    EXPECT_TRUE(waiting.get());
}

TEST_F(SlowHolds, AreToldAgainOnlyWhenTheyAreTwiceAsOld) {
    open(40ms, {});
    const auto began = std::chrono::steady_clock::now();
    const auto hold = node_->acquire("x", {.caching = Caching::off});
    const auto events = of(Kind::slow_hold, 3);
    const Duration took = std::chrono::steady_clock::now() - began;
    ASSERT_EQ(events.size(), 3U);
    EXPECT_GE(events[1].took, Duration{80ms});
    EXPECT_GE(events[2].took, Duration{160ms});
    EXPECT_GE(took, Duration{160ms});
}

TEST_F(SlowHolds, ThatAreReleasedInTimeAreNotTold) {
    open(200ms, {});
    for (int times = 0; times < 30; ++times) {
        const auto hold = node_->acquire("x", {.caching = Caching::off});
        std::this_thread::sleep_for(10ms);
    }
    const auto hold = node_->acquire("y", {.caching = Caching::off});
    const auto events = of(Kind::slow_hold, 1);
    ASSERT_EQ(events.size(), 1U);
    EXPECT_EQ(events.front().name, "y");
}

TEST_F(SlowHolds, OfSeveralNamesAreOne) {
    open(30ms, {});
    const auto holds = node_->acquire_all({"a", "b", "c"});
    const auto events = of(Kind::slow_hold, 1);
    ASSERT_FALSE(events.empty());
    EXPECT_EQ(events.front().name, "a");
    EXPECT_EQ(events.front().token, holds.begin()->token());
    EXPECT_THAT(events.front().text, HasSubstr("with 2 other names"));
}

// Nobody knows whether a cached grant is in use, until somebody else asks for it.
TEST_F(SlowHolds, OfCachedGrantsCountFromWhenAnotherAsks) {
    open(50ms, {});
    for (int times = 0; times < 2; ++times)
        EXPECT_FALSE(node_->acquire("x").release());
    const auto hold = node_->acquire("x", {.label = "cached"});
    ASSERT_EQ(node_->metrics().served_from_cache, 1U);
    std::this_thread::sleep_for(150ms);
    const auto asked = std::chrono::steady_clock::now();
    std::stop_source stop;
    auto waiting = std::async(std::launch::async, [&] {
        std::error_code ec;
        std::ignore = node_->acquire(
            "x", {.priority = 1, .caching = Caching::off, .cancel = stop.get_token()}, ec);
    });
    const auto events = of(Kind::slow_hold, 1);
    ASSERT_FALSE(events.empty());
    EXPECT_LE(events.front().took, Duration{std::chrono::steady_clock::now() - asked});
    EXPECT_EQ(events.front().label, "cached");
    stop.request_stop();
    waiting.get();
}

TEST_F(SlowHolds, LongWaitsNameWhoIsInTheWay) {
    open({}, 30ms);
    const auto hold = node_->acquire("orders/42", {.label = "import", .caching = Caching::off});
    std::stop_source stop;
    auto waiting = std::async(std::launch::async, [&] {
        std::error_code ec;
        std::ignore = node_->acquire("orders/42", {.label = "web", .cancel = stop.get_token()}, ec);
    });
    const auto events = of(Kind::long_wait, 2);
    ASSERT_GE(events.size(), 2U);
    const auto& event = events.front();
    EXPECT_EQ(event.name, "orders/42");
    EXPECT_EQ(event.label, "web");
    EXPECT_EQ(event.peer, 1U);
    EXPECT_EQ(event.token, hold.token());
    EXPECT_GE(event.took, Duration{30ms});
    EXPECT_THAT(event.text, HasSubstr("label \"web\"; node 1 holds it, label \"import\", token " +
                                      to_string(hold.token()) + ", for "));
    EXPECT_THAT(event.text, ::testing::EndsWith(":" + std::to_string(getpid())));
    EXPECT_THAT(event.text, HasSubstr("s, from "));
    EXPECT_GE(events[1].took, Duration{60ms});
    EXPECT_EQ(lines_.with("\"orders/42\": " + event.text).size(), 1U);
    stop.request_stop();
    waiting.get();
}

TEST_F(SlowHolds, LongWaitsForMorePermitsThanTheLimitSaySo) {
    open({}, 30ms);
    Semaphore pool{*node_, "pool", 3};
    const auto some = pool.acquire(2);
    std::stop_source stop;
    const AcquireOptions options{.cancel = stop.get_token()};
    const auto wait = [&](std::uint32_t permits) {
        return std::async(std::launch::async, [&, permits] {
            std::error_code ec;
            std::ignore = pool.acquire(permits, options, ec);
        });
    };
    auto too_many = wait(5);
    ASSERT_FALSE(of(Kind::long_wait, 1).empty());
    auto behind_it = wait(1);
    const auto events = of(Kind::long_wait, 4);
    ASSERT_GE(events.size(), 4U);
    for (const auto& event : events)
        EXPECT_THAT(event.text, HasSubstr("asks for 5 permits, and the limit is 3: all wait"));
    stop.request_stop();
    too_many.get();
    behind_it.get();
}

TEST_F(SlowHolds, AreNotWatchedUnlessConfigured) {
    open({}, {});
    const auto hold = node_->acquire("x", {.caching = Caching::off});
    std::error_code ec;
    EXPECT_FALSE(node_->acquire("x", {.wait_max = 200ms}, ec));
    EXPECT_EQ(ec, Errc::timed_out);
    EXPECT_TRUE(lines_.with("\"x\"").empty());
    const auto events = events_.at_least(0);
    EXPECT_TRUE(std::ranges::none_of(events, [](const NodeEvent& event) {
        return event.kind == Kind::slow_hold || event.kind == Kind::long_wait;
    }));
}

TEST_F(SlowHolds, CandidatesOfAnElectionGiveNoWarning) {
    open({}, 30ms);
    Election election{*node_, "service"};
    const auto leader = election.campaign("one");
    std::stop_source enough;
    AcquireOptions options;
    options.cancel = enough.get_token();
    auto candidate = std::async(std::launch::async, [&] {
        std::error_code ec;
        return election.campaign("two", options, ec);
    });
    auto other = std::async(std::launch::async, [&] {
        const auto hold = node_->acquire("job");
        std::error_code ec;
        return node_->acquire("job", options, ec);
    });
    EXPECT_THAT(of(Kind::long_wait, 2).front().name, "job");
    for (const auto& event : of(Kind::long_wait, 2))
        EXPECT_EQ(event.name, "job");
    enough.request_stop();
    candidate.wait();
    other.wait();
}

// A node that waits for its peers, or a client for a member.
Config alone(Role role, const std::string& directory) {
    Config config;
    config.role = role;
    config.timing.session_ttl = 1s;
    config.timing.election_timeout = 200ms;
    config.timing.heartbeat = 50ms;
    config.timing.close_timeout = 0s;
    config.peers = {{1, "127.0.0.1:1"}, {2, "127.0.0.1:2"}, {3, "127.0.0.1:3"}};
    if (role == Role::client) return config;
    config.node_id = 1;
    config.data_dir = directory;
    config.listen = "127.0.0.1:0";
    return config;
}

TEST(NotReady, IsSaidWithItsReasonAfterATtl) {
    const testkit::TempDirectory directory{"mortise-not-ready"};
    for (const auto role : {Role::voter, Role::client}) {
        Recorded<std::string> lines;
        auto config = alone(role, directory.path().string());
        config.log.sink = [add = lines.sink()](LogLevel level, std::string_view line) {
            if (level == LogLevel::warn) add(std::string{line});
        };
        const Node node{config};
        const auto is_said = [](const std::string& line) {
            return line.find("not ready for 1s: ") != std::string::npos &&
                   line.find("127.0.0.1:2") != std::string::npos;
        };
        const auto said =
            lines.when([&](const auto& all) { return std::ranges::any_of(all, is_said); });
        EXPECT_TRUE(std::ranges::any_of(said, is_said));
    }
}

}  // namespace
}  // namespace mortise
