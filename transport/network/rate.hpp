// A limit per second, and of a burst.
#pragma once

#include <algorithm>
#include <cstddef>

#include "core/base/instant.hpp"

namespace mortise::transport {

class Rate {
public:
    explicit Rate(std::size_t per_second) : per_second_{static_cast<double>(per_second)} {}

    // Returns false if the limit is reached. `now` must not decrease.
    [[nodiscard]] bool take(core::Instant now) {
        if (!has_one(now)) return false;
        left_ -= 1;
        return true;
    }
    // Whether take() would return true.
    [[nodiscard]] bool has_one(core::Instant now) {
        const std::chrono::duration<double> passed = now - counted_;
        left_ =
            has_begun_ ? std::min(per_second_, left_ + passed.count() * per_second_) : per_second_;
        has_begun_ = true;
        counted_ = now;
        return left_ >= 1;
    }

private:
    double per_second_;
    double left_ = 0;
    bool has_begun_ = false;
    core::Instant counted_;
};

}  // namespace mortise::transport
