// Calls for several names (S32).
#include "embed/api/node_calls.hpp"
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
    return detail::as_set(
        detail::acquire_or_throw(runtime_, order_of(names, true, options, Attempt::wait)));
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
    return detail::acquire_or_throw(runtime_, order_of(names, false, options, Attempt::wait));
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
    return detail::attempt(runtime_, order_of(names, false, options, Attempt::once));
}

}  // namespace mortise
