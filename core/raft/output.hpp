// The effects of an event. Nothing in `send` depends on what is not durable yet: replies and votes
// are derived from what is durable when a write completes, and are never created before. So the
// only rule is: submit `write`, pass on `send`, apply `committed`.
#pragma once

#include <cstdint>
#include <optional>
#include <string_view>
#include <vector>

#include "core/base/ids.hpp"
#include "core/raft/message.hpp"
#include "core/raft/snapshot.hpp"
#include "core/raft/write.hpp"

namespace mortise::core {

struct RaftEnvelope {
    NodeId to;
    RaftMessage message;
};

// Once the log up to `index` is applied, a read with this id is linearizable.
struct ReadGrant {
    ReadId id;
    LogIndex index;
};

// Information about a run, for a person or a test. A note reports a decision; it is not a log line.
struct Note {
    enum class Kind : std::uint8_t {
        became_follower,
        became_pre_candidate,
        became_candidate,
        became_leader,
        lost_quorum,   // a leader stepped down: no majority answered for an election timeout
        disk_stalled,  // a leader stepped down: its own write did not complete in that time
        peer_cut_off,  // a follower needs entries that are purged
        transfer_started,
        transfer_failed,
        refused_message,  // it is impossible, see `why`; it has no effect
        unheard_message,  // its sender may not say that here, or not now, see `why`
        formed,
        configuration_changed,  // another configuration is in force here
        removed,                // this node is not a member any more
        state_requested,        // the leader begins to send its state to a follower
        state_sent,             // the follower has received it
        state_installed,        // this node has installed a snapshot
        peer_forgot,            // its directory was rolled back, or is a copy: it is not counted
        peer_counts_again,      // it has what it had forgotten, and no forgotten vote matters
        refused_chunk,          // a chunk of a snapshot does not fit, or the follower cannot use it
        own_life_doubted,       // a peer says that this node's directory was rolled back
        refused_state,          // the leader sends an invalid snapshot
        senseless_entry,        // an entry has invalid commands: it has no effect
        false_leader,           // a node claims to lead, and was not elected
        distant_term,           // a peer says a term that no election can have reached
        may_have_forgotten,     // in a loss of power: this node gives no vote that counts alone
        recovered,              // it has what it may have forgotten
        era_begun,              // a majority may have forgotten: this node leads, elected by all
        terms_used_up,  // the last possible term was used: no leader can be elected any more
    };

    Kind kind;
    Term term;
    NodeId peer;
    // The kind of the refused message, and the reason: text that lives as long as the program.
    std::string_view message{};
    std::string_view why{};
};

// The results that are final: entries to apply, and reads that may be answered.
struct RaftDecided {
    std::vector<Entry> committed;
    std::vector<ReadGrant> reads;
};

struct RaftOutput {
    std::optional<Write> write;
    std::vector<RaftEnvelope> send;
    std::vector<SnapshotRead> read_snapshot;
    std::vector<NodeId> close_snapshots;
    std::vector<InstallStep> install;
    // The peers that sent impossible messages. Their connections should be closed.
    std::vector<NodeId> distrusted;
    std::vector<Note> notes;
};

}  // namespace mortise::core
