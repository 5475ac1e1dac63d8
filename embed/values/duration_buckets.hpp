// Counting durations in a DurationHistogram: no loop and no memory, for the way of every call.
#pragma once

#include <array>
#include <atomic>
#include <bit>
#include <chrono>
#include <cstddef>
#include <cstdint>

#include <mortise/metrics.hpp>

namespace mortise::detail {

// 1, 2 and 5 times each power of ten, in nanoseconds, from a microsecond on.
constexpr auto make_duration_bounds() {
    std::array<std::uint64_t, DurationHistogram::bounds_count> bounds{};
    std::uint64_t power = 1'000;
    for (std::size_t i = 0; i < bounds.size(); i += 3, power *= 10) {
        bounds.at(i) = power;
        bounds.at(i + 1) = 2 * power;
        bounds.at(i + 2) = 5 * power;
    }
    return bounds;
}
constexpr auto duration_bounds = make_duration_bounds();

// For each number of bits: the bucket of the shortest duration that has so many. A bound is at
// least twice the one before it, so at most one bound has so many bits as well.
constexpr auto make_first_buckets() {
    std::array<std::uint8_t, 65> first{};
    for (std::size_t bits = 1; bits < first.size(); ++bits) {
        const auto shortest = std::uint64_t{1} << (bits - 1);
        std::uint8_t bucket = 0;
        while (bucket < duration_bounds.size() && duration_bounds.at(bucket) < shortest)
            ++bucket;
        first.at(bits) = bucket;
    }
    return first;
}
constexpr auto first_buckets = make_first_buckets();

constexpr std::size_t bucket_of(std::uint64_t ns) noexcept {
    const std::size_t bucket = first_buckets[static_cast<std::size_t>(std::bit_width(ns))];
    return bucket < duration_bounds.size() && duration_bounds[bucket] < ns ? bucket + 1 : bucket;
}

// A negative duration counts as zero: it is the difference of two clocks that were not read at
// once.
constexpr std::uint64_t counted_ns(std::chrono::nanoseconds took) noexcept {
    return took.count() > 0 ? static_cast<std::uint64_t>(took.count()) : 0;
}
constexpr std::uint64_t rounded_us(std::uint64_t ns) noexcept {
    return (ns + 500) / 1'000;
}

// For a histogram that one thread uses.
inline void count(DurationHistogram& histogram, std::chrono::nanoseconds took) noexcept {
    const auto ns = counted_ns(took);
    ++histogram.counts[bucket_of(ns)];
    histogram.sum_us += rounded_us(ns);
}

inline void add(DurationHistogram& sum, const DurationHistogram& more) noexcept {
    for (std::size_t i = 0; i < sum.counts.size(); ++i)
        sum.counts[i] += more.counts[i];
    sum.sum_us += more.sum_us;
}

// For a histogram that several threads use: thread-safe. A reader may see a part of what another
// thread is counting.
class SharedHistogram {
public:
    void count(std::chrono::nanoseconds took) noexcept {
        const auto ns = counted_ns(took);
        counts_[bucket_of(ns)].fetch_add(1, std::memory_order_relaxed);
        sum_us_.fetch_add(rounded_us(ns), std::memory_order_relaxed);
    }
    [[nodiscard]] DurationHistogram read() const noexcept {
        DurationHistogram read;
        for (std::size_t i = 0; i < counts_.size(); ++i)
            read.counts[i] = counts_[i].load(std::memory_order_relaxed);
        read.sum_us = sum_us_.load(std::memory_order_relaxed);
        return read;
    }

private:
    std::array<std::atomic<std::uint64_t>, DurationHistogram::bounds_count + 1> counts_{};
    std::atomic<std::uint64_t> sum_us_ = 0;
};

}  // namespace mortise::detail
