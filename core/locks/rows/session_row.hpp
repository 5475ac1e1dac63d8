// The values of the rows about open sessions, about ended sessions that left traces, and about the
// newest boot epoch of each incarnation.
#pragma once

#include <optional>
#include <string>
#include <string_view>

#include "core/base/bytes.hpp"
#include "core/locks/outcome.hpp"
#include "core/locks/table/session_table.hpp"

namespace mortise::core {

// The row has no operations: they are in the rows of their names.
[[nodiscard]] std::string encode_session(const Session& session);
// Leaves out the origin and the index of the opening, so that version 0.2 reads the row: a client
// does not use them, and may have an older version than its member.
[[nodiscard]] std::string encode_session_for_client(const Session& session);
[[nodiscard]] std::optional<Session> decode_session(SessionId id, std::string_view value);
void put_answer(ByteWriter& out, const Answer& answer);
[[nodiscard]] Answer get_answer(ByteReader& in);
[[nodiscard]] std::string encode_ended(const Departure& departure);
[[nodiscard]] std::optional<Departure> decode_ended(std::string_view value);
[[nodiscard]] std::string encode_epoch(BootEpoch epoch);
[[nodiscard]] std::optional<BootEpoch> decode_epoch(std::string_view value);

}  // namespace mortise::core
