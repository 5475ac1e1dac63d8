// Why a request is invalid, in words: the reason of a LockError with invalid_argument.
#pragma once

#include <cstdint>
#include <string_view>

#include <mortise/detail/start.hpp>

namespace mortise::detail {

// Why no cluster would accept the order; empty if it is valid.
[[nodiscard]] std::string_view unsound_part(const AcquireOrder& order);
[[nodiscard]] std::string_view unsound_name(std::string_view name);
// `least` is the lowest valid limit of a semaphore.
[[nodiscard]] std::string_view unsound_limit(std::uint32_t limit, std::uint32_t least);
// For Node::request_release and Node::break_lock.
[[nodiscard]] std::string_view unsound_reason(std::string_view name, std::string_view reason);
[[nodiscard]] std::string_view unsound_break(std::string_view name, FencingToken expected,
                                             std::string_view reason, BreakMode mode);

}  // namespace mortise::detail
