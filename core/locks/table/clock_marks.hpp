// When the entries of the log were proposed, as their leaders said: a bounded list of marks, each
// the time of one entry (docs/decisions/0080). It is for people: nothing else in the lock machine
// reads it. Every replica has the same marks.
#pragma once

#include <cstdint>
#include <optional>
#include <set>
#include <vector>

#include "core/base/ids.hpp"
#include "core/locks/limits.hpp"

namespace mortise::core {

struct ClockMark {
    LogIndex index;
    std::uint64_t ms = 0;  // since 1970, or later if a leader's clock was wrong
    friend bool operator==(const ClockMark&, const ClockMark&) = default;
};

class ClockMarks {
public:
    // A Clock in the entry at `index`. Marks rise, and are at least a second apart; a Clock that
    // does not fit is ignored, and one that leaps too far counts in part.
    void add(LogIndex index, std::uint64_t ms);

    // Rising by index and by time.
    [[nodiscard]] const std::vector<ClockMark>& all() const { return marks_; }
    [[nodiscard]] bool is_empty() const { return marks_.empty(); }
    // Requires that there are some.
    [[nodiscard]] const ClockMark& newest() const { return marks_.back(); }
    // The time of the newest mark up to that entry: not later than the entry was proposed, and
    // earlier by about 2 % of its age at most. Empty if it is older than all marks.
    [[nodiscard]] std::optional<std::uint64_t> time_of(LogIndex index) const;

    // The indexes of marks that appeared or disappeared since forget_changes().
    [[nodiscard]] const std::set<LogIndex>& changes() const { return changes_; }
    void forget_changes() { changes_.clear(); }

    // For loading. Returns false, without an effect, if it cannot follow what is there.
    bool restore(ClockMark mark);

private:
    void drop_one();

    std::vector<ClockMark> marks_;
    std::set<LogIndex> changes_;
};

}  // namespace mortise::core
