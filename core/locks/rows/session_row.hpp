// The values of the rows about sessions: those that are open, what is left of those that ended, and
// the newest boot epoch of each incarnation.
#pragma once

#include <optional>
#include <string>
#include <string_view>

#include "core/locks/outcome.hpp"
#include "core/locks/table/session_table.hpp"

namespace mortise::core {

// Without its operations: they are in the rows of their names.
[[nodiscard]] std::string encode_session(const Session& session);
[[nodiscard]] std::optional<Session> decode_session(SessionId id, std::string_view value);
[[nodiscard]] std::string encode_ended(Predecessor how);
[[nodiscard]] std::optional<Predecessor> decode_ended(std::string_view value);
[[nodiscard]] std::string encode_epoch(BootEpoch epoch);
[[nodiscard]] std::optional<BootEpoch> decode_epoch(std::string_view value);

}  // namespace mortise::core
