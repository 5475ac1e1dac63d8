// Which requests the console answers at all: only those that no other web site can have made a
// browser send. Pure functions.
#pragma once

#include <cstddef>
#include <optional>

#include <httplib.h>

#include "embed/http/request_guard.hpp"

namespace mortise::console {

using http::OwnNames;
using http::Refusal;

// Empty if the request may be answered.
[[nodiscard]] std::optional<Refusal> refusal(const httplib::Request& request,
                                             const OwnNames& names);
// What is asked of a request that changes something, beyond refusal().
[[nodiscard]] std::optional<Refusal> change_refusal(const httplib::Request& request);

// The longest body of a request.
inline constexpr std::size_t body_bytes_max = 8 << 10U;

}  // namespace mortise::console
