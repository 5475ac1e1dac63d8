#include "core/locks/table/wait_queue.hpp"

#include <algorithm>
#include <limits>
#include <tuple>
#include <utility>

#include "core/base/check.hpp"
#include "core/locks/limits.hpp"

namespace mortise::core {

namespace {

constexpr unsigned top_class = priority_max + 1;
constexpr std::size_t overtakings_per_class = 8;  // S29
// A waiter that was overtaken this often is in the top class, whatever its priority is.
constexpr std::size_t overtakings_max = overtakings_per_class * top_class;
// The ticket of a waiter that comes after all others.
constexpr Ticket last_ticket{LogIndex{std::numeric_limits<std::uint64_t>::max()}, 0};

}  // namespace

void WaitQueue::add(const Conversion& conversion) {
    MORTISE_CHECK(!conversion_);
    conversion_ = conversion;
}

Conversion WaitQueue::remove_conversion() {
    MORTISE_CHECK(conversion_);
    return *std::exchange(conversion_, std::nullopt);
}

void WaitQueue::add(Waiter waiter) {
    const bool is_barrier = waiter.part == Part::all_of;
    auto& queue = is_barrier ? barriers_ : mode_queues_[{waiter.priority, waiter.mode}];
    const auto ticket = waiter.ticket;
    const bool added = queue.emplace(ticket, std::move(waiter)).second;
    MORTISE_CHECK(added);
    ++size_;
}

Waiter WaitQueue::remove(Ticket ticket) {
    for (auto queue = mode_queues_.begin(); queue != mode_queues_.end(); ++queue) {
        auto node = queue->second.extract(ticket);
        if (node.empty()) continue;
        --size_;
        if (queue->second.empty()) mode_queues_.erase(queue);
        return std::move(node.mapped());
    }
    auto node = barriers_.extract(ticket);
    MORTISE_CHECK(!node.empty());
    --size_;
    return std::move(node.mapped());
}

// --- the order ----------------------------------------------------------------------------------

bool WaitQueue::is_preferred(LockMode mode) const {
    if (policy_ == QueuePolicy::prefer_readers) return !is_writer(mode);
    return policy_ == QueuePolicy::prefer_writers && is_writer(mode);
}

Rank WaitQueue::rank(LockMode mode, Priority priority, Ticket ticket) const {
    const auto younger = std::ranges::upper_bound(overtakers_, ticket);
    const auto overtaken = static_cast<std::size_t>(overtakers_.end() - younger);
    const auto risen = static_cast<unsigned>(overtaken / overtakings_per_class);
    const auto reached = std::min(top_class, priority + risen);
    return {top_class - reached, reached < top_class && !is_preferred(mode), ticket};
}

Rank WaitQueue::rank_of_newcomer(LockMode mode, Priority priority) const {
    return rank(mode, priority, last_ticket);
}

// All waiters between two overtakers were overtaken equally often, so the interval determines their
// class.
Ticket WaitQueue::limit_before(const QueueKey& key, const Rank& place) const {
    const auto rank_at = [&](Ticket ticket) { return rank(key.mode, key.priority, ticket); };
    const auto end = std::ranges::partition_point(
        overtakers_, [&](Ticket ticket) { return rank_at(ticket) < place; });
    const auto begin = end == overtakers_.begin() ? Ticket{} : *std::prev(end);
    const auto limit = end == overtakers_.end() ? last_ticket : *end;
    const auto here = rank_at(begin);
    const auto by_class = std::tie(here.classes_above, here.is_not_preferred) <=>
                          std::tie(place.classes_above, place.is_not_preferred);
    if (by_class > 0) return {};
    return by_class < 0 ? limit : std::min(limit, place.ticket);
}

bool WaitQueue::has_behind(const Waiter& newest) const {
    if (newest.part == Part::all_of) return false;
    const auto place = rank_of(newest);
    return std::ranges::any_of(mode_queues_, [&](const auto& entry) {
        const auto& last = entry.second.rbegin()->second;
        const bool in_front = barriers_.empty() || last.ticket > barriers_.rbegin()->first;
        return in_front && place < rank_of(last);
    });
}

bool WaitQueue::has_readers() const {
    return std::ranges::any_of(mode_queues_,
                               [](const auto& entry) { return !is_writer(entry.first.mode); });
}

bool WaitQueue::has_priorities() const {
    return std::ranges::any_of(mode_queues_,
                               [](const auto& entry) { return entry.first.priority > 0; });
}

const Waiter* WaitQueue::find(Ticket ticket) const {
    for (const auto& [key, queue] : mode_queues_) {
        const auto found = queue.find(ticket);
        if (found != queue.end()) return &found->second;
    }
    const auto barrier = barriers_.find(ticket);
    return barrier == barriers_.end() ? nullptr : &barrier->second;
}

const Waiter* WaitQueue::first() const {
    return first([](LockMode) { return true; });
}

const Waiter* WaitQueue::first_reader() const {
    return first([](LockMode mode) { return !is_writer(mode); });
}

// The first waiter of a mode queue has the smallest rank in it.
bool WaitQueue::is_free_of_earlier(const Rank& rank, LockMode mode) const {
    return std::ranges::none_of(mode_queues_, [&](const auto& entry) {
        const auto& [key, queue] = entry;
        return conflict(key.mode, mode) && !is_shut(queue) && rank_of(queue.begin()->second) < rank;
    });
}

std::vector<const Waiter*> WaitQueue::in_order() const {
    std::vector<const Waiter*> all;
    all.reserve(size_);
    const auto merge = [&](const ModeQueue& queue) {
        const auto before = static_cast<std::ptrdiff_t>(all.size());
        for (const auto& [ticket, waiter] : queue)
            all.push_back(&waiter);
        std::ranges::inplace_merge(all, all.begin() + before, {}, &Waiter::ticket);
    };
    for (const auto& [key, queue] : mode_queues_)
        merge(queue);
    merge(barriers_);
    return all;
}

const Waiter* WaitQueue::head() const {
    const auto* ranked = oldest_ranked();
    if (barriers_.empty()) return ranked;
    const auto& barrier = barriers_.begin()->second;
    return ranked != nullptr && ranked->ticket < barrier.ticket ? ranked : &barrier;
}

// --- who was overtaken (S29) --------------------------------------------------------------------

const Waiter* WaitQueue::oldest_ranked() const {
    const Waiter* oldest = nullptr;
    for (const auto& [key, queue] : mode_queues_) {
        const auto& candidate = queue.begin()->second;
        if (oldest == nullptr || candidate.ticket < oldest->ticket) oldest = &candidate;
    }
    return oldest;
}

// Without priorities and preferences only batches of readers overtake, and these have their own
// bound (S31).
void WaitQueue::count_overtaking(Ticket ticket, Priority priority) {
    const bool prefers =
        policy_ == QueuePolicy::prefer_readers || policy_ == QueuePolicy::prefer_writers;
    if (priority == 0 && !prefers) return;
    const auto* first = oldest_ranked();
    if (first == nullptr || ticket < first->ticket) return;
    overtakers_.insert(std::ranges::upper_bound(overtakers_, ticket), ticket);
    if (overtakers_.size() > overtakings_max) overtakers_.erase(overtakers_.begin());
}

void WaitQueue::forget_overtakings() {
    if (overtakers_.empty()) return;
    const auto* first = oldest_ranked();
    const auto end =
        first == nullptr ? overtakers_.end() : std::ranges::upper_bound(overtakers_, first->ticket);
    overtakers_.erase(overtakers_.begin(), end);
}

bool WaitQueue::restore(Overtakers overtakers) {
    const bool rises =
        std::ranges::adjacent_find(overtakers, std::ranges::greater_equal{}) == overtakers.end();
    const bool fits =
        overtakers.size() <= overtakings_max && (overtakers.empty() || !mode_queues_.empty());
    if (rises && fits) overtakers_ = std::move(overtakers);
    return rises && fits;
}

}  // namespace mortise::core
