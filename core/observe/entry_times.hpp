// When this node applied the entries of the log, by its own steady clock. A hold and a request are
// known by the index of an entry, so their ages follow from it, and nothing is kept for each of
// them.
#pragma once

#include <cstddef>
#include <vector>

#include "core/base/ids.hpp"
#include "core/base/instant.hpp"

namespace mortise::core {

// Its memory is bounded: the older an entry is, the coarser is its time, which is at most 1/64 of
// the age too early each time that marks are thinned out.
class EntryTimes {
public:
    // This run knows no entry up to `applied`.
    EntryTimes(LogIndex applied, Instant now) : first_{applied}, marks_{{applied, now}} {}

    // Indexes and times do not descend.
    void applied(LogIndex index, Instant now);
    // Whether the entry was applied after the begin.
    [[nodiscard]] bool knows(LogIndex index) const { return index > first_; }
    // When it was applied. For an entry before the begin it is the begin, so that an age is at
    // least what it seems.
    [[nodiscard]] Instant of(LogIndex index) const;
    [[nodiscard]] std::size_t size() const { return marks_.size(); }

private:
    // The entries from `from` until the next mark were applied at `at`, or a little later.
    struct Mark {
        LogIndex from;
        Instant at;
    };

    void thin_out(Instant now);

    LogIndex first_;
    std::vector<Mark> marks_;  // never empty
};

}  // namespace mortise::core
