// What must happen outside after a step, in this order: submit `write`, hand `send` to the
// transport, publish `applied`, tell of `lost` and `lease`, give the `answers`, and the rest, which
// nobody waits for; `contended` after `answers`, as it is about holds that are in there.
// Nothing in `send` waits for `write`: what depends on a write appears after its WriteDone, in a
// later step. `lost` comes before `lease`, or a hold that lapsed would look valid again for a
// moment.
#pragma once

#include <optional>
#include <vector>

#include "core/agent/call.hpp"
#include "core/base/instant.hpp"
#include "core/leases/countdowns.hpp"
#include "core/node/message.hpp"
#include "core/node/state_delta.hpp"
#include "core/raft/log_base.hpp"
#include "core/raft/output.hpp"
#include "core/raft/snapshot.hpp"

namespace mortise::core {

// One entry that was committed and, if it carried commands, what applying them brought about.
struct Applied {
    Entry entry;
    Outcomes outcomes;
};

struct Effects {
    std::optional<Write> write;
    // Whom to be connected with from now on, who knows where; none but these.
    std::optional<std::vector<Member>> peers;
    std::vector<Envelope> send;
    // Whose connections are to be closed, after `send`: they say what cannot be so, or are to say
    // once more what they said. They may come back, with another hello.
    std::vector<NodeId> disconnect;
    std::vector<Applied> applied;
    std::vector<HoldLost> lost;
    std::vector<OperationId> suspended;
    std::vector<Contended> contended;
    std::optional<LeaseChanged> lease;
    std::vector<CallAnswer> answers;
    // The machine was replaced: entries up to here were applied elsewhere, their outcomes are not
    // told. Before `applied`.
    std::optional<LogId> state_replaced;
    // This node's directory was found out by one who remembers more than it does: nothing that this
    // core says counts any more. It is to begin anew (docs/decisions/0013).
    bool superseded = false;
    // Likewise, and a copy of the directory is in use elsewhere: which of the two is the right one
    // a person has to say. This node is to stop.
    bool copied = false;
    std::vector<Note> notes;
    std::optional<LogBase> purge_log_to;  // inclusive; may be carried out whenever it suits
    std::vector<StateDelta> save_state;
    std::vector<SnapshotRead> read_snapshot;
    std::vector<NodeId> close_snapshots;
    std::vector<InstallStep> install;  // before save_state
    // To be kept on disk, unsynced, for the next start.
    std::optional<std::vector<SavedCountdown>> save_countdowns;
    Instant deadline;  // of the steady clock: when to step again if nothing happens
};

}  // namespace mortise::core
