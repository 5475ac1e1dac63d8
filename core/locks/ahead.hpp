// Who is in front of a waiter, in the order in which a queue is served (wait_queue.hpp): whoever
// goes before it in its own stretch between two barriers, and everybody in the stretches before
// that (S32).
#pragma once

#include <cstdint>
#include <optional>
#include <vector>

#include "core/locks/wait_queue.hpp"

namespace mortise::core {

// Modes, of barriers and of others.
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
    // Requires that it waits there.
    Ahead(const WaitQueue& queue, const Waiter& waiter);

    // The nearest in front that was not told yet, of these kinds; null when there is none. Each
    // time the kinds may be less.
    [[nodiscard]] const Waiter* next(const WaitKinds& kinds);
    // The first of all that are in front, of these kinds and that `accepts`.
    template <class Accepts>
    [[nodiscard]] const Waiter* first(const WaitKinds& kinds, const Accepts& accepts) const;

private:
    using Line = WaitQueue::Line;
    struct Span {  // of a line
        WaitQueue::LineKey key;
        Line::const_iterator begin;
        Line::const_iterator end;
    };
    // A part of the queue between two barriers.
    struct Stretch {
        Line::const_iterator barrier;  // that ends it, or the end
        Ticket above;                  // the barrier before
    };

    [[nodiscard]] Ticket barrier_before(Line::const_iterator barrier) const;
    [[nodiscard]] bool is_own(const Stretch& stretch) const { return stretch.barrier == own_; }
    [[nodiscard]] std::vector<Span> spans(const Stretch& stretch) const;

    const WaitQueue& queue_;
    const Waiter& waiter_;
    Line::const_iterator own_;                     // what ends the waiter's own stretch
    std::optional<Line::const_iterator> barrier_;  // likewise of the stretch that is being told
    std::vector<Span> spans_;                      // of that stretch, what was not told yet
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
