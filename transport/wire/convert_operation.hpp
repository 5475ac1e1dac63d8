// The common part of the conversions for clients.
#pragma once

#include <algorithm>
#include <cstdint>
#include <string_view>

#include "core/agent/call.hpp"
#include "core/locks/command.hpp"
#include "transport/peer.capnp.h"
#include "transport/wire/checked_reading.hpp"

namespace mortise::transport {

inline void put_operation(core::OperationId id, wire::Operation::Builder to) {
    to.setSession(id.session.raw());
    to.setSeq(id.seq.raw());
}

inline core::OperationId get_operation(CheckedReading& reading, wire::Operation::Reader from) {
    return {reading.set<core::SessionId>(from.getSession(), "Operation.session"),
            reading.set<core::Seq>(from.getSeq(), "Operation.seq")};
}

inline void put_slots(const core::Slots& slots, wire::Holder::Builder to) {
    if (slots.empty()) return;
    auto all = to.initSlots(static_cast<unsigned>(slots.size()));
    for (unsigned i = 0; i < all.size(); ++i)
        all.set(i, slots[i]);
}

inline core::Slots get_slots(CheckedReading& reading, wire::Holder::Reader from, const char* what) {
    core::Slots slots;
    reading.list(from.getSlots(), core::permits_max, what, [&](std::uint32_t slot) {
        const bool rises = slots.empty() || slots.back() < slot;
        if (!rises || slot >= core::semaphore_limit_max) reading.fail(Malformed::bad_order, what);
        slots.push_back(slot);
    });
    return slots;
}

// On the wire zero means no failure.
static_assert(static_cast<int>(core::CallError::invalid_argument) + 1 ==
              static_cast<int>(wire::Failure::INVALID_ARGUMENT));

inline wire::Failure failure_of(core::CallError error) {
    return static_cast<wire::Failure>(static_cast<std::uint16_t>(error) + 1);
}

inline core::CallError get_failure(CheckedReading& reading, wire::Failure failure) {
    const auto last = static_cast<std::uint16_t>(wire::Failure::INVALID_ARGUMENT);
    const auto known = reading.known<std::uint16_t>(failure, last, "Failure");
    if (known == 0) reading.fail(Malformed::unknown_kind, "Failure");
    return static_cast<core::CallError>(std::max<std::uint16_t>(known, 1) - 1);
}

// A longer text is cut. The longest text of the library has the names of four rules.
constexpr std::size_t denied_bytes_max = 4'096;

inline std::string_view text_of_denial(const core::Denied& denied) {
    return std::string_view{denied.why}.substr(0, denied_bytes_max);
}

inline core::Denied get_denied(CheckedReading& reading, capnp::Data::Reader why) {
    return {reading.text(why, denied_bytes_max, "denied")};
}

}  // namespace mortise::transport
