// What the rooms of all kinds of names have in common: how requests are answered, and what a
// request does to a name.
#pragma once

#include <concepts>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <map>
#include <optional>
#include <string>
#include <string_view>

#include "core/base/ids.hpp"

namespace mortise::core {

enum class AnswerKind : std::uint8_t {
    granted,  // Acquire, at once or later
    // Acquire without waiting; Resize: the limit has another version; Remove: the name is in use
    busy,
    released,       // Release; Cancel that came after the grant
    cancelled,      // Cancel; Acquire or Upgrade that a Cancel ended; Upgrade of a hold that left
    not_held,       // all but Acquire: there is no such hold or waiter (any more)
    stale_request,  // it was answered, and the answer was acknowledged (S17)
    // Acquire: the record has another policy; Acquire, Resize, CountDown, AwaitLatch: it is of
    // another kind than the request is for: a lock, a semaphore or a latch
    kind_mismatch,
    // Acquire, Resize, CountDown, AwaitLatch: the table is full; Acquire, AwaitLatch: its session
    // has too much; Declined
    resource_exhausted,
    converted,  // Downgrade, Upgrade: at once or later
    // Upgrade of a shared hold that is not the only one; or the request that was chosen to break a
    // wait cycle (S33)
    deadlock,
    // Downgrade, Upgrade: not from that mode, while an upgrade waits, of several names, or of
    // permits; Acquire: names out of order, or twice, or permits with what they do not go with;
    // SetValue, MarkConsistent: not held exclusively; Publish: not a cached grant, not one of its
    // tokens, or while an upgrade waits; Resize: above semaphore_limit_max; CountDown: more than
    // remains; CountDown, AwaitLatch: above latch_max
    invalid_argument,
    stored,  // SetValue, MarkConsistent, Publish, Resize, Remove, CountDown
    broken,  // BreakLock, EvictSession
    lost,    // Release, Cancel: the hold had been broken, and this confirms the loss
    asked,   // AskRelease
    // a request that names names: the session's access does not allow it
    permission_denied,
    // AwaitLatch: nothing remains to be counted; Arrive: all have arrived; at once or later
    passed,
    barrier_broken,  // Arrive: a party ended or gave up, before or while this one waited
};
constexpr auto last_answer_kind = AnswerKind::barrier_broken;

// The operation ends with an answer of this kind although it was not cancelled, and holds nothing.
constexpr bool holds_nothing(AnswerKind kind) {
    return kind == AnswerKind::passed || kind == AnswerKind::barrier_broken;
}

// Whether an answer of this kind has a token.
constexpr bool has_token(AnswerKind kind) {
    return kind == AnswerKind::granted || kind == AnswerKind::converted;
}

// What a request did to a name.
struct KindStep {
    // What answers the request itself; empty if it waits. Then it is an operation that holds
    // nothing.
    std::optional<AnswerKind> answer;
    // What answers all that waited for the name; empty if they go on waiting.
    std::optional<AnswerKind> others{};
};

// How many requests of each session wait for a name.
using WaitingParties = std::map<SessionId, std::uint32_t>;

// For whom a name is described.
struct Onlooker {
    std::size_t parties_max = 0;
    std::function<NodeId(SessionId)> node_of;  // not set: the session has ended
};

// Makes any bytes readable, in quotes.
using Quote = std::string (*)(std::string_view);

// A request that its room describes: by its number in the log and by its fields.
template <class Body>
concept DescribedRequest = requires {
    Body::log_number;
};

// A request for a name of the kind `State`, which needs the right to acquire the name. made() is
// the state that it creates if the name is unknown, refusal() is the answer if it would change
// nothing, and apply() is its effect.
template <class Body>
concept KindRequest = DescribedRequest<Body> && requires {
    typename Body::State;
};

// Such a request that may wait.
template <class Body>
concept WaitingRequest = KindRequest<Body> && requires(const Body& body) {
    { body.waits() } -> std::same_as<bool>;
};

}  // namespace mortise::core
