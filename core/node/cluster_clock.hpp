// The present time of the cluster, as this node reckons it, for people only (docs/decisions/0080):
// the time of the newest mark, and what has passed here since that was applied. So a difference
// between the wall clocks of two hosts shows in no age. The wall clock counts once: from the start
// of this node until it applies a mark that was made after that.
#pragma once

#include <cstdint>
#include <optional>

#include "core/base/ids.hpp"
#include "core/base/instant.hpp"
#include "core/locks/table/clock_marks.hpp"

namespace mortise::core {

class LockMachine;

class ClusterClock {
public:
    // The log ended at `log_end` when this node started: what it applies up to there is old.
    ClusterClock(const LockMachine& machine, LogIndex log_end, Now now);

    // An entry was applied.
    void applied(Now now);
    // The machine has another state now, which may be older than the present time.
    void state_replaced(Now now);

    // Empty if there is no mark at or before that entry. Never negative.
    [[nodiscard]] std::optional<Nanoseconds> age_of(LogIndex index, Now now) const;
    // For a leader: the time in milliseconds, or zero if the newest mark is so young that no other
    // may follow, or if no clock is known.
    [[nodiscard]] std::uint64_t to_propose(Now now) const;

private:
    [[nodiscard]] const ClockMarks& marks() const;
    [[nodiscard]] std::uint64_t reckoned(Now now) const;
    // Not earlier than the newest mark, which must exist.
    [[nodiscard]] std::uint64_t present(Now now) const;
    void set(std::uint64_t ms, Now now);

    const LockMachine& machine_;
    LogIndex old_to_;       // marks up to here do not tell the present time
    LogIndex seen_{};       // the newest mark that was seen
    std::uint64_t ms_ = 0;  // the time was this
    Instant at_{};          // then, by the clock that goes on while the machine is suspended
};

}  // namespace mortise::core
