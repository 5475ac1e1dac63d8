// The holds of this node's program, with their modes and the ends of their max_hold (S6, S8, S27).
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
    LockMode mode = LockMode::exclusive;    // of a hold with one name, by the newest answer
    LockMode wanted = LockMode::exclusive;  // the mode that its owner assumes
    Seq converted_by;                       // the request that set `mode`; not set: the grant
    std::size_t downgrades = 0;             // requested and not answered
    CallTag upgrade;                        // the call that waits for its upgrade
    Seq unsettled;                          // an abandoned upgrade whose Cancel is not answered yet
    CallTag held_back;                      // the next upgrade, which waits for that answer
    bool suspends = false;
    Instant ends = Instant::never();  // its max_hold, on the boot clock (S8)
};

class HeldLocks {
public:
    void add(Seq operation, Held held);
    [[nodiscard]] bool contains(Seq operation) const { return held_.contains(operation); }
    // Null if there is no such hold. The pointer is valid until a hold is added or taken.
    [[nodiscard]] Held* find(Seq operation) { return held_.find(operation); }
    [[nodiscard]] const Held* find(Seq operation) const { return held_.find(operation); }
    [[nodiscard]] std::optional<Held> take(Seq operation);
    // All holds for which `is_meant(held)` is true, or all holds, in ascending order.
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

    // A hold whose max_hold has ended; not set if there is none.
    [[nodiscard]] Seq over(Instant boot) const {
        return by_end_.empty() || by_end_.begin()->first > boot ? Seq{} : by_end_.begin()->second;
    }
    [[nodiscard]] Instant next_end() const {
        return by_end_.empty() ? Instant::never() : by_end_.begin()->first;
    }
    // The cluster counts the max_hold of that hold.
    void counted(Seq operation) { uncounted_.erase(operation); }
    // The cluster counts a max_hold from when it knows that the grant was received here. For some
    // holds it may not know that yet.
    [[nodiscard]] bool has_uncounted() const { return !uncounted_.empty(); }

    [[nodiscard]] std::size_t names() const { return names_; }

private:
    IdTable<Seq, Held> held_;
    std::size_t names_ = 0;
    std::set<std::pair<Instant, Seq>> by_end_;  // holds with a max_hold
    std::set<Seq> uncounted_;                   // the same, not counted by the cluster yet
};

}  // namespace mortise::core
