// Several names at once (S32).
#include "embed/node_calls.hpp"
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

// A code alone does not say which: the first one stands for all.
[[noreturn]] void fail(std::error_code ec, const LockRequests& names) {
    detail::fail(ec, names.list().empty() ? std::string_view{} : names.list().front().name);
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
    std::error_code ec;
    auto holds = acquire_all(names, options, ec);
    if (ec) fail(ec, names);
    return holds;
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
    std::error_code ec;
    auto hold = acquire_any(names, options, ec);
    if (ec) fail(ec, names);
    return hold;
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
    auto hold = try_acquire_any(names, options, ec);
    if (ec) fail(ec, names);
    return hold;
}

}  // namespace mortise
