// Values that are part of several byte forms: of commands and rows, or of several kinds of rows.
#pragma once

#include "core/base/bytes.hpp"
#include "core/locks/command.hpp"
#include "core/locks/outcome.hpp"

namespace mortise::core {

void put(ByteWriter& out, const OpenSession& opened);
// Refuses one without a nonce. Whether the rest makes a session is for whoever lets it in.
[[nodiscard]] OpenSession get_open_session(ByteReader& in);

void put(ByteWriter& out, const LockerTag& locker);
[[nodiscard]] LockerTag get_locker(ByteReader& in);
void put(ByteWriter& out, const HoldTerms& terms);
// Refuses those that say nothing.
[[nodiscard]] HoldTerms get_terms(ByteReader& in);
void put(ByteWriter& out, const Previous& previous);
[[nodiscard]] Previous get_previous(ByteReader& in);

}  // namespace mortise::core
