#include "core/locks/deadlock/ahead.hpp"

#include <algorithm>
#include <iterator>
#include <limits>

namespace mortise::core {

Ahead::Ahead(const WaitQueue& queue, const Waiter& waiter)
    : queue_{queue}, waiter_{waiter}, own_{queue.barriers_.lower_bound(waiter.ticket)} {}

Ticket Ahead::barrier_before(ModeQueue::const_iterator barrier) const {
    return barrier == queue_.barriers_.begin() ? Ticket{} : std::prev(barrier)->first;
}

// For each mode queue the waiters of that stretch that are in front of the waiter.
std::vector<Ahead::Span> Ahead::spans(const Stretch& stretch) const {
    constexpr Ticket never{LogIndex{std::numeric_limits<std::uint64_t>::max()}, 0};
    const bool has_end = stretch.barrier != queue_.barriers_.end();
    const auto below = has_end ? stretch.barrier->first : never;
    // A barrier overtakes nothing, so all that came before it are in front of it.
    const bool ranked = is_own(stretch) && waiter_.part != Part::all_of;
    std::vector<Span> spans;
    spans.reserve(queue_.mode_queues_.size());
    for (const auto& [key, queue] : queue_.mode_queues_) {
        auto limit = below;
        if (ranked) limit = std::min(limit, queue_.limit_before(key, queue_.rank_of(waiter_)));
        if (limit <= stretch.above) continue;
        const Span span{key, queue.upper_bound(stretch.above), queue.lower_bound(limit)};
        if (span.begin != span.end) spans.push_back(span);
    }
    return spans;
}

const Waiter* Ahead::next(const WaitKinds& kinds) {
    if (!barrier_) {
        barrier_ = own_;
        spans_ = spans({own_, barrier_before(own_)});
    }
    for (;;) {
        std::erase_if(spans_, [&](const Span& span) {
            return span.begin == span.end || !kinds.contains(span.key.mode, false);
        });
        const auto last = [&](const Span& span) {
            return queue_.rank_of(std::prev(span.end)->second);
        };
        const auto nearest = std::ranges::max_element(spans_, {}, last);
        if (nearest != spans_.end()) return &(--nearest->end)->second;
        if (*barrier_ == queue_.barriers_.begin()) return nullptr;
        --*barrier_;
        spans_ = spans({*barrier_, barrier_before(*barrier_)});
        const auto& barrier = (*barrier_)->second;
        if (kinds.contains(barrier.mode, true)) return &barrier;
    }
}

}  // namespace mortise::core
