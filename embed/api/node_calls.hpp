// The common part of Node's members.
#pragma once

#include <memory>
#include <optional>
#include <string_view>
#include <system_error>
#include <utility>

#include "embed/holds/grant_cache.hpp"
#include "embed/runtime/node_runtime.hpp"
#include <mortise/errc.hpp>
#include <mortise/lock_error.hpp>

namespace mortise::detail {

// A node that was moved from counts as closed.
inline bool is_gone(const std::shared_ptr<NodeRuntime>& runtime, std::error_code& ec) {
    ec.clear();
    if (!runtime) {
        ec = Errc::node_stopped;
    } else if (runtime->is_forked()) {
        ec = Errc::forked;
    }
    return static_cast<bool>(ec);
}

[[noreturn]] inline void fail(std::error_code ec, std::string_view name, ErrorDetail detail = {}) {
    detail.name = name;
    throw LockError{ec, std::move(detail)};
}

inline std::shared_ptr<NodeRuntime> runtime_or_throw(const Node& node, std::string_view name) {
    const auto& runtime = runtime_of(node);
    std::error_code ec;
    if (is_gone(runtime, ec)) fail(ec, name);
    return runtime;
}

// A use of the grant that is lent to the last user of that name, without an order; mostly empty if
// the user is another one.
inline Hold take_again(const std::shared_ptr<NodeRuntime>& runtime, std::string_view name,
                       const AcquireOptions& options) {
    return runtime ? runtime->cache()->take_again(name, options) : Hold{};
}

inline std::optional<Hold> attempt(const std::shared_ptr<NodeRuntime>& runtime, AcquireOrder order,
                                   std::error_code& ec, LockInfo* busy = nullptr) {
    if (is_gone(runtime, ec)) return std::nullopt;
    auto hold = acquire(runtime, std::move(order), ec, busy);
    if (ec || !hold) return std::nullopt;
    return hold;
}

// The same, but throws LockError.
inline std::optional<Hold> attempt(const std::shared_ptr<NodeRuntime>& runtime, AcquireOrder order,
                                   LockInfo* busy = nullptr) {
    auto hold = acquire_or_throw(runtime, std::move(order), busy);
    return hold ? std::optional{std::move(hold)} : std::nullopt;
}

// A listing that succeeds if the node may observe all names. Unless it is local, the node has also
// caught up then.
inline core::InspectCall listing_of_all_names(bool local) {
    core::InspectCall listing;
    listing.is_prefix = true;
    listing.local = local;
    listing.limit = 1;
    listing.parties_max = 1;
    return listing;
}

}  // namespace mortise::detail
