#include "transport/peers/link_machine.hpp"

#include <string>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "core/base/overloaded.hpp"

namespace mortise::transport {
namespace {

using core::Instant;
using core::NodeId;
using std::chrono::milliseconds;
using std::chrono::seconds;
using testing::ElementsAre;
using testing::IsEmpty;

std::string in_words(const LinkAction& action) {
    const auto number = [](Attempt attempt) { return " " + std::to_string(attempt.raw()); };
    return std::visit(
        core::Overloaded{
            [&](const link_action::Connect& a) { return "connect" + number(a.attempt); },
            [&](const link_action::DropFormer&) { return std::string{"drop former"}; },
            [&](const link_action::SendHello& a) { return "hello" + number(a.attempt); },
            [&](const link_action::PublishUp& a) { return "up" + number(a.attempt); },
            [&](const link_action::PublishDown& a) { return "down" + number(a.attempt); },
            [&](const link_action::Close& a) { return "close" + number(a.attempt); },
        },
        action);
}

core::Hello hello(std::uint64_t node, core::ClusterId cluster = {}) {
    return {NodeId{node}, {core::Incarnation{node}, core::BootEpoch{1}}, cluster, {}};
}

// The link from node 1 to node 2.
class LinkMachineTest : public testing::Test {
protected:
    using Words = std::vector<std::string>;
    using State = LinkMachine::State;

    Words feed(const LinkEvent& event) {
        Words words;
        for (const auto& action : link.on(event, now))
            words.push_back(in_words(action));
        return words;
    }
    Words fire_at_deadline() {
        now = link.deadline();
        return feed(link_event::TimerFired{});
    }
    [[nodiscard]] Attempt attempt() const { return Attempt{link.counters().attempts}; }
    Words greeted(std::uint64_t node, core::ClusterId theirs = {}, core::ClusterId ours = {}) {
        return feed(
            link_event::Greeted{attempt(), hello(1, ours), Greeting{.hello = hello(node, theirs)}});
    }
    void bring_up() {
        if (link.state() == State::idle) feed(link_event::Start{});
        if (link.state() == State::backing_off) fire_at_deadline();
        feed(link_event::Connected{attempt()});
        greeted(2);
        ASSERT_EQ(link.state(), State::up);
    }
    [[nodiscard]] core::Nanoseconds wait() const { return link.deadline() - now; }

