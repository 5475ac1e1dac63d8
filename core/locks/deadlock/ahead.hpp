// The waiters in front of a given one, in the order in which a queue is served (wait_queue.hpp):
// those that go before it in its own stretch between two barriers, and all in earlier stretches
// (S32).
#pragma once

#include <cstdint>
#include <optional>
#include <vector>

#include "core/locks/table/wait_queue.hpp"

namespace mortise::core {

// Modes, of barriers and of other waiters.
class WaitKinds {
public:
    [[nodiscard]] bool contains(LockMode mode, bool is_barrier) const {
        return (bits_ & bit(mode, is_barrier)) != 0;
    }
    void add(LockMode mode, bool is_barrier) {
        bits_ = static_cast<std::uint16_t>(bits_ | bit(mode, is_barrier));
    }
    void remove(LockMode mode, bool is_barrier) {
        bits_ = static_cast<std::uint16_t>(bits_ & ~bit(mode, is_barrier));
    }

private:
    static unsigned bit(LockMode mode, bool is_barrier) {
        return 1U << (2 * static_cast<unsigned>(mode) + (is_barrier ? 1 : 0));
    }
    std::uint16_t bits_ = 0;
};

// Valid until the queue changes.
class Ahead {
public:
    // The waiter must be in the queue.
    Ahead(const WaitQueue& queue, const Waiter& waiter);

    // The nearest one in front, of these kinds, that was not returned yet; null if there is none.
    // The set of kinds may shrink from call to call.
    [[nodiscard]] const Waiter* next(const WaitKinds& kinds);
    // The first of all in front that is of these kinds and that `accepts` accepts.
    template <class Accepts>
    [[nodiscard]] const Waiter* first(const WaitKinds& kinds, const Accepts& accepts) const;

private:
    using ModeQueue = WaitQueue::ModeQueue;
    struct Span {  // within a mode queue
        WaitQueue::QueueKey key;
        ModeQueue::const_iterator begin;
        ModeQueue::const_iterator end;
    };
    // A part of the queue between two barriers.
    struct Stretch {
        ModeQueue::const_iterator barrier;  // the one that ends it, or the end
        Ticket above;                       // the barrier before
    };

    [[nodiscard]] Ticket barrier_before(ModeQueue::const_iterator barrier) const;
    [[nodiscard]] bool is_own(const Stretch& stretch) const { return stretch.barrier == own_; }
    [[nodiscard]] std::vector<Span> spans(const Stretch& stretch) const;

    const WaitQueue& queue_;
    const Waiter& waiter_;
    ModeQueue::const_iterator own_;                     // the end of the waiter's own stretch
    std::optional<ModeQueue::const_iterator> barrier_;  // the end of the present stretch
    std::vector<Span> spans_;                           // the part of it that was not returned yet
};

template <class Accepts>
const Waiter* Ahead::first(const WaitKinds& kinds, const Accepts& accepts) const {
    Stretch stretch{queue_.barriers_.begin(), {}};
    for (;; ++stretch.barrier) {
        const Waiter* first = nullptr;
        for (const auto& span : spans(stretch)) {
            if (!kinds.contains(span.key.mode, false)) continue;
            auto place = span.begin;
            while (place != span.end && !accepts(place->second))
                ++place;
            if (place == span.end) continue;
            const auto& found = place->second;
            if (first == nullptr || queue_.rank_of(found) < queue_.rank_of(*first)) first = &found;
        }
        if (first != nullptr || is_own(stretch)) return first;
        const auto& barrier = stretch.barrier->second;
        if (kinds.contains(barrier.mode, true) && accepts(barrier)) return &barrier;
        stretch.above = stretch.barrier->first;
    }
}

}  // namespace mortise::core
