// The holds of this node's program, with their modes and the ends of their max_hold (S6, S8, S27).
#pragma once

#include <cstddef>
#include <memory>
#include <optional>
#include <set>
#include <utility>
#include <vector>

#include "core/agent/open_calls.hpp"
#include "core/base/compact_text.hpp"
#include "core/base/instant.hpp"
#include "core/base/paged_set.hpp"

namespace mortise::core {

// Most have one name and were never converted: what the others have is in a block of its own.
class Held {
public:
    struct Conversions {
        Seq converted_by;            // the request that set `mode`; not set: the grant
        std::size_t downgrades = 0;  // requested and not answered
        CallTag upgrade;             // the call that waits for its upgrade
        Seq unsettled;               // an abandoned upgrade whose Cancel is not answered yet
        CallTag held_back;           // the next upgrade, which waits for that answer
    };

    Held() = default;
    // `ends`: its max_hold, on the boot clock (S8).
    Held(Names names, LockMode granted, bool suspends = false, Instant ends = Instant::never());

    [[nodiscard]] std::size_t size() const {
        return rare().names.empty() ? 1 : rare().names.size();
    }
    [[nodiscard]] Names names() const;
    [[nodiscard]] bool suspends() const { return suspends_; }
    [[nodiscard]] Instant ends() const { return rare().ends; }
    [[nodiscard]] const Conversions& conversions() const { return rare().conversions; }
    [[nodiscard]] Conversions& conversions();

    LockMode mode = LockMode::exclusive;    // of a hold with one name, by the newest answer
    LockMode wanted = LockMode::exclusive;  // the mode that its owner assumes

private:
    struct Rare {
        Names names;  // if there are several
        Instant ends = Instant::never();
        Conversions conversions;
    };
    [[nodiscard]] const Rare& rare() const;

    bool suspends_ = false;
    std::unique_ptr<Rare> rare_;
    CompactText name_;  // if there is one
};

class HeldLocks {
public:
    void add(Seq operation, Held held);
    [[nodiscard]] bool contains(Seq operation) const { return held_.contains(operation); }
    // Null if there is no such hold. The pointer is valid until a hold is added or taken.
    [[nodiscard]] const Held* find(Seq operation) const {
        const auto* found = held_.find(operation);
        return found == nullptr ? nullptr : &found->value;
    }
    [[nodiscard]] Held* find(Seq operation) {
        return const_cast<Held*>(std::as_const(*this).find(operation));
    }
    [[nodiscard]] std::optional<Held> take(Seq operation);
    // All holds for which `is_meant(held)` is true, or all holds, in ascending order.
    template <class IsMeant>
    [[nodiscard]] std::vector<Seq> those(const IsMeant& is_meant) const {
        std::vector<Seq> found;
        for (const auto& [operation, held] : held_) {
            if (is_meant(held)) found.push_back(operation);
        }
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
    PagedMap<Seq, Held> held_;
    std::size_t names_ = 0;
    std::set<std::pair<Instant, Seq>> by_end_;  // holds with a max_hold
    std::set<Seq> uncounted_;                   // the same, not counted by the cluster yet
};

}  // namespace mortise::core
