// Calls that wait for others and hold nothing then.
#pragma once

#include <memory>
#include <string>
#include <string_view>
#include <system_error>

#include "embed/api/acquire_order.hpp"
#include "embed/runtime/node_runtime.hpp"
#include <mortise/wait_options.hpp>

namespace mortise::detail {

struct Awaited {
    std::error_code error;
    std::string why;  // empty if the code says everything
};

// The moment at which a wait of that length ends.
[[nodiscard]] Deadline deadline_of(Duration wait_max);

// Waits until the cluster has answered the request, until the deadline (timed_out) or until
// options.cancel (cancelled). `unsound` is why the arguments are invalid; empty if they are valid.
// It does not use options.wait_max.
[[nodiscard]] Awaited await(const std::shared_ptr<NodeRuntime>& runtime, std::string_view unsound,
                            core::RequestBody body, Deadline deadline, const WaitOptions& options);

// What an inspection says of a latch: whether its count is zero, or would be if it were created
// with `expected`. Sets the error if the name is something else.
[[nodiscard]] bool is_open_latch(CallOutcome& inspected, std::ptrdiff_t expected);

// What the cluster means with an error of a valid order; empty if the code says everything.
[[nodiscard]] std::string_view why_refused(WaitOrder::Kind kind, std::error_code error);

// Returns whether the wait passed. The end of its time is no error.
[[nodiscard]] bool has_passed(std::error_code& ec);

}  // namespace mortise::detail
