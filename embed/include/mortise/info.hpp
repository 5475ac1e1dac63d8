// Snapshots of the state of locks and nodes, for programs and operators.
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
#include <mortise/metrics.hpp>
#include <mortise/node_id.hpp>

#include <mortise/detail/macros_aside.hpp>

namespace mortise {

// How the previous holder's hold ended, as the next grant reports it.
struct Previous {
    Predecessor how = Predecessor::none;
    // The label of that hold. If it had none, and did not end by its release, this is the
    // program@host:pid of its process.
    std::string label{};
    FencingToken token{};

    friend bool operator==(const Previous&, const Previous&) = default;
};

// Where a session comes from, as its node says, for people. It is no identity: a node may say
// anything of itself here. Members that are unset or empty are unknown, as those of a node of
// version 0.2.
struct Origin {
    std::string host{};
    std::string program{};
    std::uint64_t pid = 0;
    // Of a member: where others reach it. Of a client: from where it is connected with its member.
    std::string address{};

    friend bool operator==(const Origin&, const Origin&) = default;
};

struct HolderInfo {
    NodeId node = 0;  // 0: a client; in events also a node whose session has ended
    SessionId session = 0;
    std::string label{};
    LockMode mode = LockMode::exclusive;
    FencingToken token{};
    std::uint64_t since = 0;  // log index of the grant
    bool cached = false;  // the node keeps it for its next acquire; whether it is in use is unknown
    std::vector<std::uint32_t> slots{};  // of a semaphore: the numbers of its permits, ascending
    // How long the lease of its session runs if it is not renewed again, by the answering node's
    // clock; unset: unknown, as in events and in the answers of a Remote.
    Duration lease_left = Duration::max();
    // How long ago it was granted, by the answering node, within about 2 %. Unset: unknown, as in
    // events, and for what was granted while a member of version 0.2 belonged to the cluster.
    Duration age = Duration::max();
    Origin origin{};  // of its session

    friend bool operator==(const HolderInfo&, const HolderInfo&) = default;
};

struct WaiterInfo {
    NodeId node = 0;  // 0: a client
    SessionId session = 0;
    std::string label{};
    LockMode mode = LockMode::exclusive;
    std::uint64_t since = 0;  // log index of the request
    bool upgrades = false;    // it is one of the holders, and waits to upgrade
    int priority = 0;
    std::uint32_t permits = 0;       // how many it wants of a semaphore; zero for a lock
    Duration age = Duration::max();  // since the request; as that of a holder
    Origin origin{};                 // of its session

    friend bool operator==(const WaiterInfo&, const WaiterInfo&) = default;
};

// What to show of a holder or a waiter to a person: its label, or program@host:pid if it has none,
// or the parts of that which are known. Like a label it may have any bytes; see escaped().
[[nodiscard]] std::string shown_label(const std::string& label, const Origin& origin);
[[nodiscard]] std::string shown_label(const HolderInfo& holder);
[[nodiscard]] std::string shown_label(const WaiterInfo& waiter);

// The value that is stored with a name (S36).
struct LockValue {
    std::string bytes{};        // empty in the answers of list()
    std::uint64_t version = 0;  // grows with every write, until an empty value is written
    bool dirty = false;  // an exclusive holder was lost, and consistent() was not called since

    friend bool operator==(const LockValue&, const LockValue&) = default;
};

// How many permits a semaphore has (S34).
struct SemaphoreLimit {
    std::uint32_t permits = 0;
    std::uint64_t version = 1;  // grows with each Semaphore::resize()

    friend bool operator==(const SemaphoreLimit&, const SemaphoreLimit&) = default;
};

// The count of a latch (S35).
struct LatchCount {
    std::uint32_t remaining = 0;  // zero: who waits passes

    friend bool operator==(const LatchCount&, const LatchCount&) = default;
};

// The present phase of a barrier (S35).
struct BarrierPhase {
    std::uint32_t parties = 0;  // that must arrive
    std::uint32_t arrived = 0;  // of these, including those that dropped in this phase
    std::uint64_t number = 0;   // how many phases have ended
    bool is_broken = false;     // Node::remove() makes room for a new one

    friend bool operator==(const BarrierPhase&, const BarrierPhase&) = default;
};

// A node that takes part in a barrier (S35): it has parties that have arrived, now or in an earlier
// phase, and have not left. The other parties are not known before their first arrival.
struct BarrierMember {
    NodeId node = 0;  // 0: a client, or its session has ended and all its parties have dropped
    SessionId session = 0;
    std::uint32_t parties = 0;  // of this node
    std::uint32_t arrived = 0;  // of these, in the present phase

    friend bool operator==(const BarrierMember&, const BarrierMember&) = default;
};

// A reason why a name is closed; there is at most one for each token and reason.
struct ClosureInfo {
    ClosedBy by = ClosedBy::broken;
    FencingToken token{};  // break_lock() with this token reopens the name; see LockInfo
    Duration left{};       // at most this long, by the answering node's clock; unset: unknown

