// The encoding of values that are part of commands and rows, or of several kinds of rows.
#pragma once

#include "core/base/bytes.hpp"
#include "core/locks/command.hpp"
#include "core/locks/outcome.hpp"

namespace mortise::core {

void put(ByteWriter& out, const OpenSession& opened);
// Fails if there is no nonce. It does not check the other values.
[[nodiscard]] OpenSession get_open_session(ByteReader& in);

void put(ByteWriter& out, const LockerTag& locker);
[[nodiscard]] LockerTag get_locker(ByteReader& in);
void put(ByteWriter& out, const HoldTerms& terms);
// Fails if none of the terms is set.
[[nodiscard]] HoldTerms get_terms(ByteReader& in);
// Slots of a semaphore, at least one.
void put(ByteWriter& out, const Slots& slots);
// Fails if there are none, or too many. It does not check their order.
[[nodiscard]] Slots get_slots(ByteReader& in);
void put(ByteWriter& out, const Previous& previous);
[[nodiscard]] Previous get_previous(ByteReader& in);

}  // namespace mortise::core
