// What an event asks for. Nothing in `send` promises what is not durable yet: replies and
// votes are derived from what is durable when a write completes, never queued before it. So there
// is one rule: submit `write`, hand `send` over, apply `committed`.
#pragma once

#include <cstdint>
#include <optional>
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

// The log up to `index` applied, a read with this id is linearizable.
struct ReadGrant {
    ReadId id;
    LogIndex index;
};

// What a person or a test wants to read of a run: decisions, not log lines.
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
        refused_message,  // it says what cannot be so, see `why`: it has no effect
        formed,
        configuration_changed,  // another one is in force here
        removed,                // this node is no member any more
        state_requested,        // a follower is sent this node's state
        state_sent,             // and has it
        state_installed,        // this node has another's
        peer_forgot,            // its directory was rolled back, or is a copy: it does not count
        refused_chunk,          // pieces of a state do not fit, or the follower cannot use it
        own_life_doubted,       // somebody says that this node's directory was rolled back
        refused_state,          // the leader sends a state that makes no sense here
        senseless_entry,        // one of the log has no commands that make sense: it does nothing
        terms_used_up,          // somebody brought the last term: nobody can be elected any more
    };

    Kind kind;
    Term term;
    NodeId peer;
    // Of refused_message.
    const char* message = nullptr;
    const char* why = nullptr;
};

// What became final.
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
    // They say what cannot be so: what else they say is not worth waiting for.
    std::vector<NodeId> distrusted;
    std::vector<Note> notes;
};

}  // namespace mortise::core
