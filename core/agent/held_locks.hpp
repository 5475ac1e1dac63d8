// What this node's program holds, in which mode, and for how long (S6, S8, S27).
#pragma once

#include <algorithm>
#include <cstddef>
#include <optional>
#include <set>
#include <utility>
#include <vector>

#include "core/agent/open_calls.hpp"
#include "core/base/id_table.hpp"
#include "core/base/instant.hpp"

namespace mortise::core {

struct Held {
    Names names;
    LockMode mode = LockMode::exclusive;    // of one name, by the newest answer
    LockMode wanted = LockMode::exclusive;  // as its owner believes to have it
    Seq converted_by;                       // what made that mode; not set: as it was granted
    std::size_t downgrades = 0;             // asked for and not answered
    CallTag upgrade;                        // the call that waits to upgrade it
    Seq unsettled;      // an upgrade that was given up, until the end of that is known
    CallTag held_back;  // the upgrade that has to wait for that
    bool suspends = false;
    Instant ends = Instant::never();  // of the boot clock (S8)
};

class HeldLocks {
public:
    void add(Seq operation, Held held);
    [[nodiscard]] bool contains(Seq operation) const { return held_.contains(operation); }
    // Null when it is not held. Valid until one is added or taken.
    [[nodiscard]] Held* find(Seq operation) { return held_.find(operation); }
    [[nodiscard]] const Held* find(Seq operation) const { return held_.find(operation); }
    [[nodiscard]] std::optional<Held> take(Seq operation);
    // All that `is_meant(held)`, or all, rising.
    template <class IsMeant>
    [[nodiscard]] std::vector<Seq> those(const IsMeant& is_meant) const {
        std::vector<Seq> found;
        held_.each([&](Seq operation, const Held& held) {
            if (is_meant(held)) found.push_back(operation);
        });
        std::ranges::sort(found);
        return found;
    }
    [[nodiscard]] std::vector<Seq> all() const {
        return those([](const Held&) { return true; });
    }

    // One whose max_hold is over; not set: there is none.
    [[nodiscard]] Seq over(Instant boot) const {
        return by_end_.empty() || by_end_.begin()->first > boot ? Seq{} : by_end_.begin()->second;
    }
    [[nodiscard]] Instant next_end() const {
        return by_end_.empty() ? Instant::never() : by_end_.begin()->first;
    }
    // The cluster counts the max_hold of that one.
    void counted(Seq operation) { uncounted_.erase(operation); }
    // Of some it may not know yet that they were received here, and counts from when it does.
    [[nodiscard]] bool has_uncounted() const { return !uncounted_.empty(); }

    [[nodiscard]] std::size_t names() const { return names_; }

private:
    IdTable<Seq, Held> held_;
    std::size_t names_ = 0;
    std::set<std::pair<Instant, Seq>> by_end_;  // those with a max_hold
    std::set<Seq> uncounted_;                   // likewise
};

}  // namespace mortise::core
