// When the age of a hold or of a wait is worth a warning: at the limit, and each time that it has
// doubled since.
#pragma once

#include <bit>
#include <cstdint>

#include "core/base/instant.hpp"

namespace mortise::detail {

class AgeLimit {
public:
    // Zero: no age is worth one.
    explicit AgeLimit(core::Nanoseconds limit) : limit_{limit} {}

    [[nodiscard]] bool is_set() const { return limit_.count() > 0; }
    // How many warnings there should have been at that age.
    [[nodiscard]] std::uint8_t warnings_at(core::Nanoseconds age) const {
        if (!is_set() || age < limit_) return 0;
        return static_cast<std::uint8_t>(std::bit_width(static_cast<std::uint64_t>(age / limit_)));
    }
    // True if one is due; `given` is then the number of those that there should have been. After a
    // pause it is one warning, however many were missed.
    [[nodiscard]] bool is_due(core::Nanoseconds age, std::uint8_t& given) const {
        const auto due = warnings_at(age);
        if (due <= given) return false;
        given = due;
        return true;
    }

    // How long it takes from that age until another one is due.
    [[nodiscard]] core::Nanoseconds until_next(core::Nanoseconds age) const {
        const auto given = warnings_at(age);
        return (given == 0 ? limit_ : limit_ * (std::int64_t{1} << given)) - age;
    }

private:
    core::Nanoseconds limit_;
};

}  // namespace mortise::detail
