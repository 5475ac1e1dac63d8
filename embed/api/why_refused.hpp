#pragma once

#include <memory>
#include <new>
#include <string_view>
#include <system_error>
#include <utility>

#include "embed/api/argument_errors.hpp"
#include "embed/runtime/node_runtime.hpp"
#include "embed/threads/completion.hpp"
#include <mortise/errc.hpp>
#include <mortise/lock_error.hpp>

namespace mortise::detail {

// Adds why the node cannot serve calls, if that is why this one failed.
inline void add_why_not_ready(NodeRuntime& runtime, std::error_code ec, ErrorDetail& detail) {
    if (ec == Errc::no_quorum || ec == Errc::not_ready) detail.reason = runtime.why_not_ready();
}

// Adds what the cluster said of a call that failed.
inline void add_answer(CallOutcome& outcome, ErrorDetail& detail) {
    detail.cycle = std::move(outcome.cycle);
    if (!outcome.reason.empty()) detail.reason = std::move(outcome.reason);
    if (outcome.error && !outcome.locks.empty())
        detail.holders = std::move(outcome.locks.front().holders);
}

// Where the details of an error go before a handler is told of it. Without `to`: nowhere.
struct HandlerDetail {
    ErrorDetail* to = nullptr;
    std::weak_ptr<NodeRuntime> node{};

    // Called on a callback thread, which may wait for a moment. `why` is the reason unless there is
    // a better one.
    void add(CallOutcome& outcome, std::string_view why = {}) const {
        if (to == nullptr || !outcome.error) return;
        add_answer(outcome, *to);
        try {
            if (to->reason.empty()) to->reason = why;
            if (const auto runtime = node.lock()) add_why_not_ready(*runtime, outcome.error, *to);
        } catch (const std::bad_alloc&) {  // the code alone, then
        }
    }
};

// Throws for a call that failed, with the reason if the code does not say everything.
[[noreturn]] inline void refuse(const std::shared_ptr<NodeRuntime>& runtime, std::error_code ec,
                                const AcquireOrder& order, ErrorDetail detail = {}) {
    if (ec == Errc::invalid_argument) detail.reason = unsound_part(order);
    if (runtime) add_why_not_ready(*runtime, ec, detail);
    detail.name = blamed_name(order);
    throw LockError{ec, std::move(detail)};
}

}  // namespace mortise::detail
