// The common part of the conversions for clients.
#pragma once

#include <algorithm>
#include <cstdint>
#include <optional>
#include <string_view>
#include <utility>
#include <variant>

#include "core/agent/call.hpp"
#include "core/base/overloaded.hpp"
#include "core/locks/command.hpp"
#include "transport/peer.capnp.h"
#include "transport/wire/checked_reading.hpp"
#include "transport/wire/client_messages.hpp"
#include "transport/wire/convert.hpp"

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

// What holders and waiters have in common. A locker is not told.
void put_party(const auto& party, core::OperationId operation, core::NodeId node, auto to) {
    put_operation(operation, to.initOperation());
    to.setNode(node.raw());
    to.setMode(static_cast<wire::LockMode>(party.mode));
    to.setSince(party.since.raw());
    if (!party.label.empty()) to.setLabel(data_of(party.label));
}

void get_party(CheckedReading& reading, auto from, auto& party, const char* what) {
    party.mode = reading.known(from.getMode(), core::LockMode::exclusive, what);
    party.since = reading.index(from.getSince(), what);
    party.label = reading.text(from.getLabel(), core::label_bytes_max, what);
}

// A hold in a listing, in a state and in a change.
void put_hold(const auto& hold, core::OperationId operation, core::NodeId node,
              wire::Holder::Builder to) {
    put_party(hold, operation, node, to);
    to.setToken(hold.token.raw());
    to.setCachedTokens(hold.cached_tokens);
    put_slots(hold.slots, to);
}

void get_hold(CheckedReading& reading, wire::Holder::Reader from, auto& hold) {
    get_party(reading, from, hold, "Holder");
    hold.token = core::FencingToken{from.getToken()};
    hold.cached_tokens = from.getCachedTokens();
    hold.slots = get_slots(reading, from, "Holder.slots");
}

inline void put_origin(const core::Origin& origin, wire::Origin::Builder to) {
    to.setHost(data_of(origin.host));
    to.setProgram(data_of(origin.program));
    to.setPid(origin.pid);
    to.setAddress(data_of(origin.address));
}

inline core::Origin get_origin(CheckedReading& reading, wire::Origin::Reader from) {
    core::Origin origin;
    origin.host = reading.text(from.getHost(), core::origin_host_bytes_max, "Origin.host");
    origin.program =
        reading.text(from.getProgram(), core::origin_program_bytes_max, "Origin.program");
    origin.pid = from.getPid();
    origin.address =
        reading.text(from.getAddress(), core::origin_address_bytes_max, "Origin.address");
    return core::tidied(std::move(origin));
}

// What an origin takes beside its texts, and the struct that it is in.
constexpr std::size_t origin_words = 10;
inline std::size_t origin_bytes(const core::Origin& origin) {
    return origin_words * word_bytes + origin.host.size() + origin.program.size() +
           origin.address.size();
}

// Below zero it is unknown.
inline std::optional<core::Nanoseconds> get_age(std::int64_t ns) {
    return ns < 0 ? std::nullopt : std::optional{core::Nanoseconds{ns}};
}

void put_value(const std::optional<core::LockValue>& value, auto to) {
    if (!value) return;
    to.setValue(data_of(value->bytes));
    to.setValueVersion(value->version);
    to.setValueIsDirty(value->dirty);
}

std::optional<core::LockValue> get_value(CheckedReading& reading, auto from) {
    if (from.getValueVersion() == 0) return std::nullopt;
    return core::LockValue{reading.text(from.getValue(), core::value_bytes_max, "value"),
                           from.getValueVersion(), from.getValueIsDirty()};
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

template <class Reply, class To>
void write_answer(const ClientAnswer<Reply>& answer, To to, void (*put)(const Reply&, To)) {
    std::visit(core::Overloaded{[&](const Reply& reply) { put(reply, to); },
                                [&](core::CallError error) { to.setFailed(failure_of(error)); },
                                [&](const core::Denied& denied) {
                                    to.setDenied(data_of(text_of_denial(denied)));
                                }},
               answer);
}

// `reply` is the member of the union that `get` reads.
template <class Reply, class From>
core::Result<ClientAnswer<Reply>> read_answer(From from, auto reply, const char* what,
                                              Reply (*get)(CheckedReading&, From)) {
    CheckedReading reading;
    ClientAnswer<Reply> answer;
    if (from.which() == reply) {
        answer = get(reading, from);
    } else if (from.isFailed()) {
        answer = get_failure(reading, from.getFailed());
    } else if (from.isDenied()) {
        answer = get_denied(reading, from.getDenied());
    } else {
        reading.fail(Malformed::unknown_kind, what);
    }
    return reading.finish(std::move(answer));
}

}  // namespace mortise::transport
