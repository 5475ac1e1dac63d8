#pragma once

#include <cstdint>

#include <mortise.h>

#include <mortise/detail/start.hpp>
#include <mortise/duration.hpp>
#include <mortise/enums.hpp>
#include <mortise/options.hpp>
#include <mortise/wait_options.hpp>

namespace mortise::capi {

// Null is the default of every option.
[[nodiscard]] AcquireOptions options_of(const mortise_acquire_options* given);

// INT64_MAX is no limit; `what` says what is wrong with a negative time.
[[nodiscard]] Duration time_of(std::int64_t ns, const char* what);

// The end of a wait of that length that begins now; INT64_MAX has no end.
[[nodiscard]] detail::Deadline deadline_of(std::int64_t wait_max_ns);

// Null is the default of every option.
[[nodiscard]] WaitOptions wait_options_of(const mortise_wait_options* given);

[[nodiscard]] mortise_mode mode_of(LockMode mode) noexcept;
// `what` says what is wrong with a number that is no mode.
[[nodiscard]] LockMode lock_mode(mortise_mode mode, const char* what);

}  // namespace mortise::capi
