// What a program that is not a member learns of changes and sessions (S46).
#include <algorithm>
#include <cerrno>
#include <chrono>
#include <future>
#include <optional>
#include <string>
#include <thread>
#include <vector>

#include <unistd.h>

#include "tests/embed/one_node.hpp"
#include "tests/embed/recorded.hpp"
#include <mortise/remote.hpp>
#include <mortise/testkit/local_cluster.hpp>

namespace mortise {
namespace {

using namespace std::chrono_literals;
using Kind = Event::Kind;

std::string remote_words(const std::vector<Event>& events) {
    std::string text;
    for (const auto& event : events) {
        text += (text.empty() ? "" : "; ") + std::string{to_string(event.kind)};
        if (!event.name.empty()) text += " " + event.name;
    }
    return text;
}

AcquireOptions never_cached(std::string label = {}) {
    AcquireOptions options;
    options.caching = Caching::off;
    options.label = std::move(label);
    return options;
}

// Observes until it is destroyed.
class Watching {
public:
    Watching(Remote remote, std::string prefix, ObserveOptions options = {})
        : remote_{std::move(remote)},
          thread_{[this, prefix = std::move(prefix), options](const std::stop_token& stop) {
              remote_.observe(prefix, told_.sink(), options, stop,
                              [this](std::string_view address, std::string_view problem) {
                                  moved_.sink()(std::string{address} + ", " + std::string{problem});
                              });
          }} {}

    Recorded<Event>& told() { return told_; }
    Recorded<std::string>& moved() { return moved_; }

private:
    Remote remote_;
    Recorded<Event> told_;
    Recorded<std::string> moved_;
    std::jthread thread_;
};

class RemoteObserving : public ::testing::Test {
protected:
    RemoteObserving() {
        auto config = Config::in_memory();
        config.listen = "127.0.0.1:0";
        node_.emplace(config);
        EXPECT_TRUE(node_->wait_ready(std::chrono::steady_clock::now() + patience));
    }
    [[nodiscard]] Remote remote() { return Remote{{node_->status().address}, patience}; }

