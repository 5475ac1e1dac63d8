// The outcomes of calls of the public API, in the words of tests/check/call.hpp.
#pragma once

#include <string_view>
#include <system_error>

#include "tests/support/history_writer.hpp"
#include <mortise/mortise.hpp>

namespace mortise::tests {

// A call that may have been granted for a while is `unknown`.
inline std::string_view outcome_of(const std::error_code& ec, bool is_try, bool has_hold) {
    if (has_hold) return "granted";
    if (!ec) return is_try ? "busy" : "timed_out";
    if (ec == Errc::timed_out) return "timed_out";
    if (ec == Errc::cancelled) return "cancelled";
    if (ec == Errc::session_expired || ec == Errc::no_quorum || ec == Errc::node_stopped ||
        ec == Errc::outcome_unknown) {
        return "unknown";
    }
    return "refused";
}

inline std::string_view outcome_of_release(const std::error_code& ec) {
    if (!ec) return "released";
    if (ec == Errc::lock_lost) return "lost";
    if (ec == Errc::not_held) return "not_held";
    return "unknown";
}

inline void add_valid_until(JsonLine& line, const Hold& hold) {
    const auto until = hold.valid_until().time_since_epoch().count();
    if (until > 0) line.add("valid_until", until);
}

}  // namespace mortise::tests
