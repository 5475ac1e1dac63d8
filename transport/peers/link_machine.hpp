// The state machine of one outgoing connection, without the connection. The owner of the socket
// passes in events and executes the actions in their order. So back-off and the order of the hellos
// are tested without sockets and sleeping.
//
//   idle --Start--> connecting --Connected--> greeting --Greeted--> up
//                     ^  \__ failed              \__ failed          \__ lost
//                     |_______<_______ deadline ____ backing off <_____|
//
// Each attempt has a number; events of earlier attempts are ignored.
#pragma once

#include <cstdint>
#include <optional>
#include <variant>
#include <vector>

#include "core/base/instant.hpp"
#include "core/base/prng.hpp"
#include "transport/wire/greeting.hpp"

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
// The answer to our hello, with our hello.
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
// The peer has called us, so it is running: an address that did not answer may do so now.
struct PeerSeen {};
// Another peer has become reachable, and with it perhaps this one: where the network was down, all
// pauses are long by now.
struct NetworkSeen {};
struct Stop {};
}  // namespace link_event

using LinkEvent =
    std::variant<link_event::Start, link_event::Connected, link_event::ConnectFailed,
                 link_event::Greeted, link_event::Refused, link_event::Lost, link_event::TimerFired,
                 link_event::PeerSeen, link_event::NetworkSeen, link_event::Stop>;

namespace link_action {
struct Connect {
    Attempt attempt;
};
// Before the next action everything of the former connection to this peer, in both directions, is
// closed and its messages are dropped (S47): a hello describes the present, and no older message
// may be received after it.
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
// Also closes an attempt that is still connecting. No more of its events are expected.
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
    // An attempt to connect that is older is begun anew when the network is seen to work: its first
    // packets were lost, and the system waits for seconds before it repeats them.
    core::Nanoseconds connect_soon{std::chrono::milliseconds{500}};
    // After a refusal that only a changed configuration can resolve.
    core::Nanoseconds backoff_refused{std::chrono::seconds{10}};
    // A connection that was up for this long starts the back-off anew.
    core::Nanoseconds steady_after{std::chrono::seconds{5}};
};

struct LinkCounters {
    std::uint64_t attempts = 0;
    std::uint64_t connect_failures = 0;
    std::uint64_t timeouts = 0;  // while connecting, and during hello
    std::uint64_t refused_by_peer = 0;
    std::uint64_t refused_by_us = 0;  // another node, cluster or protocol
    std::uint64_t losses = 0;         // of connections that were up
};

class LinkMachine {
public:
    enum class State : std::uint8_t { idle, connecting, greeting, up, backing_off };

    LinkMachine(LinkOptions options, core::Prng prng) : options_{options}, prng_{prng} {}

    std::vector<LinkAction> on(const LinkEvent& event, core::Instant now);
    // When to send TimerFired if nothing else happens.
    [[nodiscard]] core::Instant deadline() const { return deadline_; }
    [[nodiscard]] State state() const { return state_; }
    [[nodiscard]] const LinkCounters& counters() const { return counters_; }
    // Why the newest attempt with a hello was refused; empty after an attempt without a refusal.
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
    void handle(const link_event::NetworkSeen& event, core::Instant now);
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
    core::Nanoseconds backoff_{};  // for the next failure; zero: the shortest
    std::optional<Refusal> refusal_;
    LinkCounters counters_;
    std::vector<LinkAction> out_;
};

}  // namespace mortise::transport
