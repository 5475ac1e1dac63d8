// What can be seen of locks and of nodes.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include <mortise/duration.hpp>
#include <mortise/enums.hpp>
#include <mortise/event.hpp>
#include <mortise/fencing_token.hpp>
#include <mortise/node_id.hpp>

namespace mortise {

// The holder before, as a grant tells it.
struct Previous {
    Predecessor how = Predecessor::none;
    std::string label{};
    FencingToken token{};

    friend bool operator==(const Previous&, const Previous&) = default;
};

struct HolderInfo {
    NodeId node = 0;
    SessionId session = 0;
    std::string label{};
    LockMode mode = LockMode::exclusive;
    FencingToken token{};
    std::uint64_t since = 0;  // log index of the grant

    friend bool operator==(const HolderInfo&, const HolderInfo&) = default;
};

struct WaiterInfo {
    NodeId node = 0;
    SessionId session = 0;
    std::string label{};
    LockMode mode = LockMode::exclusive;
    std::uint64_t since = 0;  // log index of the request
    bool upgrades = false;    // it is one of the holders, and waits to be the only one
    int priority = 0;

    friend bool operator==(const WaiterInfo&, const WaiterInfo&) = default;
};

// What a name carries besides (S36).
struct LockValue {
    std::string bytes{};        // left out by list()
    std::uint64_t version = 0;  // rises with every write
    bool dirty = false;         // a writer was lost, and nobody has vouched for it since

    friend bool operator==(const LockValue&, const LockValue&) = default;
};

// What keeps a name closed, once for each token and reason.
struct ClosureInfo {
    ClosedBy by = ClosedBy::broken;
    FencingToken token{};  // break_lock() under it opens what it keeps closed; see LockInfo
    Duration left{};       // how long at most, as the node that answers counts; unset: not known

    friend bool operator==(const ClosureInfo&, const ClosureInfo&) = default;
};

// A name that nobody holds or waits for, and that has no value, is not known: the rest is empty
// then. Names are bytes; see escaped() before showing one to a person.
struct LockInfo {
    std::string name{};
    QueuePolicy policy = QueuePolicy::phase_fair;
    std::vector<HolderInfo> holders{};  // oldest first; perhaps not all, see `truncated`
    std::vector<WaiterInfo> waiters{};  // an upgrade first, the others as they came; likewise
    std::optional<LockValue> value{};
    // Nobody has it, or not everybody may: it was broken, and its former holder may not know yet
    // (S24), or a min_hold or a lock_delay runs (S8, S9). break_lock() opens what is closed under
    // that token; immediate, in the first case.
    bool is_closed = false;
    FencingToken closed_under{};
    std::vector<ClosureInfo> closures{};  // then: the newest token first
    // How many there are in all. A Remote is told at most 1,024 of each, and 64 closures.
    std::size_t holders_total = 0;
    std::size_t waiters_total = 0;
    std::size_t closures_total = 0;
    bool truncated = false;  // there are more of something than are listed here

    [[nodiscard]] bool is_held() const noexcept { return !holders.empty(); }

    friend bool operator==(const LockInfo&, const LockInfo&) = default;
};

struct MemberInfo {
    NodeId id = 0;
    Role role = Role::voter;
    std::string address{};
    bool connected = false;         // with this node, which always is with itself
    std::uint64_t matching = 0;     // log index the member is known to have; only the leader knows
    bool leaving = false;           // votes until its removal is committed
    std::uint64_t incarnation = 0;  // of its data directory; a wiped one comes back with another

    friend bool operator==(const MemberInfo&, const MemberInfo&) = default;
};

struct Status {
    NodeId id = 0;
    std::string cluster{};     // its name, as configured
    std::string cluster_id{};  // 32 hexadecimal digits; empty until the cluster is formed
    Role role = Role::voter;
    Standing standing = Standing::follower;
    std::uint64_t term = 0;
    std::optional<NodeId> leader{};  // empty: none known
    std::uint64_t commit_index = 0;
    std::uint64_t applied_index = 0;
    std::uint64_t first_index = 0;  // of the log that is kept; what is older is in the state alone
    std::vector<MemberInfo> members{};  // by id, this node included
    SessionId session = 0;              // this node's own; 0 while it has none
    std::string address{};              // where this node listens; empty if it does not
    Duration uptime{};
    std::string version{};
    bool ready = false;           // calls are answered
    std::string why_not_ready{};  // a sentence, empty when ready
    bool stopped = false;
    std::string why_stopped{};
    // It listens where other machines reach it, without TLS (tls.insecure): whoever does may do
    // everything.
    bool insecure = false;
};

// Counters since the node was opened, unless called a present number.
struct Metrics {
    // Of this node's own program.
    std::uint64_t acquires = 0;  // asked for, tries included
    std::uint64_t granted = 0;
    std::uint64_t busy = 0;  // tries that found the name taken
    std::uint64_t timed_out = 0;
    std::uint64_t cancelled = 0;
    std::uint64_t failed = 0;  // for any other reason
    std::uint64_t released = 0;
    std::uint64_t holds_lost = 0;
    std::uint64_t calls_refused = 0;     // a bound was reached
    std::uint64_t sessions_expired = 0;  // of this node
    std::uint64_t holds = 0;             // present number
    std::uint64_t waits = 0;             // present number

    // Of the cluster, as this node sees it.
    std::uint64_t names = 0;           // present number
    std::uint64_t sessions = 0;        // present number
    std::uint64_t leader_changes = 0;  // seen by this node
    std::uint64_t entries_applied = 0;
    std::uint64_t commands_applied = 0;
    std::uint64_t states_taken_over = 0;  // whole, from other members: this node was too far behind

    // Of the machinery.
    std::uint64_t log_writes = 0;  // each is one sync
    std::uint64_t log_bytes = 0;   // of the entries in them
    std::uint64_t messages_sent = 0;
    std::uint64_t messages_received = 0;
    std::uint64_t messages_refused = 0;  // malformed, or from somebody who may not
    std::uint64_t messages_dropped = 0;  // a peer was too slow
    std::uint64_t connections_refused = 0;
    std::uint64_t loop_overruns = 0;   // pieces of work longer than 5 ms
    std::uint64_t late_callbacks = 0;  // callbacks of the program longer than 10 ms
    // Lost locks that went back to the cluster although callbacks of Hold::lost() had not returned:
    // they took longer than 100 ms.
    std::uint64_t lost_untold = 0;
    Duration slowest_loop_turn{};
    Duration slowest_log_write{};
    // Lines of the node's own log that came too often, or that standard error did not take.
    std::uint64_t log_lines_left_out = 0;
    std::uint64_t handshakes_failed = 0;  // connections without a certificate that is believed
    // Present number: until this node's certificate, or one of its authorities, expires; unset
    // (Duration::max()) without TLS.
    Duration certificate_left = Duration::max();
};

}  // namespace mortise
