// The log since the last snapshot, in memory. The disk is read only at the start, so nothing here
// can fail or wait. The component that purges it bounds its size.
#pragma once

#include <deque>
#include <optional>
#include <vector>

#include "core/raft/entry.hpp"

namespace mortise::core {

class Log {
public:
    // `base` is the last entry that is not kept any more; {0, 0} if nothing was ever purged. The
    // entries must follow it without a gap.
    Log(LogId base, std::vector<Entry> entries);

    [[nodiscard]] LogId base() const { return base_; }
    [[nodiscard]] LogId last() const { return entries_.empty() ? base_ : entries_.back().id; }
    [[nodiscard]] LogIndex first_index() const { return base_.index.next(); }

    // Returns the term of the entry, or of the base. Empty if the entry is before the base or does
    // not exist: a zero could be taken for a term (B-C8).
    [[nodiscard]] std::optional<Term> term_at(LogIndex index) const;
    // True if the log has exactly this entry; a purged entry was committed and matches (B-C11).
    [[nodiscard]] bool has(LogId id) const;
    [[nodiscard]] const Entry& at(LogIndex index) const;  // requires first_index() <= index <= last
    // Returns the newest entry with an index and a term not above those of the limit. Up to there
    // two logs may agree. If there is none, it returns the base.
    [[nodiscard]] LogId newest_not_above(LogId limit) const;
    // Returns the entries from `from` on, as many as fit into both limits, but at least one if
    // there is one.
    [[nodiscard]] std::vector<Entry> slice(LogIndex from, std::size_t bytes_max,
                                           std::size_t entries_max) const;

    void append(Entry entry);  // requires the next index and no lower term
    void truncate_from(LogIndex index);
    void purge_to(LogIndex index);  // inclusive; requires it to be there

    [[nodiscard]] std::size_t bytes() const { return bytes_; }

private:
    [[nodiscard]] std::size_t offset(LogIndex index) const;

    LogId base_;
    std::deque<Entry> entries_;
    std::size_t bytes_ = 0;
};

}  // namespace mortise::core
