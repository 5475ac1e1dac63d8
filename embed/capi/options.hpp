#pragma once

#include <mortise.h>

#include <mortise/duration.hpp>
#include <mortise/enums.hpp>
#include <mortise/options.hpp>

namespace mortise::capi {

// Null is the default of every option.
[[nodiscard]] AcquireOptions options_of(const mortise_acquire_options* given);

// INT64_MAX is no limit; `what` says what is wrong with a negative time.
[[nodiscard]] Duration time_of(std::int64_t ns, const char* what);

[[nodiscard]] mortise_mode mode_of(LockMode mode) noexcept;

}  // namespace mortise::capi
