#pragma once

#include <chrono>
#include <cstddef>
#include <vector>

#include "tools/mortise/json_form.hpp"

namespace mortise::cli {

struct Quantiles {
    std::size_t count = 0;
    std::chrono::nanoseconds p50{};
    std::chrono::nanoseconds p90{};
    std::chrono::nanoseconds p99{};
    std::chrono::nanoseconds p999{};
    std::chrono::nanoseconds max{};
};

// Keeps every sample: nothing is rounded into buckets.
class Latency {
public:
    void add(std::chrono::nanoseconds sample) { samples_.push_back(sample); }
    // Quantile q is the smallest sample that a fraction q of the samples does not exceed.
    [[nodiscard]] Quantiles quantiles();

private:
    std::vector<std::chrono::nanoseconds> samples_;
};

[[nodiscard]] Json json_of(const Quantiles& quantiles);
[[nodiscard]] Quantiles quantiles_in(const Json& json);

}  // namespace mortise::cli
