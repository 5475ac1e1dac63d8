// What happened in the last quarter of an hour, in slots of ten seconds: how many holds began and
// ended, how long requests waited and holds lasted, and how many waited at most. Its memory does
// not depend on how much happens.
#pragma once

#include <array>
#include <chrono>
#include <cstddef>
#include <cstdint>
#include <vector>

#include "core/base/instant.hpp"
#include "core/observe/activity_view.hpp"

namespace mortise::core {

// Counts times in two buckets for each power of two of microseconds, up to 12 days; longer ones
// count in the last bucket.
class TimeCounts {
public:
    void add(Nanoseconds time) { ++counts_[bucket_of(time)]; }
    void add(const TimeCounts& other);
    [[nodiscard]] std::uint64_t total() const;
    // The upper bound of the bucket that has the given part of all times in it or before it. Zero
    // if there are none.
    [[nodiscard]] Nanoseconds quantile(double part) const;

private:
    static constexpr std::size_t buckets = 82;
    [[nodiscard]] static std::size_t bucket_of(Nanoseconds time);
    [[nodiscard]] static Nanoseconds bound_of(std::size_t bucket);

    std::array<std::uint32_t, buckets> counts_{};
};

class RecentRates {
public:
    static constexpr Nanoseconds slot_length = std::chrono::seconds{10};
    static constexpr std::size_t slots = 90;

    explicit RecentRates(Instant now) : began_{now}, slots_(slots) {}

    // Called before the others; times do not descend. `waiters`: how many have waited since the
    // last call.
    void advance(Instant now, std::size_t waiters);
    void granted(Nanoseconds waited) {
        ++slot().grants;
        slot().waits.add(waited);
    }
    // It is not known how long the request waited.
    void granted() { ++slot().grants; }
    void released() { ++slot().releases; }
    void lost() { ++slot().losses; }
    void ended_after(Nanoseconds held) { slot().holds.add(held); }
    // So many wait from now on.
    void wait(std::size_t waiters) {
        if (waiters > slot().waiters_max) slot().waiters_max = waiters;
    }

    // The slots from the oldest one to the present one.
    [[nodiscard]] std::vector<Rates> each(Instant now, std::size_t waiters) const;
    // All of them together.
    [[nodiscard]] Rates together(Instant now, std::size_t waiters) const;

private:
    struct Slot {
        std::uint64_t grants = 0;
        std::uint64_t releases = 0;
        std::uint64_t losses = 0;
        std::uint64_t waiters_max = 0;
        TimeCounts waits{};
        TimeCounts holds{};
    };

    [[nodiscard]] Slot& slot() { return slots_[newest_ % slots]; }
    [[nodiscard]] std::int64_t number_at(Instant now) const { return (now - began_) / slot_length; }
    template <class Visit>
    void visit(Instant now, std::size_t waiters, const Visit& visit) const;

    Instant began_;
    std::uint64_t newest_ = 0;  // the number of the present slot
    Instant ends_ = began_ + slot_length;
    std::vector<Slot> slots_;
};

}  // namespace mortise::core
