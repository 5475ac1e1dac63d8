// The state follows the log to disk in deltas. This class decides when a delta is due, which part
// of the log may be purged, and how much more this node accepts while its disk does not keep up
// (P11).
#pragma once

#include "core/locks/machine/lock_machine.hpp"
#include "core/node/node_options.hpp"
#include "core/node/state_lag.hpp"
#include "core/raft/raft.hpp"

namespace mortise::core {

class StateSaver {
public:
    // The state on disk contains everything up to `applied`.
    StateSaver(const NodeOptions& options, const Raft& raft, LogIndex applied)
        : options_{options}, raft_{raft}, handed_over_{applied} {}

    void applied(const Entry& entry) { lag_.applied(entry); }
    // The state was replaced by one that is on disk and contains everything up to `applied`.
    void replaced(LogIndex applied);
    // At the end of a step: the changes up to `applied`, if they should be handed over now. Their
    // rows are made in several steps if there are many, and the last of these steps has the delta.
    [[nodiscard]] std::optional<StateDelta> hand_over_if_due(LockMachine& machine, LogIndex applied,
                                                             Instant now);
    // The same at once. The checksum over all rows is that of `applied` then.
    [[nodiscard]] StateDelta hand_over(LockMachine& machine, LogIndex applied);
    // The next step is due at once.
    [[nodiscard]] bool has_more() const { return has_more_; }
    // The state on disk contains everything up to `index`. Returns up to where the log may be
    // purged, if that is more than before. The volume has room for so much of the log.
    [[nodiscard]] std::optional<LogIndex> durable(LogIndex index, LogIndex applied,
                                                  std::size_t log_bytes_max);

    // Which commands are accepted. A rejected acquire causes a cancel, so endings have more
    // capacity than acquires; renewals have the most, so that no session expires because of a slow
    // disk.
    [[nodiscard]] bool takes_acquires() const { return !lags_by_more_than(4); }
    [[nodiscard]] bool takes_endings() const { return !lags_by_more_than(5); }
    [[nodiscard]] bool takes_entries() const { return !lags_by_more_than(6); }

    // In memory until the state on disk has it.
    [[nodiscard]] std::size_t lag_bytes() const { return lag_.bytes(); }
    [[nodiscard]] Instant deadline() const;

private:
    [[nodiscard]] bool is_due(const LockMachine& machine, LogIndex applied, Instant now);
    [[nodiscard]] bool is_compared_soon(LogIndex applied) const;
    void gather(std::vector<Row> rows);
    [[nodiscard]] bool lags_by_more_than(std::size_t quarters) const {
        return lag_.bytes() > options_.state_lag_bytes_max / 4 * quarters;
    }

    const NodeOptions& options_;
    const Raft& raft_;
    LogIndex handed_over_;       // everything up to here was passed to the state on disk
    std::vector<Row> gathered_;  // of the next delta, as in StateDelta
    bool has_more_ = false;      // rows of a delta that is due are left for the next step
    Nanoseconds pause_{};        // before the next delta, because of the size of the last one
    StateLag lag_;
    Instant due_ = Instant::never();
};

}  // namespace mortise::core
