// The messages between peers about the log. The transport may lose, repeat, delay and reorder them,
// but delivers no damaged bytes. Every message has its sender's term, which is examined first.
#pragma once

#include <cstdint>
#include <optional>
#include <variant>
#include <vector>

#include "core/base/ids.hpp"
#include "core/leases/renewed_lease.hpp"
#include "core/locks/row.hpp"
#include "core/raft/configuration.hpp"
#include "core/raft/entry.hpp"

namespace mortise::core {

// "Would you vote for me?" It changes nothing at the receiver, not even its timer (thesis 9.6).
struct PreVoteRequest {
    Term term;  // the sender's present term; it would campaign in the next one
    std::uint64_t round = 0;
    LogId last;
};

struct PreVoteReply {
    Term term;  // the voter's term; if it is higher, the sender of the request adopts it
    std::uint64_t round = 0;
    bool granted = false;
    // Its vote in its term; not set: it has not voted. Empty: its version does not tell.
    std::optional<NodeId> voted_for{};
    LogIndex configuration{};  // the newest one that it has from before the term of the request
    bool if_all = false;       // as in VoteReply
};

struct VoteRequest {
    Term term;
    std::uint64_t round = 0;
    LogId last;             // durable at the sender
    bool transfer = false;  // its leader asked for this election, so voters may leave that leader
};

struct VoteReply {
    Term term;
    std::uint64_t round = 0;
    bool granted = false;
    // The vote of a node that may have forgotten entries. It only counts if all voters agree.
    bool if_all = false;
};

// The limit of one AppendRequest. There is a limit of bytes, too, but the entries of an idle
// cluster are so small that a large number has few bytes.
constexpr std::size_t append_entries_max = 8'192;

// Carries entries, heartbeats and read confirmations. `entries` follow `previous` without a gap.
struct AppendRequest {
    Term term;
    LogId previous;
    LogIndex commit;
    LogIndex replicated;           // durable at every member: may be purged
    std::uint64_t read_round = 0;  // the newest round that the leader wants to be confirmed
    std::vector<Entry> entries;
    // The message only has the commit index, between two heartbeats. It gets no answer, which would
    // say nothing new.
    bool quiet = false;
    // The voter that the leader has asked to take over; not set: none. Empty: the leader has an
    // older version, which does not tell.
    std::optional<NodeId> transfer_target{};
};

struct AppendReply {
    Term term;
    std::uint64_t read_round = 0;  // the newest round seen from this term's leader
    bool rejected = false;
    LogIndex match;     // accepted: durable here and known to match this term's leader
    LogIndex previous;  // rejected: the index that did not match
    LogId hint;         // rejected: our newest entry that may match (index and term not above)
    std::vector<RenewedLease> run_out;          // leases whose countdown here has elapsed (S4)
    std::vector<ClosureId> closures_run_out{};  // and quorum timers (S24)
};

// "Your log is as long as mine: campaign now." The log of the target must end with
// `last`, durably (thesis 3.10).
struct TimeoutNow {
    Term term;
    LogId last;
};

// A follower asks for an index at which a read is linearizable (thesis 6.4).
struct ReadRequest {
    Term term;
    ReadId id;
};

struct ReadReply {
    Term term;
    ReadId id;
    LogIndex index;
};

// A piece of the state as of `last`, for a follower whose next entry is purged. For the follower it
// counts as contact with the leader.
struct SnapshotChunk {
    Term term;
    LogId last;
    Configuration configuration;  // in force at `last`
    std::uint64_t position = 0;   // numbers the chunks of one snapshot from 0
    std::vector<Row> rows;        // ascending by key
    bool done = false;            // no chunk follows
    // over all chunks so far, so that a mixture of the chunks of two snapshots is detected
    std::uint64_t checksum = 0;
    bool cut = false;  // the value of the last row continues in the next chunk
};

struct SnapshotReply {
    Term term;
    LogId last;              // identifies the snapshot
    std::uint64_t next = 0;  // the position wanted next
    bool installed = false;  // its log continues from `last`, durably
    bool refused = false;    // it cannot use this snapshot
};

// "You are not a member any more." This is the answer to a node that asks for votes or for reads as
// if it were a member.
struct NotAMember {
    Term term;
    LogId configuration;  // the committed entry that removed it
};

using RaftMessage =
    std::variant<PreVoteRequest, PreVoteReply, VoteRequest, VoteReply, AppendRequest, AppendReply,
                 TimeoutNow, ReadRequest, ReadReply, SnapshotChunk, SnapshotReply, NotAMember>;

inline bool claims_to_lead(const RaftMessage& message) {
    return std::holds_alternative<AppendRequest>(message) ||
           std::holds_alternative<SnapshotChunk>(message);
}
inline Term term_of(const RaftMessage& message) {
    return std::visit([](const auto& m) { return m.term; }, message);
}

// "PreVoteRequest", and so on.
[[nodiscard]] const char* name_of(const RaftMessage& message);

}  // namespace mortise::core
