// Calls for several names (S32).
#include "embed/api/node_calls.hpp"
#include "embed/api/why_refused.hpp"
#include <mortise/node.hpp>

namespace mortise {

using detail::AcquireOrder;
using detail::Attempt;

namespace {

AcquireOrder order_of(const LockRequests& names, bool all, const AcquireOptions& options,
                      Attempt attempt) {
    AcquireOrder order{{}, options, attempt, {}, {}};
    order.several = {names.list(), all};
    return order;
}

// Throws if the call fails.
Hold wait_for(const std::shared_ptr<detail::NodeRuntime>& runtime, const LockRequests& names,
              bool all, const AcquireOptions& options) {
    std::error_code ec;
    ErrorDetail detail;
    auto order = order_of(names, all, options, Attempt::wait);
    order.detail = &detail;
    auto hold = detail::is_gone(runtime, ec) ? Hold{} : detail::acquire(runtime, order, ec);
    if (ec) detail::refuse(runtime, ec, order, std::move(detail));
    return hold;
}

}  // namespace

HoldSet Node::acquire_all(const LockRequests& names, const AcquireOptions& options,
                          std::error_code& ec) {
    if (detail::is_gone(runtime_, ec)) return {};
    return detail::as_set(
        detail::acquire(runtime_, order_of(names, true, options, Attempt::wait), ec));
}

HoldSet Node::acquire_all(const LockRequests& names, std::error_code& ec) {
    return acquire_all(names, {}, ec);
}

HoldSet Node::acquire_all(const LockRequests& names, const AcquireOptions& options) {
    return detail::as_set(wait_for(runtime_, names, true, options));
}

Hold Node::acquire_any(const LockRequests& names, const AcquireOptions& options,
                       std::error_code& ec) {
    if (detail::is_gone(runtime_, ec)) return {};
    return detail::acquire(runtime_, order_of(names, false, options, Attempt::wait), ec);
}

Hold Node::acquire_any(const LockRequests& names, std::error_code& ec) {
    return acquire_any(names, {}, ec);
}

Hold Node::acquire_any(const LockRequests& names, const AcquireOptions& options) {
    return wait_for(runtime_, names, false, options);
}

std::optional<Hold> Node::try_acquire_any(const LockRequests& names, const AcquireOptions& options,
                                          std::error_code& ec) {
    return detail::attempt(runtime_, order_of(names, false, options, Attempt::once), ec);
}

std::optional<Hold> Node::try_acquire_any(const LockRequests& names, std::error_code& ec) {
    return try_acquire_any(names, {}, ec);
}

std::optional<Hold> Node::try_acquire_any(const LockRequests& names,
                                          const AcquireOptions& options) {
    std::error_code ec;
    ErrorDetail detail;
    auto order = order_of(names, false, options, Attempt::once);
    order.detail = &detail;
    auto hold = detail::attempt(runtime_, order, ec);
    if (ec) detail::refuse(runtime_, ec, order, std::move(detail));
    return hold;
}

}  // namespace mortise
