// What must happen outside after a step, in this order: pass `send` to the transport, submit
// `write`, publish `applied`, report `lost` and `lease`, give the `answers`, and then the rest,
// for which nobody waits; `contended` comes after `answers`, because it is about holds in them.
// Nothing in `send` waits for `write`: what depends on a write appears after its WriteDone, in a
// later step. `lost` comes before `lease`, because otherwise a hold that lapsed would look valid
// again for a moment.
#pragma once

#include <optional>
#include <utility>
#include <vector>

#include "core/agent/call.hpp"
#include "core/base/instant.hpp"
#include "core/client/client_message.hpp"
#include "core/leases/countdowns.hpp"
#include "core/node/client_flow.hpp"
#include "core/node/message.hpp"
#include "core/node/state_delta.hpp"
#include "core/raft/log_base.hpp"
#include "core/raft/output.hpp"
#include "core/raft/snapshot.hpp"

namespace mortise::core {

// One committed entry and, if it had commands, their outcomes.
struct Applied {
    Entry entry;
    Outcomes outcomes;
};

struct Effects {
    std::optional<Write> write;
    // The nodes to be connected with from now on, and no others; not set: unchanged.
    std::optional<std::vector<Member>> peers;
    std::vector<Envelope> send;
    // The peers whose connections are to be closed, after `send`: they sent impossible messages, or
    // have to report again what they have. They may come back with another hello.
    std::vector<NodeId> disconnect;
    std::vector<Applied> applied;
    std::vector<HoldLost> lost;
    std::vector<OperationId> suspended;
    std::vector<Contended> contended;
    std::optional<LeaseChanged> lease;
    std::vector<CallAnswer> answers;
    // For client nodes that are connected to this one, after the answers.
    std::vector<std::pair<ClientId, ClientNotice>> notices;
    // Client nodes whose connections are to be closed: they sent what no client sends.
    std::vector<ClientId> unfit_clients;
    // Likewise, because their sessions are used over other connections now.
    std::vector<ClientId> replaced_clients;
    // Clients that have to wait before they say more, or may say more again.
    std::vector<ClientFlow::Change> client_flow;
    // The machine was replaced: entries up to here were applied elsewhere, and their outcomes are
    // not reported. Precedes `applied`.
    std::optional<LogId> state_replaced;
    // A peer that remembers more than this directory has detected that it is outdated: nothing that
    // this core says counts any more. The node has to start with an empty directory
    // (docs/decisions/0013).
    bool superseded = false;
    // Like `superseded`, but a copy of the directory is in use elsewhere: a person has to decide
    // which one is right. This node has to stop.
    bool copied = false;
    std::vector<Note> notes;
    std::optional<LogBase> purge_log_to;  // inclusive; may be executed at any time
    std::vector<StateDelta> save_state;
    std::vector<SnapshotRead> read_snapshot;
    std::vector<NodeId> close_snapshots;
    std::vector<InstallStep> install;  // before save_state
    // To be saved on disk, without a sync, for the next start.
    std::optional<SavedCountdowns> save_countdowns;
    Instant deadline;  // of the steady clock: when to step again if nothing else happens
};

}  // namespace mortise::core
