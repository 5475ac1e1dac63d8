#pragma once

#include <compare>

#include "core/base/ids.hpp"

namespace mortise::core {

// "My countdown for the renewal that I applied at this index has elapsed" (S4). It stays true for
// ever; the index makes it irrelevant if the session was renewed since.
struct RunOut {
    SessionId session;
    LogIndex renewed_at;

    friend constexpr bool operator==(const RunOut&, const RunOut&) = default;
    friend constexpr auto operator<=>(const RunOut&, const RunOut&) = default;
};

}  // namespace mortise::core
