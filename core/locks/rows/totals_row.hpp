// The row with all values that do not belong to one session or name.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include "core/base/ids.hpp"
#include "core/locks/table/ended_sessions.hpp"
#include "core/locks/table/eras.hpp"

namespace mortise::core {

// It has the numbers of rows, so that a lost row is detected.
struct StateTotals {
    FencingToken newest_token;
    SessionId newest_session;
    std::uint64_t endings = 0;
    std::uint64_t sessions = 0;
    std::uint64_t names = 0;
    std::uint64_t incarnations = 0;
    EndedSessions::Progress sweep;
    ClosureId newest_closure;
    std::uint64_t clock_marks = 0;
    Eras eras;
};

[[nodiscard]] std::string encode_totals(const StateTotals& totals);
[[nodiscard]] std::optional<StateTotals> decode_totals(std::string_view value);

}  // namespace mortise::core
