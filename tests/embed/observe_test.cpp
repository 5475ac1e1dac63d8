// The changes of locks, as Node::observe() reports them (S46).
#include <algorithm>
#include <chrono>
#include <future>
#include <string>
#include <thread>

#include "tests/embed/one_node.hpp"
#include "tests/embed/recorded.hpp"
#include <mortise/testkit/local_cluster.hpp>

namespace mortise {
namespace {

using namespace std::chrono_literals;
using Kind = Event::Kind;

// "granted a; released a"
std::string in_words(const std::vector<Event>& events) {
    std::string text;
    for (const auto& event : events) {
        text += (text.empty() ? "" : "; ") + std::string{to_string(event.kind)};
        if (!event.name.empty()) text += " " + event.name;
    }
    return text;
}

AcquireOptions not_cached() {
    AcquireOptions options;
    options.caching = Caching::off;
    return options;
}

class Observing : public OneNode {
protected:
    Recorded<Event> told_;
};

TEST_F(Observing, TellsTheStateAndThenEachChange) {  // S46
    auto first = node_.acquire("jobs/1", {.label = "nightly"});
    first.set_value("x");
    const auto other = node_.acquire("other");
    const auto subscription = node_.observe("jobs/", told_.sink());
    auto events = told_.at_least(3);
    ASSERT_EQ(in_words(events), "gap; state jobs/1; state_complete");
    ASSERT_EQ(events[1].holders.size(), 1U);
    EXPECT_EQ(events[1].holders[0].token, first.token());
    EXPECT_EQ(events[1].holders[0].label, "nightly");
    EXPECT_EQ(events[1].holders[0].node, node_.id());
    EXPECT_EQ(events[1].value->bytes, "x");
    EXPECT_FALSE(events[1].position.is_set());

    told_.clear();
    auto second = node_.acquire("jobs/2");
    first.set_value("y");
    first.downgrade(LockMode::shared);
    EXPECT_FALSE(first.release());
    EXPECT_FALSE(second.release());
    events = told_.at_least(5);
    ASSERT_EQ(in_words(events),
              "granted jobs/2; value_set jobs/1; converted jobs/1; released jobs/1; "
              "released jobs/2");
    EXPECT_EQ(events[1].value->bytes, "y");
    EXPECT_EQ(events[1].value->version, 2U);
    EXPECT_EQ(events[2].holder.mode, LockMode::shared);
    EXPECT_EQ(events[3].how, Predecessor::clean);
    for (std::size_t at = 1; at < events.size(); ++at)
        EXPECT_LT(events[at - 1].position, events[at].position);
}

TEST_F(Observing, MayBeOfOneName) {  // S46
    ObserveOptions options;
    options.only_this_name = true;
    const auto subscription = node_.observe("jobs", told_.sink(), options);
    (void)told_.at_least(2);
    { const auto longer = node_.acquire("jobs/1"); }
    { const auto itself = node_.acquire("jobs", not_cached()); }
    EXPECT_EQ(in_words(told_.at_least(4)), "gap; state_complete; granted jobs; released jobs");
}

TEST_F(Observing, ContinuesFromAPositionThatWasStored) {  // S46
    std::string stored;
    {
        const auto subscription = node_.observe("jobs/", told_.sink());
        stored = told_.at_least(2).back().position.to_string();
    }
    told_.clear();
    { const auto missed = node_.acquire("jobs/1", not_cached()); }
    ObserveOptions options;
    options.from = Position::from_string(stored);
    ASSERT_TRUE(options.from);
    const auto subscription = node_.observe("jobs/", told_.sink(), options);
    EXPECT_EQ(in_words(told_.at_least(2)), "granted jobs/1; released jobs/1");
    EXPECT_FALSE(Position::from_string("yesterday"));
}

// The log of the present cluster has the same places, and other changes there.
TEST_F(Observing, BeginsAnewWithAPositionOfAnotherCluster) {  // S46
    ObserveOptions options;
    {
        Node former{Config::in_memory()};
        Recorded<Event> there;
        const auto subscription = former.observe("", there.sink());
        options.from = there.at_least(2).back().position;
    }
    for (int i = 0; i < 10; ++i)
        (void)node_.acquire("jobs/1", not_cached()).release();
    const auto hold = node_.acquire("jobs/2", not_cached());
    const auto subscription = node_.observe("jobs/", told_.sink(), options);
    EXPECT_EQ(in_words(told_.at_least(3)), "gap; state jobs/2; state_complete");
}

// A text of version 0.2 does not name the cluster. And a cluster that was restored from copies of
// all its directories is the same one, and has a shorter log than before.
TEST_F(Observing, BeginsAnewBeyondTheEndOfTheLog) {  // S46
    const auto hold = node_.acquire("jobs/2", not_cached());
    const auto present = [&] {
        Recorded<Event> there;
        const auto subscription = node_.observe("", there.sink());
        return there.at_least(3).back().position.to_string();
    }();
    const auto mark = present.substr(present.rfind('.'));
    for (const auto& text : {std::string{"4711.2"}, "4711.2" + mark}) {
        ObserveOptions options;
        options.from = Position::from_string(text);
        ASSERT_TRUE(options.from) << text;
        Recorded<Event> told;
        const auto subscription = node_.observe("jobs/", told.sink(), options);
        EXPECT_EQ(in_words(told.at_least(3)), "gap; state jobs/2; state_complete") << text;
    }
}

TEST_F(Observing, DoesNotSeeTheLocalUseOfACachedGrant) {  // S46
    const auto subscription = node_.observe("hot", told_.sink());
    (void)told_.at_least(2);
    for (int use = 0; use < 100; ++use)
        (void)node_.acquire("hot").release();
    ASSERT_GT(node_.metrics().served_from_cache, 50U);
    EXPECT_LT(told_.at_least(2).size(), 50U);
}

TEST_F(Observing, EndsWithItsSubscription) {
    auto subscription = node_.observe("", told_.sink());
    (void)told_.at_least(2);
    subscription.end();
    told_.clear();
    { const auto hold = node_.acquire("a"); }
    EXPECT_EQ(node_.inspect("a").name, "a");
    Recorded<Event> later;
    const auto another = node_.observe("", later.sink());
    (void)later.at_least(2);  // the node has told its observers everything before
    EXPECT_TRUE(told_.at_least(0).empty());
}

// The node works on while a sink blocks, and the sink is told a gap when it continues.
TEST_F(Observing, ASlowSinkMissesChangesAndIsToldSo) {  // S46, P10
    std::promise<void> promise;
    const auto go_on = promise.get_future().share();
    Recorded<Event> all;
    const auto record = all.sink();
    const auto subscription = node_.observe("a", [&, record](const Event& event) {
        if (event.kind == Kind::granted) go_on.wait();
        record(event);
    });
    for (int i = 0; i < 12'000; ++i)
        (void)node_.acquire("a", not_cached()).release();
    promise.set_value();
    const auto last = node_.acquire("a", not_cached());
    const auto knows_last = [&](const std::vector<Event>& events) {
        return std::ranges::any_of(events, [&](const Event& event) {
            const bool in_state = event.kind == Kind::state && !event.holders.empty() &&
                                  event.holders.front().token == last.token();
            return in_state || (event.kind == Kind::granted && event.holder.token == last.token());
        });
    };
    const auto events = all.when(knows_last);
    EXPECT_TRUE(knows_last(events));
    std::size_t gaps = 0;
    for (const auto& event : events)
        gaps += event.kind == Kind::gap ? 1 : 0;
    EXPECT_EQ(gaps, 2U);
}

TEST_F(Observing, RefusesWhatMakesNoSense) {
    std::error_code ec;
    EXPECT_FALSE(node_.observe(std::string(513, 'x'), told_.sink(), ec));
    EXPECT_EQ(ec, Errc::invalid_argument);
    EXPECT_THROW((void)node_.observe("", EventSink{}), LockError);
    ObserveOptions options;
    options.only_this_name = true;
    EXPECT_FALSE(node_.observe("", told_.sink(), options, ec));
    EXPECT_EQ(ec, Errc::invalid_argument);
    node_.close();
    EXPECT_FALSE(node_.observe("", told_.sink(), ec));
    EXPECT_EQ(ec, Errc::node_stopped);
}

TEST_F(Observing, IsLimitedInNumber) {  // P11
    std::vector<Subscription> all;
    for (int i = 0; i < 1'024; ++i)
        all.push_back(node_.observe("a", [](const Event&) {}));
    std::error_code ec;
    EXPECT_FALSE(node_.observe("a", told_.sink(), ec));
    EXPECT_EQ(ec, Errc::resource_exhausted);
    all.pop_back();
    EXPECT_TRUE(node_.observe("a", told_.sink(), ec));
}

TEST(ObservingACluster, AnObserverMovesToAnotherNode) {  // S46
    testkit::LocalCluster cluster{3};
    Recorded<Event> here;
    Position position;
    {
        const auto subscription = cluster.node(0).observe("jobs/", here.sink());
        { const auto hold = cluster.node(1).acquire("jobs/1", not_cached()); }
        const auto events = here.at_least(4);
        ASSERT_EQ(in_words(events), "gap; state_complete; granted jobs/1; released jobs/1");
        EXPECT_EQ(events[2].holder.node, cluster.node(1).id());
        position = events.back().position;
    }
    const auto hold = cluster.node(0).acquire("jobs/2", not_cached());
    Recorded<Event> there;
    ObserveOptions options;
    options.from = position;
    const auto subscription = cluster.node(2).observe("jobs/", there.sink(), options);
    const auto events = there.at_least(1);
    ASSERT_EQ(in_words(events), "granted jobs/2");
    EXPECT_EQ(events[0].holder.token, hold.token());
}

// It is behind, and cut off: nothing is told until it has caught up, and then no gap.
TEST(ObservingACluster, APositionThatANodeHasNotReachedIsWaitedFor) {  // S46
    testkit::LocalCluster cluster{3};
    cluster.isolate(2);
    Recorded<Event> here;
    const auto first = cluster.node(0).observe("jobs/", here.sink());
    { const auto hold = cluster.node(1).acquire("jobs/1", not_cached()); }
    ObserveOptions options;
    const auto words = [](const std::vector<Event>& events) { return in_words(events); };
    options.from = here.when([&](const std::vector<Event>& events) {
                           return words(events).ends_with("released jobs/1");
                       })
                       .back()
                       .position;
    Recorded<Event> there;
    const auto subscription = cluster.node(2).observe("jobs/", there.sink(), options);
    { const auto hold = cluster.node(1).acquire("jobs/2", not_cached()); }
    std::this_thread::sleep_for(300ms);
    EXPECT_TRUE(there.at_least(0).empty());
    cluster.heal();
    EXPECT_EQ(in_words(there.at_least(2)), "granted jobs/2; released jobs/2");
}

TEST(ObservingACluster, TheHoldsOfADeadNodeAreTold) {  // S11, S46
    testkit::LocalCluster cluster{3, testkit::quick_timing()};
    const auto hold = cluster.node(0).acquire("jobs/1", not_cached());
    while (!cluster.node(2).inspect("jobs/1", ReadLevel::local).is_held())
        std::this_thread::sleep_for(std::chrono::milliseconds{1});
    Recorded<Event> told;
    const auto subscription = cluster.node(2).observe("jobs/", told.sink());
    (void)told.at_least(3);
    cluster.kill(0);
    const auto events = told.at_least(4);
    ASSERT_EQ(in_words(events), "gap; state jobs/1; state_complete; released jobs/1");
    EXPECT_EQ(events[3].how, Predecessor::expired);
    EXPECT_EQ(events[3].holder.node, 0U);
}

}  // namespace
}  // namespace mortise
