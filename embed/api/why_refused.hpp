#pragma once

#include <memory>
#include <system_error>
#include <utility>

#include "embed/api/argument_errors.hpp"
#include "embed/runtime/node_runtime.hpp"
#include <mortise/errc.hpp>
#include <mortise/lock_error.hpp>

namespace mortise::detail {

// Adds why the node cannot serve calls, if that is why this one failed.
inline void add_why_not_ready(NodeRuntime& runtime, std::error_code ec, ErrorDetail& detail) {
    if (ec == Errc::no_quorum || ec == Errc::not_ready) detail.reason = runtime.why_not_ready();
}

// Throws for a call that failed, with the reason if the code does not say everything.
[[noreturn]] inline void refuse(const std::shared_ptr<NodeRuntime>& runtime, std::error_code ec,
                                const AcquireOrder& order, ErrorDetail detail = {}) {
    if (ec == Errc::invalid_argument) detail.reason = unsound_part(order);
    if (runtime) add_why_not_ready(*runtime, ec, detail);
    detail.name = blamed_name(order);
    throw LockError{ec, std::move(detail)};
}

}  // namespace mortise::detail
