#include "core/observe/recent_rates.hpp"

#include <algorithm>
#include <bit>
#include <numeric>

namespace mortise::core {

// --- times --------------------------------------------------------------------------------------

// Bucket 0 has less than a microsecond, and stands for zero. The bounds of the others are 2, 3, 4,
// 6, 8, 12, 16, ... microseconds; bucket 1 is empty.
std::size_t TimeCounts::bucket_of(Nanoseconds time) {
    const auto us = std::chrono::duration_cast<std::chrono::microseconds>(time).count();
    if (us < 1) return 0;
    const auto value = static_cast<std::uint64_t>(us);
    const auto power = static_cast<std::size_t>(std::bit_width(value)) - 1;
    const auto half = power == 0 ? 1U : (value >> (power - 1)) & 1U;
    return std::min<std::size_t>(1 + 2 * power + half, buckets - 1);
}

Nanoseconds TimeCounts::bound_of(std::size_t bucket) {
    if (bucket == 0) return Nanoseconds{0};
    const auto power = (bucket - 1) / 2;
    const std::uint64_t whole = std::uint64_t{1} << power;
    const bool is_lower = (bucket - 1) % 2 == 0;
    return std::chrono::microseconds{is_lower ? whole + whole / 2 : 2 * whole};
}

void TimeCounts::add(const TimeCounts& other) {
    for (std::size_t bucket = 0; bucket < buckets; ++bucket)
        counts_[bucket] += other.counts_[bucket];
}

std::uint64_t TimeCounts::total() const {
    return std::accumulate(counts_.begin(), counts_.end(), std::uint64_t{0});
}

Nanoseconds TimeCounts::quantile(double part) const {
    const auto wanted = part * static_cast<double>(total());
    std::uint64_t so_far = 0;
    for (std::size_t bucket = 0; bucket < buckets; ++bucket) {
        so_far += counts_[bucket];
        if (so_far != 0 && static_cast<double>(so_far) >= wanted) return bound_of(bucket);
    }
    return Nanoseconds{0};
}

namespace {

TimesOf times_of(const TimeCounts& counts) {
    return {counts.quantile(0.5), counts.quantile(0.99)};
}

}  // namespace

// --- slots --------------------------------------------------------------------------------------

// In slots in which nothing happened as many waited as before.
void RecentRates::advance(Instant now, std::size_t waiters) {
    if (now < ends_) return;
    const auto number = static_cast<std::uint64_t>(number_at(now));
    for (auto passed = std::min<std::uint64_t>(number - newest_, slots); passed != 0; --passed)
        slots_[(number - passed + 1) % slots] = {.waiters_max = waiters};
    newest_ = number;
    ends_ = began_ + slot_length * static_cast<std::int64_t>(number + 1);
}

// Passes each slot with its length, the oldest first. `now` may be slots after the last advance().
template <class Visit>
void RecentRates::visit(Instant now, std::size_t waiters, const Visit& visit) const {
    const Slot idle{.waiters_max = waiters};
    const auto last = std::max(static_cast<std::uint64_t>(number_at(now)), newest_);
    const auto first = last < slots ? 0 : last - slots + 1;
    for (auto number = first; number <= last; ++number) {
        const auto begin = began_ + slot_length * static_cast<std::int64_t>(number);
        const auto length = std::clamp<Nanoseconds>(now - begin, Nanoseconds{0}, slot_length);
        visit(number <= newest_ ? slots_[number % slots] : idle, length);
    }
}

std::vector<Rates> RecentRates::each(Instant now, std::size_t waiters) const {
    std::vector<Rates> all;
    visit(now, waiters, [&](const Slot& slot, Nanoseconds length) {
        all.push_back({length, slot.grants, slot.releases, slot.losses, slot.waiters_max,
                       times_of(slot.waits), times_of(slot.holds)});
    });
    return all;
}

Rates RecentRates::together(Instant now, std::size_t waiters) const {
    Rates all;
    TimeCounts waits;
    TimeCounts holds;
    visit(now, waiters, [&](const Slot& slot, Nanoseconds length) {
        all.length += length;
        all.grants += slot.grants;
        all.releases += slot.releases;
        all.losses += slot.losses;
        all.waiters_max = std::max(all.waiters_max, slot.waiters_max);
        waits.add(slot.waits);
        holds.add(slot.holds);
    });
    all.wait = times_of(waits);
    all.hold = times_of(holds);
    return all;
}

}  // namespace mortise::core
