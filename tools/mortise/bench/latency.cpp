#include "tools/mortise/bench/latency.hpp"

#include <algorithm>
#include <cstdint>

namespace mortise::cli {

Quantiles Latency::quantiles() {
    if (samples_.empty()) return {};
    std::ranges::sort(samples_);
    const auto at = [this](std::size_t per_mille) {
        const auto rank = (samples_.size() * per_mille + 999) / 1000;
        return samples_[std::max<std::size_t>(rank, 1) - 1];
    };
    return {samples_.size(), at(500), at(900), at(990), at(999), samples_.back()};
}

Json json_of(const Quantiles& quantiles) {
    return {{"count", quantiles.count},          {"p50_ns", quantiles.p50.count()},
            {"p90_ns", quantiles.p90.count()},   {"p99_ns", quantiles.p99.count()},
            {"p999_ns", quantiles.p999.count()}, {"max_ns", quantiles.max.count()}};
}

Quantiles quantiles_in(const Json& json) {
    const auto time = [&](const char* key) {
        return std::chrono::nanoseconds{json.at(key).get<std::int64_t>()};
    };
    return {json.at("count"), time("p50_ns"),  time("p90_ns"),
            time("p99_ns"),   time("p999_ns"), time("max_ns")};
}

}  // namespace mortise::cli
