// Counts latencies in buckets whose width grows with the value: 128 buckets for every power of two,
// so that a quantile is at most 0.8 % too high.
#pragma once

#include <algorithm>
#include <array>
#include <bit>
#include <chrono>
#include <cstddef>
#include <cstdint>

#include <nlohmann/json.hpp>

namespace mortise::bench {

class Histogram {
public:
    void add(std::chrono::nanoseconds sample) {
        const auto value = std::max<std::int64_t>(sample.count(), 0);
        ++counts_[index_of(std::min(static_cast<std::uint64_t>(value), value_max_))];
    }
    void add(const Histogram& other) {
        for (std::size_t i = 0; i < counts_.size(); ++i)
            counts_[i] += other.counts_[i];
    }
    // [[highest nanoseconds of the bucket, count], ...]; empty buckets are left out.
    [[nodiscard]] nlohmann::json to_json() const {
        auto json = nlohmann::json::array();
        for (std::size_t i = 0; i < counts_.size(); ++i)
            if (counts_[i] != 0) json.push_back({highest_of(i), counts_[i]});
        return json;
    }

    [[nodiscard]] static constexpr std::size_t index_of(std::uint64_t value) {
        const auto bits = static_cast<std::size_t>(std::bit_width(value));
        const std::size_t shift = bits > fine_bits_ + 1 ? bits - fine_bits_ - 1 : 0;
        return (shift << fine_bits_) + static_cast<std::size_t>(value >> shift);
    }
    [[nodiscard]] static constexpr std::uint64_t highest_of(std::size_t index) {
        if (index < 2 * fine_) return index;
        const std::size_t shift = (index >> fine_bits_) - 1;
        const std::uint64_t first = index - (shift << fine_bits_);
        return ((first + 1) << shift) - 1;
    }

private:
    static constexpr std::size_t fine_bits_ = 7;
    static constexpr std::size_t fine_ = std::size_t{1} << fine_bits_;
    static constexpr std::uint64_t value_max_ = (std::uint64_t{1} << 42U) - 1;  // 73 minutes

    std::array<std::uint64_t, 37 * fine_> counts_{};
};

static_assert(Histogram::index_of(255) == 255 && Histogram::highest_of(255) == 255);
static_assert(Histogram::highest_of(Histogram::index_of(256)) == 257);
static_assert(Histogram::highest_of(Histogram::index_of(1'000'000)) == 1'003'519);
static_assert(Histogram::index_of((std::uint64_t{1} << 42U) - 1) < std::size_t{37} * 128);

}  // namespace mortise::bench
