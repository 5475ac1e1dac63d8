#include "embed/capi/codes.hpp"

#include <algorithm>
#include <array>

#include <mortise.h>

#include <mortise/directory_errc.hpp>
#include <mortise/errc.hpp>

// The codes are fixed for ever; a change of the library's would change what programs were compiled
// with.
#define MORTISE_SAME_CODE(c_code, errc) \
    static_assert((c_code) == static_cast<int>(mortise::Errc::errc))
MORTISE_SAME_CODE(MORTISE_TIMED_OUT, timed_out);
MORTISE_SAME_CODE(MORTISE_CANCELLED, cancelled);
MORTISE_SAME_CODE(MORTISE_SESSION_EXPIRED, session_expired);
MORTISE_SAME_CODE(MORTISE_LOCK_LOST, lock_lost);
MORTISE_SAME_CODE(MORTISE_NOT_HELD, not_held);
MORTISE_SAME_CODE(MORTISE_OUTCOME_UNKNOWN, outcome_unknown);
MORTISE_SAME_CODE(MORTISE_NO_QUORUM, no_quorum);
MORTISE_SAME_CODE(MORTISE_NOT_READY, not_ready);
MORTISE_SAME_CODE(MORTISE_DEADLOCK, deadlock);
MORTISE_SAME_CODE(MORTISE_RESOURCE_EXHAUSTED, resource_exhausted);
MORTISE_SAME_CODE(MORTISE_INVALID_ARGUMENT, invalid_argument);
MORTISE_SAME_CODE(MORTISE_KIND_MISMATCH, kind_mismatch);
MORTISE_SAME_CODE(MORTISE_STALE_REQUEST, stale_request);
MORTISE_SAME_CODE(MORTISE_NODE_STOPPED, node_stopped);
MORTISE_SAME_CODE(MORTISE_FORKED, forked);
MORTISE_SAME_CODE(MORTISE_PERMISSION_DENIED, permission_denied);
MORTISE_SAME_CODE(MORTISE_INCOMPATIBLE, incompatible);
#undef MORTISE_SAME_CODE

#define MORTISE_SAME_CODE(c_code, errc) \
    static_assert((c_code) == 100 + static_cast<int>(mortise::DirectoryErrc::errc))
MORTISE_SAME_CODE(MORTISE_DIRECTORY_LOCKED, locked);
MORTISE_SAME_CODE(MORTISE_DIRECTORY_DAMAGED, damaged);
MORTISE_SAME_CODE(MORTISE_DIRECTORY_NEWER_FORMAT, newer_format);
MORTISE_SAME_CODE(MORTISE_DIRECTORY_WRONG_NODE, wrong_node);
MORTISE_SAME_CODE(MORTISE_DIRECTORY_IO, io);
MORTISE_SAME_CODE(MORTISE_DIRECTORY_NO_SPACE, no_space);
MORTISE_SAME_CODE(MORTISE_DIRECTORY_SHORTAGE, shortage);
MORTISE_SAME_CODE(MORTISE_DIRECTORY_CLOSED, closed);
MORTISE_SAME_CODE(MORTISE_DIRECTORY_DENIED, denied);
MORTISE_SAME_CODE(MORTISE_DIRECTORY_NOT_A_DIRECTORY, not_a_directory);
#undef MORTISE_SAME_CODE

namespace mortise::capi {
namespace {

constexpr std::array named_codes = {
    NamedCode{MORTISE_OK, "ok"},
    NamedCode{MORTISE_TIMED_OUT, "timed_out"},
    NamedCode{MORTISE_CANCELLED, "cancelled"},
    NamedCode{MORTISE_SESSION_EXPIRED, "session_expired"},
    NamedCode{MORTISE_LOCK_LOST, "lock_lost"},
    NamedCode{MORTISE_NOT_HELD, "not_held"},
    NamedCode{MORTISE_OUTCOME_UNKNOWN, "outcome_unknown"},
    NamedCode{MORTISE_NO_QUORUM, "no_quorum"},
    NamedCode{MORTISE_NOT_READY, "not_ready"},
    NamedCode{MORTISE_DEADLOCK, "deadlock"},
    NamedCode{MORTISE_RESOURCE_EXHAUSTED, "resource_exhausted"},
    NamedCode{MORTISE_INVALID_ARGUMENT, "invalid_argument"},
    NamedCode{MORTISE_KIND_MISMATCH, "kind_mismatch"},
    NamedCode{MORTISE_STALE_REQUEST, "stale_request"},
    NamedCode{MORTISE_NODE_STOPPED, "node_stopped"},
    NamedCode{MORTISE_FORKED, "forked"},
    NamedCode{MORTISE_PERMISSION_DENIED, "permission_denied"},
    NamedCode{MORTISE_INCOMPATIBLE, "incompatible"},
    NamedCode{MORTISE_DIRECTORY_LOCKED, "directory_locked"},
    NamedCode{MORTISE_DIRECTORY_DAMAGED, "directory_damaged"},
    NamedCode{MORTISE_DIRECTORY_NEWER_FORMAT, "directory_newer_format"},
    NamedCode{MORTISE_DIRECTORY_WRONG_NODE, "directory_wrong_node"},
    NamedCode{MORTISE_DIRECTORY_IO, "directory_io"},
    NamedCode{MORTISE_DIRECTORY_NO_SPACE, "directory_no_space"},
    NamedCode{MORTISE_DIRECTORY_SHORTAGE, "directory_shortage"},
    NamedCode{MORTISE_DIRECTORY_CLOSED, "directory_closed"},
    NamedCode{MORTISE_DIRECTORY_DENIED, "directory_denied"},
    NamedCode{MORTISE_DIRECTORY_NOT_A_DIRECTORY, "directory_not_a_directory"},
    NamedCode{MORTISE_OUT_OF_MEMORY, "out_of_memory"},
    NamedCode{MORTISE_SYSTEM_ERROR, "system_error"},
    NamedCode{MORTISE_INTERNAL_ERROR, "internal_error"},
};

}  // namespace

std::span<const NamedCode> all_codes() noexcept {
    return named_codes;
}

int code_of(std::error_code ec) noexcept {
    if (!ec) return MORTISE_OK;
    if (ec.category() == error_category()) return ec.value();
    if (ec.category() == directory_category()) return 100 + ec.value();
    return system_value(ec) != 0 ? MORTISE_SYSTEM_ERROR : MORTISE_INTERNAL_ERROR;
}

int system_value(std::error_code ec) noexcept {
    const auto condition = ec.default_error_condition();
    return condition.category() == std::generic_category() ? condition.value() : 0;
}

}  // namespace mortise::capi

using namespace mortise::capi;

const char* mortise_code_name(int code) {
    const auto* found = std::ranges::find(named_codes, code, &NamedCode::code);
    return found != named_codes.end() ? found->name : "unknown";
}

int mortise_code_is_retryable(int code) {
    switch (code) {
        case MORTISE_OUT_OF_MEMORY:
        case MORTISE_DIRECTORY_NO_SPACE:
        case MORTISE_DIRECTORY_SHORTAGE: return 1;
        default: break;
    }
    const bool is_errc = code >= MORTISE_TIMED_OUT && code <= MORTISE_INCOMPATIBLE;
    return is_errc && mortise::is_retryable(static_cast<mortise::Errc>(code)) ? 1 : 0;
}
