// Limits on which every replica must agree, since apply refuses what exceeds them (P11). Changing
// one changes the format of the log. The limits of the kinds of names are in their rooms (kinds).
#pragma once

#include <cstddef>
#include <cstdint>
#include <limits>
#include <string_view>

namespace mortise::core {

constexpr std::size_t name_bytes_max = 512;  // S38
constexpr std::size_t label_bytes_max = 256;
constexpr std::size_t names_at_once_max = 64;                     // in one request (S32)
constexpr std::size_t reason_bytes_max = 256;                     // of a break (S24)
constexpr std::size_t asked_by_bytes_max = 64;                    // of a break (S24)
constexpr std::size_t value_bytes_max = 4'096;                    // of one name (S36)
constexpr std::uint32_t term_ms_max = 1U << 31U;                  // 24 days, for a hold (S8, S9)
constexpr std::size_t values_bytes_max = std::size_t{64} << 20U;  // of all names together
constexpr std::size_t records_max = 4'000'000;
// former holders that keep one name closed; beyond it time limits are refused (S8)
constexpr std::size_t left_max = 4'096;
constexpr std::size_t sessions_max = 100'000;
// Sessions of client nodes. The rest is for members, which clients must not keep out.
constexpr std::size_t client_sessions_max = sessions_max - 4'096;
// The renewal number of an evicted session. Every renewal that arrives later has a smaller number,
// so it has no effect. No node sends so many renewals.
constexpr std::uint64_t last_renewal = std::numeric_limits<std::uint64_t>::max();
constexpr std::uint32_t session_ttl_ms_max = 86'400'000;  // 24 hours, as in a configuration
constexpr std::uint32_t rho_ppm_end = 500'000;            // of the clock rate bound of a session
constexpr std::size_t operations_max = 65'536;  // of one session: queued, or unacknowledged (S17)
// Marks of time (docs/decisions/0080): how many there are, how far apart, and what a Clock may say.
constexpr std::size_t clock_marks_max = 1'024;
constexpr std::uint64_t clock_step_ms_min = 1'000;
constexpr std::uint64_t clock_step_ms_max = std::uint64_t{366} * 86'400'000;
constexpr std::uint64_t clock_first_ms_max = std::uint64_t{1} << 48U;  // about the year 10,900
constexpr std::uint64_t clock_ms_max = std::uint64_t{1} << 62U;
// Names that one session holds: a million, beside which as many calls as ever may be under way.
constexpr std::size_t holds_max = 1'000'000 + operations_max;
// A faulty node may leave answers of its session unacknowledged. From the first limit on the
// acquires of the session are refused, from the second on none of its requests is applied.
constexpr std::size_t session_acquires_max = 2 * operations_max;
constexpr std::size_t session_requests_max = 4 * operations_max;
// The same as the first, for the bytes of these answers, as bytes_of() counts them. The largest
// answer to what is not refused then is the cycle of an upgrade, so the second needs no such limit.
constexpr std::size_t session_acquires_bytes_max = std::size_t{16} << 20U;
// A session that has this many names, held or queued, gets no more: its acquires are refused.
constexpr std::size_t session_operations_max = 2 * holds_max;
constexpr std::uint32_t cached_tokens_max = 1U << 24U;                // of one cached grant (S39)
constexpr std::uint64_t cached_tokens_end = std::uint64_t{1} << 62U;  // none is cached from here on
// The greatest ceiling of tokens (docs/decisions/0095).
constexpr std::uint64_t token_ceiling_max = (std::uint64_t{1} << 63U) - 1;
constexpr std::size_t sweep_names_max = 1'024;   // S11
constexpr std::size_t sweep_traces_max = 1'024;  // holders and waiters removed by one Sweep
// The cost limits of a search for a wait cycle (S33), in requests and waits examined: for one
// search, and for all searches of a command, which searches again after each refusal. A longer
// cycle is not detected; its requests wait until their deadlines.
constexpr std::size_t deadlock_steps_max = 16'384;
constexpr std::size_t deadlock_command_steps_max = 64 * deadlock_steps_max;
constexpr std::size_t cycle_steps_max = 16;  // steps of a cycle that is reported
constexpr std::size_t cycle_bytes_max = 4'096;
constexpr std::size_t batch_commands_max = 4'096;
constexpr std::size_t batch_bytes_max = std::size_t{512} << 10U;
// This version makes no entry, and forwards no batch, with more commands; it reads larger ones. An
// entry is applied in one piece, which must not take milliseconds (P10). The benchmark of
// 1,024 outstanding calls was slower with 512: fewer entries are under way then.
constexpr std::size_t entry_commands_max = 256;

// The request with the higher priority is served first (S29).
using Priority = std::uint8_t;
constexpr Priority priority_max = 7;

// Names are any bytes, compared as bytes (S38).
constexpr bool is_valid_name(std::string_view name) {
    return !name.empty() && name.size() <= name_bytes_max;
}

}  // namespace mortise::core
