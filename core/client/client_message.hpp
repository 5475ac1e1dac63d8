// The messages between a client node and the member by which it enters the cluster (S49,
// docs/decisions/0051). client_codec.hpp has their encoding. Those of one connection arrive in
// order, or not at all.
#pragma once

#include <chrono>
#include <cstdint>
#include <optional>
#include <string>
#include <utility>
#include <variant>
#include <vector>

#include "core/agent/call.hpp"
#include "core/agent/forward.hpp"
#include "core/base/instant.hpp"
#include "core/client/client_position.hpp"
#include "core/locks/outcome.hpp"

namespace mortise::core {

// A client says something at least this often, if only a Ping. One that has said nothing for the
// longer time may lose its place to another client (docs/decisions/0066).
constexpr Nanoseconds client_silence_usual = std::chrono::seconds{10};
constexpr Nanoseconds client_silence_max = std::chrono::seconds{30};

// A client has at most so many requests of whose outcomes it was not told: this bounds what clients
// have waiting at the leader. A member drops what is beyond them.
constexpr std::uint64_t client_requests_max = 2'048;

// --- from the client ----------------------------------------------------------------------------

// The first message of a connection, and of each new session of the client.
struct Attach {
    // The nonce of the OpenSession. A node that knows it owns the session (docs/decisions/0009).
    std::uint64_t nonce = 0;
    // The client has received everything up to here. The member reports nothing before it has
    // applied that much itself.
    ClientPosition position;
    friend bool operator==(const Attach&, const Attach&) = default;
};

// The owner of this hold wants to hear of others that want it (S24).
struct WatchHold {
    Seq hold;
    friend bool operator==(const WatchHold&, const WatchHold&) = default;
};

// Is answered at once, with a notice that may say nothing.
struct Ping {
    friend bool operator==(const Ping&, const Ping&) = default;
};

// A Forward is one for the leader: the member checks it, and passes it on.
using ClientMessage = std::variant<Attach, Forward, WatchHold, Ping>;

// --- from the member ----------------------------------------------------------------------------

// What the member has applied of the client's session. It precedes the outcomes of a connection,
// and replaces those that the client has missed.
struct SessionState {
    std::uint64_t nonce = 0;     // as in the Attach
    SessionId session{};         // not set: there is none under that nonce
    std::string row{};           // its row (locks/rows/session_row.hpp), which has the answers
    std::vector<Seq> waiting{};  // its requests that wait
    friend bool operator==(const SessionState&, const SessionState&) = default;
};

struct ClientNotice {
    struct Happened {
        LogIndex at;
        Outcome outcome;
    };

    // The state, or else the outcomes, are complete up to here. Not set: the member has not told
    // the state of the session yet, and only answers a Ping.
    ClientPosition applied;
    std::optional<SessionState> state{};
    // What happened to the client's session, in order. A LockBroken has only its holds, and a
    // ClosureBegun only its kind and its hold. That the session was evicted is a SessionRenewed
    // with the number `last_renewal`, which lists all that it holds.
    std::vector<Happened> outcomes{};
    // Set with the state, and when it changes: whether the member knows a leader. If it is set,
    // what was forwarded before may be lost.
    std::optional<bool> has_leader{};
    Seq gap{};  // the leader expects this request next; not set: nothing is known to be missing
    // Watched holds that others wait for. A member that reads command_format_of_recalls watches
    // cached grants without being asked, and reports them in the order of the outcomes, or with the
    // state.
    std::vector<Contended> contended{};
    std::vector<Contended> asked{};  // holds that others ask for, watched or not
    std::string refused{};           // not empty: why the member does not serve this client
};

}  // namespace mortise::core
