// The waiters of one name in the order in which they are served. There is a mode queue for each
// priority and mode, so that the next waiter is found by examining the first of each of them,
// without a walk through the whole queue.
//
// The order (S29, S31): by class, the highest first; within a class the kind that the policy
// prefers, if there is one; then by arrival. A waiter begins in the class of its priority, and
// moves up one for every 8 requests that came after it and were granted before it. Above the
// highest priority is one more class, which only overtaken waiters reach, and in which no kind is
// preferred: so every waiter reaches a place in which no younger one overtakes it (P9).
//
// A request for all of several names is a barrier in the queue of each (S32): it has no rank,
// nobody behind it is served before it, and it is served when nobody is in front of it.
//
// An older waiter was overtaken at least as often as a younger one. So in each mode queue the
// oldest is always the first, and how often a waiter was overtaken follows from a few numbers for
// the whole queue.
#pragma once

#include <algorithm>
#include <compare>
#include <cstdint>
#include <iterator>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "core/locks/command.hpp"

namespace mortise::core {

// A position in the log: the entry, and the command within its batch.
struct Ticket {
    LogIndex index;
    std::uint32_t place = 0;

    friend constexpr bool operator==(const Ticket&, const Ticket&) = default;
    friend constexpr auto operator<=>(const Ticket&, const Ticket&) = default;
};

// Whether a waiter's request is for one name, for one of several, or for all of them (S32).
enum class Part : std::uint8_t { alone, one_of, all_of };

struct Waiter {
    Ticket ticket;
    OperationId operation;
    LockMode mode = LockMode::exclusive;
    Priority priority = 0;
    std::string label;
    Part part = Part::alone;
    LockerTag locker{};
    HoldTerms terms{};                // of the hold, by the cluster's clocks
    std::uint32_t cached_tokens = 0;  // as in Acquire
    bool is_try = false;        // it waits for cached grants only, and its node gives it up (S43)
    std::uint32_t permits = 0;  // of a semaphore; zero: it waits for a lock
};

// An upgrade that waits. It goes before every waiter (S28), and there is at most one: that of an
// update holder, of which a name has at most one, or that of a reader beside cached grants (S43).
struct Conversion {
    Ticket ticket;
    OperationId operation;  // the Upgrade
    Seq hold;               // of the same session
};

// The smaller rank is served first.
struct Rank {
    unsigned classes_above = 0;
    bool is_not_preferred = false;
    Ticket ticket;

    friend constexpr bool operator==(const Rank&, const Rank&) = default;
    friend constexpr auto operator<=>(const Rank&, const Rank&) = default;
};

class WaitQueue {
public:
    explicit WaitQueue(QueuePolicy policy) : policy_{policy} {}

    [[nodiscard]] const std::optional<Conversion>& conversion() const { return conversion_; }
    // There must be none.
    void add(const Conversion& conversion);
    // There must be one.
    Conversion remove_conversion();

    void add(Waiter waiter);
    // There must be a waiter with that ticket.
    Waiter remove(Ticket ticket);
    // Removes every waiter for which `leaves` is true, in one pass, but not the conversion. Calls
    // it once for each, in no special order.
    template <class Leaves>
    void remove_if(const Leaves& leaves);

    [[nodiscard]] bool is_empty() const { return size_ == 0 && !conversion_; }
    // The conversion is not counted, and not included in the functions below.
    [[nodiscard]] std::size_t size() const { return size_; }

    [[nodiscard]] Rank rank_of(const Waiter& waiter) const {
        return rank(waiter.mode, waiter.priority, waiter.ticket);
    }
    // The rank of a new request.
    [[nodiscard]] Rank rank_of_newcomer(LockMode mode, Priority priority) const;

    // Null if there is no waiter with that ticket.
    [[nodiscard]] const Waiter* find(Ticket ticket) const;
    // The oldest of all.
    [[nodiscard]] const Waiter* head() const;
    // Waiters behind a barrier count, too.
    [[nodiscard]] bool has_readers() const;
    [[nodiscard]] bool has_priorities() const;
    // Returns whether another waiter is served after that one, which came last.
    [[nodiscard]] bool has_behind(const Waiter& newest) const;
    [[nodiscard]] bool has_barrier() const { return !barriers_.empty(); }

