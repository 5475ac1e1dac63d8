// What must happen outside after a step, in this order: submit `write`, hand `send` to the
// transport, apply `committed`, publish the rest. Nothing in `send` waits for `write`: what depends
// on a write appears after its WriteDone, in a later step.
#pragma once

#include <optional>
#include <vector>

#include "core/base/instant.hpp"
#include "core/node/message.hpp"
#include "core/raft/output.hpp"

namespace mortise::core {

// The answer to Propose: where the batch stands if it commits. Not set: refused, not leader.
struct Proposed {
    std::uint64_t tag = 0;
    LogId id;
};

// The answer to Read: once `index` is applied here, a read is linearizable. Not set: no leader is
// known, or it was lost on the way; ask again.
struct ReadReady {
    std::uint64_t tag = 0;
    LogIndex index;
};

struct Effects {
    std::optional<Write> write;
    std::vector<Envelope> send;
    std::vector<Entry> committed;
    std::vector<Proposed> proposed;
    std::vector<ReadReady> reads;
    std::vector<Note> notes;
    std::optional<LogIndex> purge_log_to;  // inclusive; may be carried out whenever it suits
    Instant deadline;  // of the steady clock: when to step again if nothing happens
};

}  // namespace mortise::core
