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
// As version 0.2 reads it: without its origin, and without where it was opened. A client has no use
// for them, and may be older than its member.
[[nodiscard]] std::string encode_session_for_client(const Session& session);
[[nodiscard]] std::optional<Session> decode_session(SessionId id, std::string_view value);
void put_answer(ByteWriter& out, const Answer& answer);
[[nodiscard]] Answer get_answer(ByteReader& in);
[[nodiscard]] std::string encode_ended(Predecessor how);
[[nodiscard]] std::optional<Predecessor> decode_ended(std::string_view value);
[[nodiscard]] std::string encode_epoch(BootEpoch epoch);
[[nodiscard]] std::optional<BootEpoch> decode_epoch(std::string_view value);

}  // namespace mortise::core
