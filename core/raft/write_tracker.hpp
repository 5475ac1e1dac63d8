// Derives what is durable from submitted and completed writes: synced, or in the page cache if the
// write need not be synced (Write::synced). The important rule is that a truncating write lowers
// the durable index when it is submitted. Example: W1 appends 5-10, and W2 truncates at 7 and
// appends 7'-8'. From W2's submission on at most 6 is durable, even if W1's completion arrives
// after it; only W2's completion makes it 8'. Counting W1's 10 would acknowledge entries that are
// gone.
#pragma once

#include <deque>
#include <optional>

#include "core/base/instant.hpp"
#include "core/raft/write.hpp"

namespace mortise::core {

class WriteTracker {
public:
    WriteTracker(HardState hard_state, LogIndex durable, Unsynced unsynced = Unsynced::nothing)
        : hard_state_{hard_state}, unsynced_{unsynced}, durable_{durable} {}

    // Numbers the write and remembers what it makes durable. `last` is the log's last index after
    // it.
    void submit(Write& write, LogIndex last, Instant now);
    // Completions must come in the order of submission (B-D6).
    void complete(WriteId id);

    [[nodiscard]] LogIndex durable() const { return durable_; }
    [[nodiscard]] const HardState& hard_state() const { return hard_state_; }
    [[nodiscard]] Unsynced unsynced() const { return unsynced_; }
    [[nodiscard]] std::size_t in_flight() const { return in_flight_.size(); }
    // Returns when the oldest incomplete write was submitted. Empty if there is none.
    [[nodiscard]] std::optional<Instant> waiting_since() const;

private:
    friend class StateReader;  // as in Raft

    struct Submitted {
        WriteId id;
        LogIndex last;
        std::optional<HardState> hard_state;
        std::optional<Unsynced> unsynced;
        Instant at;
    };

    HardState hard_state_;
    Unsynced unsynced_;
    LogIndex durable_;
    WriteId newest_;
    std::deque<Submitted> in_flight_;
};

}  // namespace mortise::core