    LinkOptions options{.expected = NodeId{2}};
    LinkMachine link{options, core::Prng{1}};
    Instant now{1'000'000};
};

TEST_F(LinkMachineTest, ComesUpThroughConnectAndHello) {
    EXPECT_EQ(link.deadline(), Instant::never());
    EXPECT_THAT(feed(link_event::Start{}), ElementsAre("connect 1"));
    EXPECT_THAT(feed(link_event::Connected{Attempt{1}}), ElementsAre("drop former", "hello 1"));
    EXPECT_THAT(greeted(2), ElementsAre("up 1"));
    EXPECT_EQ(link.state(), State::up);
    EXPECT_EQ(link.deadline(), Instant::never());
    EXPECT_THAT(feed(link_event::Start{}), IsEmpty());
}

TEST_F(LinkMachineTest, DropsTheFormerConnectionBeforeEveryHello) {
    for (int i = 0; i < 5; ++i) {
        if (link.state() == State::idle) feed(link_event::Start{});
        if (link.state() == State::backing_off) fire_at_deadline();
        EXPECT_EQ(feed(link_event::Connected{attempt()}).front(), "drop former");
        greeted(2);
        feed(link_event::Lost{attempt()});
    }
}

TEST_F(LinkMachineTest, BacksOffTwiceAsLongEachTimeUpToALimitAndNeverLessThanHalf) {
    feed(link_event::Start{});
    core::Nanoseconds longest = options.backoff_min;
    for (int i = 0; i < 12; ++i) {
        EXPECT_THAT(feed(link_event::ConnectFailed{attempt()}), IsEmpty());
        EXPECT_EQ(link.state(), State::backing_off);
        EXPECT_GE(wait(), longest / 2);
        EXPECT_LE(wait(), longest);
        longest = std::min<core::Nanoseconds>(longest * 2, options.backoff_max);
        EXPECT_THAT(fire_at_deadline(), ElementsAre("connect " + std::to_string(i + 2)));
    }
    EXPECT_EQ(link.counters().connect_failures, 12U);
}

TEST_F(LinkMachineTest, DifferentSeedsWaitDifferently) {  // B-F9
    LinkMachine other{options, core::Prng{2}};
    for (auto* machine : {&link, &other}) {
        machine->on(link_event::Start{}, now);
        machine->on(link_event::ConnectFailed{Attempt{1}}, now);
    }
    EXPECT_NE(link.deadline(), other.deadline());
}

TEST_F(LinkMachineTest, ATimerThatFiresEarlyDoesNothing) {
    feed(link_event::Start{});
    feed(link_event::ConnectFailed{attempt()});
    now = link.deadline() - core::Nanoseconds{1};
    EXPECT_THAT(feed(link_event::TimerFired{}), IsEmpty());
    EXPECT_EQ(link.state(), State::backing_off);
}

TEST_F(LinkMachineTest, GivesUpOnAConnectThatTakesTooLong) {
    feed(link_event::Start{});
    EXPECT_EQ(wait(), options.connect_timeout);
    EXPECT_THAT(fire_at_deadline(), ElementsAre("close 1"));
    EXPECT_EQ(link.state(), State::backing_off);
    EXPECT_EQ(link.counters().timeouts, 1U);
}

TEST_F(LinkMachineTest, GivesUpOnAHelloThatIsNotAnsweredInFiveSeconds) {
    feed(link_event::Start{});
    now = now + seconds{1};
    feed(link_event::Connected{attempt()});
    EXPECT_EQ(wait(), seconds{5});
    EXPECT_THAT(fire_at_deadline(), ElementsAre("close 1"));
    EXPECT_EQ(link.counters().timeouts, 1U);
    // Late events of that attempt are ignored.
    EXPECT_THAT(feed(link_event::Greeted{Attempt{1}, hello(1), Greeting{.hello = hello(2)}}),
                IsEmpty());
    EXPECT_EQ(link.state(), State::backing_off);
}

TEST_F(LinkMachineTest, IgnoresEventsOfAnEndedAttempt) {
    feed(link_event::Start{});
    feed(link_event::ConnectFailed{Attempt{1}});
    fire_at_deadline();
    EXPECT_THAT(feed(link_event::Connected{Attempt{1}}), IsEmpty());
    EXPECT_THAT(feed(link_event::ConnectFailed{Attempt{1}}), IsEmpty());
    EXPECT_THAT(feed(link_event::Lost{Attempt{1}}), IsEmpty());
    EXPECT_EQ(link.state(), State::connecting);
    feed(link_event::Connected{Attempt{2}});
    EXPECT_THAT(feed(link_event::Refused{Attempt{1}, Refusal::stale}), IsEmpty());
    EXPECT_EQ(link.state(), State::greeting);
    greeted(2);
    EXPECT_THAT(feed(link_event::Lost{Attempt{1}}), IsEmpty());
    EXPECT_EQ(link.state(), State::up);
}

TEST_F(LinkMachineTest, ClosesOnAnotherNodeAndComesBackMuchLater) {
    feed(link_event::Start{});
    feed(link_event::Connected{attempt()});
    EXPECT_THAT(greeted(3), ElementsAre("close 1"));
    EXPECT_EQ(link.refusal(), Refusal::wrong_node);
    EXPECT_EQ(link.counters().refused_by_us, 1U);
    EXPECT_GE(wait(), options.backoff_refused / 2);
    EXPECT_THAT(fire_at_deadline(), ElementsAre("connect 2"));
}

TEST_F(LinkMachineTest, ClosesOnAnotherClusterAndOnAnotherProtocol) {
    feed(link_event::Start{});
    feed(link_event::Connected{attempt()});
    EXPECT_THAT(greeted(2, {1, 1}, {1, 2}), ElementsAre("close 1"));
    EXPECT_EQ(link.refusal(), Refusal::wrong_cluster);
    fire_at_deadline();
    feed(link_event::Connected{attempt()});
    const Greeting strange{.lowest = 900, .highest = 901, .hello = hello(2)};
    EXPECT_THAT(feed(link_event::Greeted{attempt(), hello(1), strange}), ElementsAre("close 2"));
    EXPECT_EQ(link.refusal(), Refusal::protocol);
    EXPECT_EQ(link.counters().refused_by_us, 2U);
}

TEST_F(LinkMachineTest, ARefusalThatPassesIsTriedAgainSoonAndAnyOtherLate) {
    feed(link_event::Start{});
    feed(link_event::Connected{attempt()});
    EXPECT_THAT(feed(link_event::Refused{attempt(), Refusal::busy}), ElementsAre("close 1"));
    EXPECT_LE(wait(), options.backoff_min);
    fire_at_deadline();
    feed(link_event::Connected{attempt()});
    EXPECT_THAT(feed(link_event::Refused{attempt(), Refusal::unknown_node}),
                ElementsAre("close 2"));
    EXPECT_GE(wait(), options.backoff_refused / 2);
    EXPECT_EQ(link.counters().refused_by_peer, 2U);
    EXPECT_EQ(link.refusal(), Refusal::unknown_node);
}

TEST_F(LinkMachineTest, TellsOfTheLossAndConnectsAgain) {
    bring_up();
    EXPECT_THAT(feed(link_event::Lost{Attempt{1}}), ElementsAre("down 1", "close 1"));
    EXPECT_EQ(link.counters().losses, 1U);
    EXPECT_THAT(feed(link_event::Lost{Attempt{1}}), IsEmpty());
    EXPECT_THAT(fire_at_deadline(), ElementsAre("connect 2"));
}

TEST_F(LinkMachineTest, OnlyALinkThatWasUpForAWhileForgetsItsBackOff) {  // B-F5
    core::Nanoseconds longest = options.backoff_min;
    for (int i = 0; i < 6; ++i) {  // accepts, says hello and breaks at once
        bring_up();
        feed(link_event::Lost{attempt()});
        EXPECT_GE(wait(), longest / 2);
        longest = std::min<core::Nanoseconds>(longest * 2, options.backoff_max);
    }
    bring_up();
    now = now + options.steady_after;
    feed(link_event::Lost{attempt()});
    EXPECT_LE(wait(), options.backoff_min);
}

TEST_F(LinkMachineTest, ALossWhileGreetingIsAFailureToConnect) {
    feed(link_event::Start{});
    feed(link_event::Connected{attempt()});
    EXPECT_THAT(feed(link_event::Lost{attempt()}), ElementsAre("close 1"));
    EXPECT_EQ(link.counters().connect_failures, 1U);
    EXPECT_EQ(link.counters().losses, 0U);
}

TEST_F(LinkMachineTest, APeerThatCallsIsCalledBackSoon) {
    feed(link_event::Start{});
    for (int i = 0; i < 8; ++i) {
        feed(link_event::ConnectFailed{attempt()});
        if (i < 7) fire_at_deadline();
    }
    EXPECT_GT(wait(), options.backoff_min);
    EXPECT_THAT(feed(link_event::PeerSeen{}), IsEmpty());
    EXPECT_LE(wait(), options.backoff_min);
    EXPECT_THAT(fire_at_deadline(), ElementsAre("connect 9"));
    // In all other states there is nothing to accelerate.
    const auto deadline = link.deadline();
    feed(link_event::PeerSeen{});
    EXPECT_EQ(link.deadline(), deadline);
}

TEST_F(LinkMachineTest, APeerThatRefusedUsAndCallsIsCalledBackSoon) {
    feed(link_event::Start{});
    for (const auto why : {Refusal::unknown_node, Refusal::cluster_name, Refusal::id_in_use}) {
        feed(link_event::Connected{attempt()});
        feed(link_event::Refused{attempt(), why});
        EXPECT_GT(wait(), options.backoff_min);
        feed(link_event::PeerSeen{});
        EXPECT_LE(wait(), options.backoff_min);
        fire_at_deadline();
    }
}

// After an outage all pauses are long; the first peer that is reached ends them.
TEST_F(LinkMachineTest, IsCalledSoonWhenAnotherPeerIsReached) {
    feed(link_event::Start{});
    for (int i = 0; i < 8; ++i) {
        feed(link_event::ConnectFailed{attempt()});
        if (i < 7) fire_at_deadline();
    }
    EXPECT_GT(wait(), options.backoff_min);
    EXPECT_THAT(feed(link_event::NetworkSeen{}), IsEmpty());
    EXPECT_LE(wait(), options.backoff_min);
    // This attempt may get an answer yet.
    fire_at_deadline();
    now = now + options.connect_soon - core::Nanoseconds{1};
    EXPECT_THAT(feed(link_event::NetworkSeen{}), IsEmpty());
    now = now + core::Nanoseconds{1};
    EXPECT_THAT(feed(link_event::NetworkSeen{}), ElementsAre("close 9", "connect 10"));
    EXPECT_EQ(wait(), options.connect_timeout);
}

TEST_F(LinkMachineTest, IsNotCalledAgainSoonIfOnlyAnotherConfigurationHelps) {
    feed(link_event::Start{});
    feed(link_event::Connected{attempt()});
    feed(link_event::Refused{attempt(), Refusal::cluster_name});
    const auto deadline = link.deadline();
    feed(link_event::NetworkSeen{});
    EXPECT_EQ(link.deadline(), deadline);
    bring_up();
    EXPECT_THAT(feed(link_event::NetworkSeen{}), IsEmpty());
    EXPECT_EQ(link.state(), State::up);
}

TEST_F(LinkMachineTest, StopsInEveryState) {  // B-F10
    EXPECT_THAT(feed(link_event::Stop{}), IsEmpty());
    feed(link_event::Start{});
    EXPECT_THAT(feed(link_event::Stop{}), ElementsAre("close 1"));
    EXPECT_EQ(link.deadline(), Instant::never());
    feed(link_event::Start{});
    feed(link_event::Connected{attempt()});
    EXPECT_THAT(feed(link_event::Stop{}), ElementsAre("close 2"));
    bring_up();
    EXPECT_THAT(feed(link_event::Stop{}), ElementsAre("down 3", "close 3"));
    EXPECT_EQ(link.state(), State::idle);
    EXPECT_THAT(feed(link_event::Lost{Attempt{3}}), IsEmpty());
    EXPECT_THAT(feed(link_event::PeerSeen{}), IsEmpty());
    feed(link_event::Start{});
    feed(link_event::ConnectFailed{attempt()});
    EXPECT_THAT(feed(link_event::Stop{}), IsEmpty());
}

// In any order of events: up and down alternate, every connect is closed or fails or goes down,
// hello is said once per connection, and the machine always has a next step.
TEST_F(LinkMachineTest, RandomEventsNeverLeaveItStuckOrOutOfOrder) {  // B-F5
    core::Prng prng{7};
    bool is_up = false;
    feed(link_event::Start{});
    for (int i = 0; i < 50'000; ++i) {
        const Attempt which{attempt().raw() - prng.below(2)};
        const auto draw = prng.below(9);
        Words words;
        if (draw == 0) words = feed(link_event::Connected{which});
        if (draw == 1) words = feed(link_event::ConnectFailed{which});
        if (draw == 2) {
            const auto node = prng.one_in(4) ? 3U : 2U;
            words = feed(link_event::Greeted{which, hello(1), Greeting{.hello = hello(node)}});
        }
        if (draw == 3)
            words = feed(link_event::Refused{which, static_cast<Refusal>(prng.below(10))});
        if (draw == 4) words = feed(link_event::Lost{which});
        if (draw == 5) words = feed(link_event::PeerSeen{});
        if (draw == 6) words = feed(link_event::NetworkSeen{});
        if (draw >= 7 && link.deadline() != Instant::never()) words = fire_at_deadline();
        for (const auto& word : words) {
            if (word.starts_with("up") || word.starts_with("down")) {
                ASSERT_EQ(word.starts_with("up"), !is_up);
                is_up = !is_up;
            }
        }
        ASSERT_EQ(link.state() == State::up, is_up);
        ASSERT_TRUE(is_up || link.deadline() != Instant::never());
    }
    EXPECT_GT(link.counters().losses, 0U);
    EXPECT_GT(link.counters().refused_by_us, 0U);
}

}  // namespace
}  // namespace mortise::transport
