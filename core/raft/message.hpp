// What peers say to each other about the log. The transport may lose, repeat, delay and reorder
// these but delivers no damaged bytes. Every message carries its sender's term, which is looked at
// first.
#pragma once

#include <cstdint>
#include <variant>
#include <vector>

#include "core/base/ids.hpp"
#include "core/leases/run_out.hpp"
#include "core/locks/row.hpp"
#include "core/raft/configuration.hpp"
#include "core/raft/entry.hpp"

namespace mortise::core {

// "Would you vote for me?" Changes nothing at the receiver, not even its timer (thesis 9.6).
struct PreVoteRequest {
    Term term;  // of the sender, now; it would campaign in the next one
    std::uint64_t round = 0;
    LogId last;
};

struct PreVoteReply {
    Term term;  // of the voter: a higher one is news to the asker
    std::uint64_t round = 0;
    bool granted = false;
};

struct VoteRequest {
    Term term;
    std::uint64_t round = 0;
    LogId last;             // durable at the sender
    bool transfer = false;  // its leader asked for this election: do not stand by that leader
};

struct VoteReply {
    Term term;
    std::uint64_t round = 0;
    bool granted = false;
};

// Of one AppendRequest. The entries of an idle cluster are so small that very many are few bytes.
constexpr std::size_t append_entries_max = 8'192;

// Entries, heartbeat and read confirmation in one. `entries` follow `previous` without a gap.
struct AppendRequest {
    Term term;
    LogId previous;
    LogIndex commit;
    LogIndex replicated;           // durable at every member: may be purged
    std::uint64_t read_round = 0;  // the newest round whose confirmation the leader wants
    std::vector<Entry> entries;
};

struct AppendReply {
    Term term;
    std::uint64_t read_round = 0;  // the newest round seen from this term's leader
    bool rejected = false;
    LogIndex match;     // accepted: durable here and checked against this term's leader
    LogIndex previous;  // rejected: the index that did not match
    LogId hint;         // rejected: our newest entry that may match (index and term not above)
    std::vector<RunOut> run_out;                // sessions whose countdown here ran out (S4)
    std::vector<ClosureId> closures_run_out{};  // and closures (S24)
};

// "You are as far as I am: campaign now." Names what the target must have (thesis 3.10).
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

// A piece of the state as of `last`, for a follower whose next entry is purged. Counts as contact.
struct SnapshotChunk {
    Term term;
    LogId last;
    Configuration configuration;  // in force at `last`
    std::uint64_t position = 0;   // counts the chunks of one state from 0
    std::vector<Row> rows;        // ascending by key
    bool done = false;            // no chunk follows
    std::uint64_t checksum = 0;   // over all chunks so far: two streams cannot be mixed unnoticed
    bool cut = false;             // the value of the last row goes on in the next chunk
};

struct SnapshotReply {
    Term term;
    LogId last;              // the state that is meant
    std::uint64_t next = 0;  // the position wanted next
    bool installed = false;  // its log goes on from `last`, durably
    bool refused = false;    // it can make nothing of this state
};

// "You are no member any more." To who asks for votes or reads as if it were.
struct NotAMember {
    Term term;
    LogId configuration;  // the entry that says so, committed
};

using RaftMessage =
    std::variant<PreVoteRequest, PreVoteReply, VoteRequest, VoteReply, AppendRequest, AppendReply,
                 TimeoutNow, ReadRequest, ReadReply, SnapshotChunk, SnapshotReply, NotAMember>;

inline Term term_of(const RaftMessage& message) {
    return std::visit([](const auto& m) { return m.term; }, message);
}

}  // namespace mortise::core
