// What happens to names, as this node applies it: who waits and for how long, which names are
// contended, and the rates of the last quarter of an hour (docs/decisions/0082). It is derived from
// the log, so each member has the same numbers, up to its own clock. Nothing depends on it.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "core/base/instant.hpp"
#include "core/locks/name_change.hpp"
#include "core/locks/table/lock_table.hpp"
#include "core/observe/activity_view.hpp"
#include "core/observe/contended_names.hpp"
#include "core/observe/entry_times.hpp"
#include "core/observe/name_prefixes.hpp"
#include "core/observe/recent_rates.hpp"

namespace mortise::core {

class Activity {
public:
    // The names with these prefixes are counted separately.
    Activity(std::vector<std::string> prefixes, const LockTable& table, LogIndex applied,
             Instant now);

    // The next entry was applied, which did this to names; `waited` are those whose waiters it may
    // have changed.
    void applied(LogIndex index, Instant now, std::span<const NameChange> changes,
                 std::span<const RecordRef> waited);
    // The state was replaced by that of another member. The rates go on; times begin anew.
    void restart(const LockTable& table, LogIndex applied, Instant now);

    // Present numbers: O(1), with the prefixes.
    [[nodiscard]] ContentionView contention(Instant now) const;
    // The names with the most waiters among those that begin with `prefix`.
    [[nodiscard]] std::vector<HotName> hottest(const LockTable& table, Instant now,
                                               std::string_view prefix = {}) const;
    // All of it.
    [[nodiscard]] ActivityView view(const LockTable& table, Instant now,
                                    std::string_view prefix = {}) const;

private:
    struct Group {
        std::uint64_t holders = 0;
        std::uint64_t grants = 0;
    };

    void count_all(const LockTable& table);
    void set(const NamedRecord& record);
    void on(const NameChange& change, LogIndex index, Instant now);
    [[nodiscard]] Nanoseconds wait_since(std::optional<LogIndex> request, Instant now) const;

    NamePrefixes prefixes_;
    EntryTimes times_;
    ContendedNames names_;
    RecentRates rates_;
    std::vector<Group> groups_;  // of the prefixes, and of the rest
};

}  // namespace mortise::core
