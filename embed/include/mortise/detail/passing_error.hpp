// The errors after which a wait for a lock is repeated. Not for use by programs.
#pragma once

#include <algorithm>
#include <array>
#include <system_error>

#include <mortise/errc.hpp>

namespace mortise::detail {

// The request or its answer is gone, with the session or with the connection to the cluster. For
// a caller that waits until it has the lock, the lock is just not held yet.
[[nodiscard]] inline bool is_passing(std::error_code error) {
    static constexpr std::array passing{Errc::session_expired, Errc::no_quorum,
                                        Errc::not_ready,       Errc::lock_lost,
                                        Errc::outcome_unknown, Errc::stale_request};
    return std::any_of(passing.begin(), passing.end(),
                       [&](Errc code) { return error == make_error_code(code); });
}

}  // namespace mortise::detail