    friend bool operator==(const ClosureInfo&, const ClosureInfo&) = default;
};

// What is known about one name. If it has no holders, waiters, value, limit, latch or barrier and
// is not closed, all members but the name have their defaults. Names are bytes; use
// escaped_name() before showing one to a person.
struct LockInfo {
    std::string name{};
    QueuePolicy policy = QueuePolicy::phase_fair;
    std::vector<HolderInfo> holders{};  // oldest first; may be incomplete, see `truncated`
    // an upgrade first, then in order of arrival; may be incomplete
    std::vector<WaiterInfo> waiters{};
    std::optional<LockValue> value{};
    // The name cannot be granted, or not in every mode, although its holders would allow it: it was
    // broken and the former holder may not know yet (S24), or a min_hold or a lock_delay runs (S8,
    // S9). break_lock() with the token `closed_under` reopens it; for a broken name with
    // BreakMode::immediate.
    bool is_closed = false;
    FencingToken closed_under{};
    std::vector<ClosureInfo> closures{};  // the reasons, the newest token first
    // The full numbers. A Remote receives at most 1,024 holders, 1,024 waiters and 64 closures.
    std::size_t holders_total = 0;
    std::size_t waiters_total = 0;
    std::size_t closures_total = 0;
    bool truncated = false;  // some of the lists above are incomplete
    // Of a semaphore: as long as somebody has permits or waits, and from its first resize() until
    // it is removed.
    std::optional<SemaphoreLimit> limit{};
    std::optional<LatchCount> latch{};      // of a latch, until it is removed
    std::optional<BarrierPhase> barrier{};  // of a barrier, until it is removed
    std::vector<BarrierMember> members{};   // of a barrier: who has arrived, and who is missed

    [[nodiscard]] bool is_held() const noexcept { return !holders.empty(); }
    // The cluster knows the name: it is not free for any use.
    [[nodiscard]] bool is_used() const noexcept {
        return !holders.empty() || !waiters.empty() || value || is_closed || limit || latch ||
               barrier;
    }

    friend bool operator==(const LockInfo&, const LockInfo&) = default;
};

// A session: what a process, by its node, holds and waits with (S1). It ends when its lease is not
// renewed.
struct SessionInfo {
    SessionId id = 0;
    NodeId node = 0;      // 0: a client
    std::string label{};  // of one of its holds; empty if its first holds have none
    // Since it was opened. If that is unknown (HolderInfo::age), for how long the answering member
    // has known it: that is no longer than the member runs.
    Duration age{};
    Duration ttl{};
    Duration lease_left{};  // by the answering member's clock; unset: unknown
    std::size_t holds = 0;  // names that it holds
    std::size_t waits = 0;  // names that it waits for
    Origin origin{};

    friend bool operator==(const SessionInfo&, const SessionInfo&) = default;
};

struct MemberInfo {
    NodeId id = 0;
    Role role = Role::voter;  // learner until its promotion is done
    std::string address{};
    bool connected = false;  // with the answering node; true for that node itself
    // log index that the member is known to have; known to the leader only
    std::uint64_t matching = 0;
    bool leaving = false;           // it votes until its removal is committed
    std::uint64_t incarnation = 0;  // of its data directory; a new directory has another one

    friend bool operator==(const MemberInfo&, const MemberInfo&) = default;
};

struct Status {
    NodeId id = 0;
    std::string cluster{};     // the configured name
    std::string cluster_id{};  // 32 hexadecimal digits; empty until the cluster is formed
    Role role = Role::voter;
    Standing standing = Standing::follower;
    std::uint64_t term = 0;
    std::optional<NodeId> leader{};  // empty: unknown
    std::uint64_t commit_index = 0;
    std::uint64_t applied_index = 0;
    std::uint64_t first_index = 0;      // of the log; older entries are only in the state
    std::vector<MemberInfo> members{};  // ordered by id, this node included
    SessionId session = 0;              // this node's own; 0 while it has none
    std::string address{};              // where this node listens; empty if it does not listen
    Duration uptime{};
    std::string version{};
    bool ready = false;           // calls are answered
    std::string why_not_ready{};  // one sentence; empty when ready
    bool stopped = false;
    std::string why_stopped{};
    // The node listens on an address that other machines reach, without TLS (tls.insecure):
    // everybody who reaches it may do everything.
    bool insecure = false;
    Durability durability = Durability::synced;  // of the cluster, as this member knows it
    // Its machine was started anew and it may lack what it acknowledged, so it elects nobody alone
    // until a leader has told it what is committed.
    bool forgetful = false;
    // Of a client: the member that it is connected with; empty: none at this moment.
    std::optional<NodeId> served_by{};
};

}  // namespace mortise

#include <mortise/detail/macros_back.hpp>
