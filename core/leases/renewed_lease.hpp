#pragma once

#include <compare>

#include "core/base/ids.hpp"

namespace mortise::core {

// The lease of a session since the renewal that was applied at this index (S4). That it has elapsed
// somewhere stays true for ever; the next renewal begins another lease.
struct RenewedLease {
    SessionId session;
    LogIndex renewed_at;

    friend constexpr bool operator==(const RenewedLease&, const RenewedLease&) = default;
    friend constexpr auto operator<=>(const RenewedLease&, const RenewedLease&) = default;
};

// The id of a quorum timer, whichever run of it is meant.
[[nodiscard]] constexpr SessionId id_of(const RenewedLease& lease) {
    return lease.session;
}
[[nodiscard]] constexpr ClosureId id_of(ClosureId closure) {
    return closure;
}

}  // namespace mortise::core
