// Why a call failed. A lock that another holder has is not an error.
#pragma once

#include <string_view>
#include <system_error>

namespace mortise {

enum class Errc {
    timed_out = 1,    // the wait ended; the request was withdrawn and holds nothing
    cancelled,        // the caller cancelled it; it holds nothing
    session_expired,  // the holds and waits of this node's session have ended; acquire again
    lock_lost,        // the hold ended before it was released; stop the work that it protected
    not_held,         // there is nothing to release or to use
    // the request was sent, and no answer came: check its effect before you repeat it
    outcome_unknown,
    no_quorum,           // no majority of the members answered in time
    not_ready,           // the node is not in its cluster yet, or not any more
    deadlock,            // waiting would complete a wait cycle: release something and try again
    resource_exhausted,  // a limit was reached; release something, wait, or raise it
    invalid_argument,    // the call or the configuration is wrong
    kind_mismatch,       // the name is in use as something else, or with another policy
    stale_request,       // it was answered long ago, and the answer is not kept any more
    node_stopped,        // this node was closed or failed; open a new one
    forked,              // called in the child of a fork; open a node there
    permission_denied,   // the certificate of this node or user does not allow it
    incompatible,        // a member runs another version; upgrade the older one
};

// The name of the enumerator, for example "timed_out"; "unknown" for any other value.
[[nodiscard]] std::string_view to_string(Errc code) noexcept;

// The category "mortise". Messages are sentences that say what to do next. A code compares equal to
// the std::errc of the same meaning, for example std::errc::timed_out, if there is one.
[[nodiscard]] const std::error_category& error_category() noexcept;

[[nodiscard]] std::error_code make_error_code(Errc code) noexcept;

// True if the same call may succeed when it is repeated unchanged. False for codes that are not
// Errc.
[[nodiscard]] bool is_retryable(std::error_code code) noexcept;

}  // namespace mortise

template <>
struct std::is_error_code_enum<mortise::Errc> : std::true_type {};
