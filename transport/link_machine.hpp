// The life of one outgoing connection, without the connection. Whoever owns the socket feeds events
// in and does what comes out, in its order, so that back-off and the order of the hello are tested
// with no socket and no sleeping.
//
//   idle --Start--> connecting --Connected--> greeting --Greeted--> up
//                     ^  \__ failed              \__ failed          \__ lost
//                     |______________ deadline ____ backing off <_____|
//
// Each attempt has a number; an event of an attempt that is over is passed over.
#pragma once

#include <cstdint>
#include <optional>
#include <variant>
#include <vector>

#include "core/base/instant.hpp"
#include "core/base/prng.hpp"
#include "transport/greeting.hpp"

namespace mortise::transport {

using Attempt = core::Id<struct AttemptKind>;

namespace link_event {
struct Start {};
struct Connected {
    Attempt attempt;
};
struct ConnectFailed {
    Attempt attempt;
};
// The answer to our hello, and the hello it answered.
struct Greeted {
    Attempt attempt;
    core::Hello ours;
    Greeting theirs;
};
struct Refused {
    Attempt attempt;
    Refusal reason = Refusal::unspecified;
};
struct Lost {
    Attempt attempt;
};
struct TimerFired {};
// The peer called us, so it is there: an address that did not answer may do so now.
struct PeerSeen {};
struct Stop {};
}  // namespace link_event

using LinkEvent = std::variant<link_event::Start, link_event::Connected, link_event::ConnectFailed,
                               link_event::Greeted, link_event::Refused, link_event::Lost,
                               link_event::TimerFired, link_event::PeerSeen, link_event::Stop>;

namespace link_action {
struct Connect {
    Attempt attempt;
};
// Whatever is left of the former connection to this peer, in either direction, is closed and its
// messages thrown away, before the next action (S47): a hello says how things are now, and nothing
// older may be heard after it.
struct DropFormer {};
struct SendHello {
    Attempt attempt;
};
struct PublishUp {
    Attempt attempt;
    Greeting theirs;
};
struct PublishDown {
    Attempt attempt;
};
// Also of an attempt that is still connecting. Its events are not expected any more.
struct Close {
    Attempt attempt;
};
}  // namespace link_action

using LinkAction =
    std::variant<link_action::Connect, link_action::DropFormer, link_action::SendHello,
                 link_action::PublishUp, link_action::PublishDown, link_action::Close>;

struct LinkOptions {
    core::NodeId expected;
    core::Nanoseconds connect_timeout{std::chrono::seconds{5}};
    core::Nanoseconds hello_timeout{std::chrono::seconds{5}};
    core::Nanoseconds backoff_min{std::chrono::milliseconds{50}};
    core::Nanoseconds backoff_max{std::chrono::seconds{2}};
    // After an answer that only somebody's change of configuration can make better.
    core::Nanoseconds backoff_refused{std::chrono::seconds{10}};
    // Up for as long as this: what follows is a new failure, not the old one.
    core::Nanoseconds steady_after{std::chrono::seconds{5}};
};

struct LinkCounters {
    std::uint64_t attempts = 0;
    std::uint64_t connect_failures = 0;
    std::uint64_t timeouts = 0;  // of connecting and of hello
    std::uint64_t refused_by_peer = 0;
    std::uint64_t refused_by_us = 0;  // another node, another cluster, another protocol
    std::uint64_t losses = 0;         // once up
};

class LinkMachine {
public:
    enum class State : std::uint8_t { idle, connecting, greeting, up, backing_off };

    LinkMachine(LinkOptions options, core::Prng prng) : options_{options}, prng_{prng} {}

    std::vector<LinkAction> on(const LinkEvent& event, core::Instant now);
    // When to feed TimerFired in, if nothing else happens.
    [[nodiscard]] core::Instant deadline() const { return deadline_; }
    [[nodiscard]] State state() const { return state_; }
    [[nodiscard]] const LinkCounters& counters() const { return counters_; }
    // Why the newest attempt that got as far as a hello ended there; empty once one did not.
    [[nodiscard]] std::optional<Refusal> refusal() const { return refusal_; }

private:
    void handle(const link_event::Start& event, core::Instant now);
    void handle(const link_event::Connected& event, core::Instant now);
    void handle(const link_event::ConnectFailed& event, core::Instant now);
    void handle(const link_event::Greeted& event, core::Instant now);
    void handle(const link_event::Refused& event, core::Instant now);
    void handle(const link_event::Lost& event, core::Instant now);
    void handle(const link_event::TimerFired& event, core::Instant now);
    void handle(const link_event::PeerSeen& event, core::Instant now);
    void handle(const link_event::Stop& event, core::Instant now);

    void connect(core::Instant now);
    void leave();
    void back_off(core::Instant now);
    void back_off_refused(Refusal reason, core::Instant now);
    [[nodiscard]] core::Nanoseconds jittered(core::Nanoseconds wait);
    [[nodiscard]] bool is(State state, Attempt attempt) const {
        return state_ == state && attempt_ == attempt;
    }

    LinkOptions options_;
    core::Prng prng_;
    State state_ = State::idle;
    Attempt attempt_;
    core::Instant deadline_ = core::Instant::never();
    core::Instant up_since_;
    core::Nanoseconds backoff_{};  // of the next failure; zero: the shortest
    std::optional<Refusal> refusal_;
    LinkCounters counters_;
    std::vector<LinkAction> out_;
};

}  // namespace mortise::transport
