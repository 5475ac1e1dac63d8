#include <algorithm>
#include <cmath>

#include "embed/values/duration_buckets.hpp"
#include <mortise/metrics.hpp>

namespace mortise {

Duration DurationHistogram::bound(std::size_t bucket) noexcept {
    if (bucket >= bounds_count) return Duration::max();
    return std::chrono::nanoseconds{detail::duration_bounds[bucket]};
}

Duration DurationHistogram::quantile(double part) const noexcept {
    const auto all = total();
    if (all == 0) return {};
    const auto rank = std::ceil(std::clamp(part, 0.0, 1.0) * static_cast<double>(all));
    std::uint64_t seen = 0;
    std::size_t bucket = 0;
    for (; bucket < bounds_count; ++bucket) {
        seen += counts[bucket];
        if (seen > 0 && static_cast<double>(seen) >= rank) break;
    }
    return bound(bucket);
}

}  // namespace mortise