    std::optional<Node> node_;
};

TEST_F(RemoteObserving, TellsTheStateAndThenEachChange) {  // S46
    auto first = node_->acquire("jobs/1", never_cached("nightly"));
    first.set_value("x");
    const auto other = node_->acquire("other");
    Watching watching{remote(), "jobs/"};
    auto events = watching.told().at_least(3);
    ASSERT_EQ(remote_words(events), "gap; state jobs/1; state_complete");
    ASSERT_EQ(events[1].holders.size(), 1U);
    EXPECT_EQ(events[1].holders[0].token, first.token());
    EXPECT_EQ(events[1].holders[0].label, "nightly");
    EXPECT_EQ(events[1].holders[0].node, node_->id());
    EXPECT_EQ(events[1].value->bytes, "x");
    watching.told().clear();
    first.set_value("y");
    EXPECT_FALSE(first.release());
    events = watching.told().at_least(2);
    ASSERT_EQ(remote_words(events), "value_set jobs/1; released jobs/1");
    EXPECT_EQ(events[0].value->bytes, "y");
    EXPECT_EQ(events[1].how, Predecessor::clean);
    EXPECT_LT(events[0].position, events[1].position);
}

TEST_F(RemoteObserving, ObservesOneNameIfItIsAsked) {
    const auto long_name = node_->acquire("jobs/12");
    ObserveOptions options;
    options.only_this_name = true;
    Watching watching{remote(), "jobs/1", options};
    ASSERT_EQ(remote_words(watching.told().at_least(2)), "gap; state_complete");
    const auto hold = node_->acquire("jobs/1", never_cached());
    EXPECT_EQ(remote_words(watching.told().at_least(3)), "gap; state_complete; granted jobs/1");
}

// A state that does not fit into one answer.
TEST_F(RemoteObserving, TellsALargeStateInSeveralAnswers) {
    constexpr int names = 120;
    const std::string value(4'000, 'v');
    for (int i = 0; i < names; ++i)
        node_->acquire("jobs/" + std::to_string(1'000 + i)).set_value(value);
    Watching watching{remote(), "jobs/"};
    const auto events = watching.told().when([](const std::vector<Event>& all) {
        return !all.empty() && all.back().kind == Kind::state_complete;
    });
    std::vector<std::string> told;
    for (const auto& event : events) {
        if (event.kind == Kind::state) told.push_back(event.name);
    }
    std::ranges::sort(told);
    told.erase(std::unique(told.begin(), told.end()), told.end());
    EXPECT_EQ(told.size(), names);
    EXPECT_EQ(std::ranges::count(events, Kind::gap, &Event::kind), 1);
}

TEST_F(RemoteObserving, ContinuesAfterAPosition) {
    Position before;
    {
        Watching watching{remote(), "jobs/"};
        before = watching.told().at_least(2).back().position;
    }
    ASSERT_TRUE(before.is_set());
    EXPECT_FALSE(node_->acquire("jobs/1", never_cached()).release());
    ObserveOptions options;
    options.from = before;
    Watching watching{remote(), "jobs/", options};
    EXPECT_EQ(remote_words(watching.told().at_least(2)), "granted jobs/1; released jobs/1");
}

// A majority was lost, and the cluster is begun anew at the same address (docs/handbook.md).
TEST_F(RemoteObserving, IsToldAGapByTheClusterThatReplacesTheFormerOne) {  // S46, P2
    for (int i = 0; i < 10; ++i)
        (void)node_->acquire("jobs/1", never_cached()).release();
    Watching watching{remote(), "jobs/"};
    const auto events = watching.told().at_least(2);
    auto config = Config::in_memory();
    config.listen = node_->status().address;
    node_.reset();
    node_.emplace(config);
    EXPECT_EQ(remote_words(watching.told().at_least(4)),
              "gap; state_complete; gap; state_complete");
    EXPECT_FALSE(node_->acquire("jobs/2", never_cached()).release());
    EXPECT_EQ(remote_words(watching.told().at_least(6)),
              "gap; state_complete; gap; state_complete; granted jobs/2; released jobs/2");
    // So is whoever comes with a position that was stored, also if the text is one of 0.2.
    for (const auto& text : {events.back().position.to_string(), std::string{"4711.2"}}) {
        ObserveOptions options;
        options.from = Position::from_string(text);
        Watching late{remote(), "jobs/", options};
        EXPECT_EQ(remote_words(late.told().at_least(2)), "gap; state_complete") << text;
    }
}

TEST_F(RemoteObserving, RefusesWhatIsNoName) {
    ObserveOptions options;
    options.only_this_name = true;
    const auto observe = [&](const std::string& prefix) {
        return thrown_by([&] { remote().observe(prefix, [](const Event&) {}, options, {}); });
    };
    EXPECT_EQ(observe(""), Errc::invalid_argument);
    EXPECT_EQ(observe(std::string(513, 'x')), Errc::invalid_argument);
}

TEST_F(RemoteObserving, FailsIfNobodyAnswersAtTheBeginning) {
    const auto address = node_->status().address;
    node_->close();
    Remote alone{{address}, patience};
    EXPECT_THROW(alone.observe("", [](const Event&) {}, {}, {}), std::system_error);
}

TEST_F(RemoteObserving, ReturnsWhenItIsAsked) {
    std::stop_source stop;
    auto done = std::async(std::launch::async, [&] {
        remote().observe(
            "", [](const Event&) {}, {}, stop.get_token());
    });
    std::this_thread::sleep_for(100ms);
    stop.request_stop();
    EXPECT_EQ(done.wait_for(3s), std::future_status::ready);
}

TEST_F(RemoteObserving, ListsSessionsWithWhatTheyHaveAndWaitFor) {
    const auto first = node_->acquire("jobs/1", never_cached("nightly"));
    const auto second = node_->acquire_all({"jobs/2", "jobs/3"});
    auto waiting = std::async(std::launch::async, [&] {
        return node_->acquire_for("jobs/1", 20s, never_cached()).has_value();
    });
    std::vector<SessionInfo> sessions;
    const auto end = std::chrono::steady_clock::now() + patience;
    do {
        sessions = remote().sessions();
        // ages are in milliseconds
    } while (sessions.size() == 1 &&
             (sessions[0].waits == 0 || sessions[0].age == Duration::zero()) &&
             std::chrono::steady_clock::now() < end);
    ASSERT_EQ(sessions.size(), 1U);
    EXPECT_EQ(sessions[0].id, node_->status().session);
    EXPECT_EQ(sessions[0].node, node_->id());
    EXPECT_EQ(sessions[0].label, "nightly");
    EXPECT_EQ(sessions[0].holds, 3U);
    EXPECT_EQ(sessions[0].waits, 1U);
    EXPECT_EQ(sessions[0].ttl, Duration{10s});
    EXPECT_GT(sessions[0].lease_left, Duration{5s});
    EXPECT_LE(sessions[0].lease_left, Duration{11s});
    EXPECT_GT(sessions[0].age, Duration::zero());
    EXPECT_LT(sessions[0].age, Duration{patience});
    EXPECT_EQ(remote().sessions(ReadLevel::local).size(), 1U);
    node_->close();
    EXPECT_EQ(thrown_by([&] { waiting.get(); }), Errc::node_stopped);
}

TEST_F(RemoteObserving, SaysSinceWhenAndFromWhereALockIsHeld) {
    const auto hold = node_->acquire("jobs/1", never_cached());
    auto waiting = std::async(std::launch::async, [&] {
        return node_->acquire_for("jobs/1", 20s, never_cached("second")).has_value();
    });
    const auto end = std::chrono::steady_clock::now() + patience;
    while (std::chrono::steady_clock::now() < end) {
        const auto info = node_->inspect("jobs/1");
        const bool waits = !info.waiters.empty() && info.waiters[0].age.is_set();
        if (waits && info.waiters[0].age >= Duration{100ms}) break;
    }
    const auto expect_told = [&](const LockInfo& info) {
        ASSERT_EQ(info.holders.size(), 1U);
        ASSERT_EQ(info.waiters.size(), 1U);
        const auto& holder = info.holders.front();
        for (const auto age : {holder.age, info.waiters.front().age}) {
            EXPECT_GE(age, Duration{100ms});
            EXPECT_LE(age, Duration{patience});
        }
        EXPECT_EQ(holder.origin.pid, static_cast<std::uint64_t>(getpid()));
        EXPECT_FALSE(holder.origin.host.empty());
        EXPECT_FALSE(holder.origin.address.empty());
        EXPECT_EQ(holder.label, "");
        EXPECT_EQ(shown_label(holder), std::string{program_invocation_short_name} + "@" +
                                           holder.origin.host + ":" + std::to_string(getpid()));
        EXPECT_EQ(shown_label(info.waiters.front()), "second");
        EXPECT_EQ(info.waiters.front().origin, holder.origin);
    };
    expect_told(node_->inspect("jobs/1"));
    expect_told(remote().inspect("jobs/1"));
    const auto sessions = remote().sessions();
    ASSERT_EQ(sessions.size(), 1U);
    EXPECT_EQ(sessions[0].origin.pid, static_cast<std::uint64_t>(getpid()));
    EXPECT_GE(sessions[0].age, Duration{100ms});
    Watching watching{remote(), "jobs/"};
    const auto events = watching.told().at_least(3);
    EXPECT_EQ(events.at(1).holders.at(0).origin.pid, static_cast<std::uint64_t>(getpid()));
    node_->close();
    EXPECT_EQ(thrown_by([&] { waiting.get(); }), Errc::node_stopped);
}

class RemoteObservingACluster : public ::testing::Test {
protected:
    [[nodiscard]] Remote remote(const std::vector<std::size_t>& members = {0, 1, 2}) {
        std::vector<std::string> addresses;
        for (const auto member : members)
            addresses.push_back(cluster_.node(member).status().address);
        const auto tls = cluster_.issue_user("observer", {AccessRole::observer});
        return tls.is_set() ? Remote{addresses, 3s, tls} : Remote{addresses, 3s};
    }
    void take_and_release(std::size_t node, const std::string& name) {
        EXPECT_FALSE(cluster_.node(node).acquire(name, never_cached()).release());
    }

    testkit::LocalCluster cluster_{3, testkit::quick_timing()};
};

TEST_F(RemoteObservingACluster, GoesOnAtAnotherMemberWithoutAGap) {
    Watching watching{remote(), "jobs/"};
    ASSERT_EQ(remote_words(watching.told().at_least(2)), "gap; state_complete");
    take_and_release(1, "jobs/1");
    ASSERT_EQ(watching.told().at_least(4).size(), 4U);
    cluster_.kill(0);
    take_and_release(1, "jobs/2");
    const auto events = watching.told().at_least(6);
    EXPECT_EQ(remote_words(events),
              "gap; state_complete; granted jobs/1; released jobs/1; granted jobs/2; "
              "released jobs/2");
    EXPECT_TRUE(std::ranges::is_sorted(events.begin() + 1, events.end(), {}, &Event::position));
    EXPECT_EQ(watching.moved().at_least(1).size(), 1U);
}

TEST_F(RemoteObservingACluster, LeavesAMemberThatIsCutOff) {
    Watching watching{remote(), "jobs/"};
    ASSERT_EQ(remote_words(watching.told().at_least(2)), "gap; state_complete");
    cluster_.isolate(0);
    const auto moved = watching.moved().at_least(1);
    ASSERT_EQ(moved.size(), 1U);
    EXPECT_NE(moved[0].find("it is not ready"), std::string::npos) << moved[0];
    take_and_release(1, "jobs/1");
    EXPECT_EQ(remote_words(watching.told().at_least(4)),
              "gap; state_complete; granted jobs/1; released jobs/1");
}

// One of the two is never ready again. It is the last one that answers while the majority is away.
TEST_F(RemoteObservingACluster, ComesBackFromAMemberThatWasRemoved) {
    cluster_.node(1).remove_member(1);
    Watching watching{remote({0, 1}), "jobs/"};
    ASSERT_EQ(remote_words(watching.told().when([](const std::vector<Event>& all) {
                  return !all.empty() && all.back().kind == Kind::state_complete;
              })),
              "gap; state_complete");
    take_and_release(1, "jobs/1");
    ASSERT_EQ(watching.told().at_least(4).size(), 4U);
    cluster_.isolate(1);
    ASSERT_EQ(watching.moved().at_least(2).size(), 2U);
    cluster_.heal();
    take_and_release(1, "jobs/2");
    EXPECT_EQ(remote_words(watching.told().at_least(6)),
              "gap; state_complete; granted jobs/1; released jobs/1; granted jobs/2; "
              "released jobs/2");
}

TEST_F(RemoteObservingACluster, ListsTheSessionsOfAllNodes) {
    const auto sessions = remote().sessions();
    ASSERT_EQ(sessions.size(), 3U);
    EXPECT_TRUE(std::ranges::is_sorted(sessions, {}, &SessionInfo::id));
    std::vector<NodeId> nodes;
    for (const auto& session : sessions)
        nodes.push_back(session.node);
    std::ranges::sort(nodes);
    EXPECT_EQ(nodes, (std::vector<NodeId>{1, 2, 3}));
}

}  // namespace
}  // namespace mortise
