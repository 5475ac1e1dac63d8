// The deadlines at which calls are answered in any case. Most calls end long before, so an entry
// stays when its call ends: it is skipped, and removed when such entries outnumber the others.
#pragma once

#include <algorithm>
#include <cstddef>
#include <functional>
#include <utility>
#include <vector>

#include "core/agent/call.hpp"
#include "core/base/instant.hpp"

namespace mortise::core {

class CallDeadlines {
public:
    // With never() the call has no deadline.
    void add(CallTag call, Instant at) {
        if (at == Instant::never()) return;
        heap_.emplace_back(at, call);
        std::ranges::push_heap(heap_, std::greater<>{});
    }

    // `is_current(call, at)` says whether the call still waits with that deadline. Returns a call
    // that is due, or an unset tag.
    template <class IsCurrent>
    [[nodiscard]] CallTag take_due(Instant now, const IsCurrent& is_current) {
        drop_ended(is_current);
        return heap_.empty() || heap_.front().first > now ? CallTag{} : pop().second;
    }

    // Afterwards next() is the deadline of a waiting call.
    template <class IsCurrent>
    void drop_ended(const IsCurrent& is_current) {
        while (!heap_.empty() && !is_current(heap_.front().second, heap_.front().first))
            pop();
        if (heap_.size() < sweep_at_) return;
        std::erase_if(heap_, [&](const Entry& one) { return !is_current(one.second, one.first); });
        std::ranges::make_heap(heap_, std::greater<>{});
        sweep_at_ = std::max(sweep_min, 2 * heap_.size());
    }

    [[nodiscard]] Instant next() const {
        return heap_.empty() ? Instant::never() : heap_.front().first;
    }

private:
    using Entry = std::pair<Instant, CallTag>;
    static constexpr std::size_t sweep_min = 1'024;

    Entry pop() {
        std::ranges::pop_heap(heap_, std::greater<>{});
        const auto entry = heap_.back();
        heap_.pop_back();
        return entry;
    }

    std::vector<Entry> heap_;  // the earliest one first
    std::size_t sweep_at_ = sweep_min;
};

}  // namespace mortise::core
