// How long a client waits for a member that it has dialled (S49).
#pragma once

#include <algorithm>
#include <chrono>

#include "core/client/client_core.hpp"

namespace mortise::detail {

// Without a lease there is nothing to lose. With one, the silence of the former member is noticed
// when two thirds of the TTL are over at the latest: a third until the next renewal is due, and
// another one without an answer (ClientCore::patience). A sixth for a member that is silent as well
// leaves another sixth for the one after it.
inline core::Nanoseconds dial_patience(const core::ClientOptions& options, bool has_lease) {
    constexpr core::Nanoseconds least = std::chrono::seconds{1};
    const core::Nanoseconds ttl = std::chrono::milliseconds{options.session_ttl_ms};
    const auto usual = std::max(least, 2 * options.election_timeout);
    return has_lease ? std::min(usual, ttl / 6) : usual;
}

}  // namespace mortise::detail
