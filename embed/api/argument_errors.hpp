// Why a request is invalid, in words: the reason of a LockError with invalid_argument.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string_view>

#include <mortise/detail/start.hpp>

namespace mortise::detail {

// Why no cluster would accept the order; empty if it is valid. The code of the call comes from it,
// and so do the words.
[[nodiscard]] std::string_view unsound_arguments(const AcquireOrder& order);
// The same for an order that failed: with what only its locker knew.
[[nodiscard]] std::string_view unsound_part(const AcquireOrder& order);
// The name that an error of the order is about: of several names the one that is not valid, or the
// first one.
[[nodiscard]] std::string_view blamed_name(const AcquireOrder& order);
[[nodiscard]] std::string_view unsound_name(std::string_view name);
[[nodiscard]] std::string_view unsound_label(std::string_view label);
// For Node::list and Node::observe.
[[nodiscard]] std::string_view unsound_prefix(std::string_view prefix);
[[nodiscard]] std::string_view unsound_lock_value(std::string_view bytes);
// `least` is the lowest valid limit of a semaphore.
[[nodiscard]] std::string_view unsound_limit(std::uint32_t limit, std::uint32_t least);
// Checks what a latch is counted down by.
[[nodiscard]] std::string_view unsound_count(std::ptrdiff_t n);
// Checks the calls of a latch.
[[nodiscard]] std::string_view unsound_count_down(std::string_view name, std::ptrdiff_t n);
[[nodiscard]] std::string_view unsound_wait(std::string_view name, const WaitOptions& options);
// Checks the call of a party at a barrier: whether it may wait at all, and its options.
[[nodiscard]] std::string_view unsound_arrival(std::string_view name, bool has_time,
                                               const WaitOptions& options);
// Checks the change of a semaphore's limit.
[[nodiscard]] std::string_view unsound_resize(std::string_view name, std::uint32_t limit);
// For Node::request_release and Node::break_lock.
[[nodiscard]] std::string_view unsound_reason(std::string_view name, std::string_view reason);
[[nodiscard]] std::string_view unsound_break(std::string_view name, FencingToken expected,
                                             std::string_view reason, BreakMode mode);
[[nodiscard]] std::string_view unsound_eviction(SessionId session, std::string_view reason,
                                                BreakMode mode);

}  // namespace mortise::detail