    // The first to be served among the waiters in front of every barrier for whose mode `fits` is
    // true; null if there is none.
    template <class Fits>
    [[nodiscard]] const Waiter* first(const Fits& fits) const;
    [[nodiscard]] const Waiter* first() const;
    // The oldest for which `fits` is true, anywhere in the queue.
    template <class Fits>
    [[nodiscard]] const Waiter* oldest(const Fits& fits) const;
    [[nodiscard]] const Waiter* first_writer() const { return first(is_writer); }
    [[nodiscard]] const Waiter* first_reader() const;
    // The first waiter whose mode `admits` accepts and that conflicts with no waiter before it.
    template <class Admits>
    [[nodiscard]] const Waiter* first_unhindered(const Admits& admits) const;
    // True if nobody in front of every barrier has a smaller rank and conflicts with this mode.
    [[nodiscard]] bool is_free_of_earlier(const Rank& rank, LockMode mode) const;
    // All waiters in the order of arrival, for listings.
    [[nodiscard]] std::vector<const Waiter*> in_order() const;

    // Called when a request with that ticket and priority was granted, from this queue or past it.
    void count_overtaking(Ticket ticket, Priority priority);
    // Removes the overtakings that do not matter any more.
    void forget_overtakings();
    // The tickets of the newest requests that overtook others, ascending; as many as can matter.
    using Overtakers = std::vector<Ticket>;
    [[nodiscard]] const Overtakers& overtakers() const { return overtakers_; }
    // For loading. False, without an effect, unless they ascend and are not too many.
    bool restore(Overtakers overtakers);

private:
    friend class Ahead;

    using ModeQueue = std::map<Ticket, Waiter>;
    struct QueueKey {
        Priority priority = 0;
        LockMode mode = LockMode::exclusive;
        friend constexpr auto operator<=>(const QueueKey&, const QueueKey&) = default;
    };

    [[nodiscard]] Rank rank(LockMode mode, Priority priority, Ticket ticket) const;
    // In a mode queue, exactly the waiters with smaller tickets have a smaller rank.
    [[nodiscard]] Ticket limit_before(const QueueKey& key, const Rank& rank) const;
    [[nodiscard]] bool is_preferred(LockMode mode) const;
    [[nodiscard]] const Waiter* oldest_ranked() const;
    // True if the first waiter of the queue, and so all of it, is behind a barrier.
    [[nodiscard]] bool is_shut(const ModeQueue& queue) const {
        return !barriers_.empty() && barriers_.begin()->first < queue.begin()->first;
    }
    template <class Leaves>
    void remove_if(ModeQueue& queue, const Leaves& leaves);

    QueuePolicy policy_;
    std::optional<Conversion> conversion_;
    std::map<QueueKey, ModeQueue> mode_queues_;  // none is empty
    ModeQueue barriers_;
    std::size_t size_ = 0;
    Overtakers overtakers_;
};

template <class Leaves>
void WaitQueue::remove_if(ModeQueue& queue, const Leaves& leaves) {
    size_ -= std::erase_if(queue, [&](const auto& place) { return leaves(place.second); });
}

template <class Leaves>
void WaitQueue::remove_if(const Leaves& leaves) {
    for (auto queue = mode_queues_.begin(); queue != mode_queues_.end();) {
        remove_if(queue->second, leaves);
        queue = queue->second.empty() ? mode_queues_.erase(queue) : std::next(queue);
    }
    remove_if(barriers_, leaves);
    if (mode_queues_.empty()) overtakers_.clear();
}

template <class Fits>
const Waiter* WaitQueue::first(const Fits& fits) const {
    const Waiter* first = nullptr;
    Rank best;
    for (const auto& [key, queue] : mode_queues_) {
        if (!fits(key.mode) || is_shut(queue)) continue;
        const auto& candidate = queue.begin()->second;
        const auto place = rank_of(candidate);
        if (first != nullptr && best < place) continue;
        first = &candidate;
        best = place;
    }
    return first;
}

template <class Fits>
const Waiter* WaitQueue::oldest(const Fits& fits) const {
    const Waiter* oldest = nullptr;
    const auto look_at = [&](const Waiter& waiter) {
        if (oldest == nullptr || waiter.ticket < oldest->ticket) oldest = &waiter;
    };
    for (const auto& [key, queue] : mode_queues_) {
        if (fits(key.mode)) look_at(queue.begin()->second);
    }
    const auto barrier =
        std::ranges::find_if(barriers_, [&](const auto& place) { return fits(place.second.mode); });
    if (barrier != barriers_.end()) look_at(barrier->second);
    return oldest;
}

template <class Admits>
const Waiter* WaitQueue::first_unhindered(const Admits& admits) const {
    const Waiter* first = nullptr;
    Rank best;
    for (const auto& [key, queue] : mode_queues_) {
        if (!admits(key.mode) || is_shut(queue)) continue;
        const auto& candidate = queue.begin()->second;
        const auto place = rank_of(candidate);
        if ((first != nullptr && best < place) || !is_free_of_earlier(place, key.mode)) continue;
        first = &candidate;
        best = place;
    }
    return first;
}

}  // namespace mortise::core
