// Why a call did not do what it was asked for. That a lock is merely taken is not an error.
#pragma once

#include <string_view>
#include <system_error>

namespace mortise {

enum class Errc {
    timed_out = 1,       // the wait ended first; the request was withdrawn and holds nothing
    cancelled,           // withdrawn at the caller's wish; holds nothing
    session_expired,     // the holds and waits of this node's session are gone; acquire again
    lock_lost,           // the hold ended before it was released; stop what it protected
    not_held,            // there is nothing to release or to use here
    outcome_unknown,     // sent, and no answer came: look before doing it again
    no_quorum,           // no majority of the members answered in time
    not_ready,           // the node is not in its cluster: not yet, or not any more
    deadlock,            // waiting would close a circle: release something, then try again
    resource_exhausted,  // a configured bound is reached; wait a little, or raise the bound
    invalid_argument,    // the call or the configuration is wrong
    kind_mismatch,       // the name is in use as something else, or with another policy
    stale_request,       // answered long ago, and the answer was forgotten since
    node_stopped,        // this node was closed or failed; open a new one
    forked,              // used in the child of a fork; open a node there
    permission_denied,   // this node may not do that
    incompatible,        // the other side speaks another version; upgrade the older one
};

// The name of the enumerator, "timed_out"; "unknown" for anything else.
[[nodiscard]] std::string_view to_string(Errc code) noexcept;

// Its name is "mortise". Messages are sentences which say what to do next. Where the standard has a
// word for it (std::errc::timed_out and so on), a code compares equal to that.
[[nodiscard]] const std::error_category& error_category() noexcept;

[[nodiscard]] std::error_code make_error_code(Errc code) noexcept;

// True when the same call, unchanged, may succeed later. False for codes that are not Errc.
[[nodiscard]] bool is_retryable(std::error_code code) noexcept;

}  // namespace mortise

template <>
struct std::is_error_code_enum<mortise::Errc> : std::true_type {};
