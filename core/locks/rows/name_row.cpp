#include "core/locks/rows/name_row.hpp"

#include <algorithm>
#include <limits>
#include <utility>
#include <variant>

#include "core/base/fields.hpp"
#include "core/locks/field_coding.hpp"
#include "core/locks/limits.hpp"
#include "core/locks/rows/fields.hpp"
#include "core/locks/rows/row_key.hpp"

namespace mortise::core {

namespace {

constexpr std::size_t holder_bytes_min = 6;
constexpr std::size_t ticket_bytes_min = 2;
constexpr std::size_t waiter_bytes_min = 8;
constexpr std::size_t closure_bytes_min = 13;

// Flags for what only some names have. The others are those of the kinds (`row_flag`).
constexpr std::uint8_t name_has_upgrade = 1;
constexpr std::uint8_t name_has_value = 2;
constexpr std::uint8_t name_has_closures = 4;
constexpr std::uint8_t name_flags = name_has_upgrade | name_has_value | name_has_closures;

// Flags for what only some holders or waiters have. Only holders can have ended, and
// only waiters are tries.
constexpr std::uint8_t party_has_label = 1;
constexpr std::uint8_t party_has_locker = 2;
constexpr std::uint8_t party_has_terms = 4;
constexpr std::uint8_t party_has_cached = 8;
constexpr std::uint8_t party_has_left = 16;
constexpr std::uint8_t party_is_try = 16;
constexpr std::uint8_t party_has_permits = 32;  // a holder: slots; a waiter: how many it wants

void put(ByteWriter& out, OperationId operation) {
    out.varint(operation.session.raw());
    out.varint(operation.seq.raw());
}

OperationId get_operation(ByteReader& in) {
    const auto session = get_id<SessionId>(in);
    return {session, get_id<Seq>(in)};
}

template <class Party>
std::uint8_t flags_of(const Party& party) {
    std::uint8_t flags = 0;
    if (!party.label.empty()) flags |= party_has_label;
    if (party.locker.is_set()) flags |= party_has_locker;
    if (party.terms.is_set()) flags |= party_has_terms;
    if (party.cached_tokens != 0) flags |= party_has_cached;
    return flags;
}

template <class Party>
void put_extras(ByteWriter& out, const Party& party) {
    if (!party.label.empty()) out.text(party.label);
    if (party.locker.is_set()) put(out, party.locker);
    if (party.terms.is_set()) put(out, party.terms);
    if (party.cached_tokens != 0) out.varint(party.cached_tokens);
}

std::uint32_t get_cached_tokens(ByteReader& in) {
    const auto tokens = in.varint();
    if (tokens == 0 || tokens > cached_tokens_max) in.fail();
    return static_cast<std::uint32_t>(tokens);
}

template <class Party>
void get_extras(ByteReader& in, std::uint8_t flags, Party& party) {
    if ((flags & party_has_label) != 0) {
        party.label = in.text(label_bytes_max);
        if (party.label.empty()) in.fail();
    }
    if ((flags & party_has_locker) != 0) {
        party.locker = get_locker(in);
        if (!party.locker.is_set()) in.fail();
    }
    if ((flags & party_has_terms) != 0) party.terms = get_terms(in);
    if ((flags & party_has_cached) != 0) party.cached_tokens = get_cached_tokens(in);
}

void put(ByteWriter& out, const Holder& holder) {
    const auto grant = holder.as_grant();
    auto flags = flags_of(grant);
    if (grant.left) flags |= party_has_left;
    if (!grant.slots.empty()) flags |= party_has_permits;
    put(out, grant.operation);
    out.u8(flags);
    put_enum(out, grant.mode);
    out.varint(grant.token.raw());
    out.varint(grant.since.raw());
    put_extras(out, grant);
    if (!grant.slots.empty()) put(out, grant.slots);
    if (!grant.terms.is_set()) return;
    out.varint(grant.closures.raw());
    if (grant.left) put_enum(out, *grant.left);
}

Grant get_grant(ByteReader& in) {
    Grant grant;
    grant.operation = get_operation(in);
    const auto flags = in.u8();
    const bool has_terms = (flags & party_has_terms) != 0;
    const bool has_left = (flags & party_has_left) != 0;
    if (flags >= 2 * party_has_permits || (has_left && !has_terms)) in.fail();
    grant.mode = get_enum(in, LockMode::exclusive);
    grant.token = get_id<FencingToken>(in);
    grant.since = get_id<LogIndex>(in);
    get_extras(in, flags, grant);
    if ((flags & party_has_permits) != 0) grant.slots = get_slots(in);
    if (has_terms) grant.closures = get_id<ClosureId>(in);
    if (!has_left) return grant;
    grant.left = get_enum(in, Predecessor::expired);
    if (grant.left == Predecessor::none) in.fail();
    return grant;
}

void put(ByteWriter& out, Ticket ticket) {
    out.varint(ticket.index.raw());
    out.varint(ticket.place);
}

Ticket get_ticket(ByteReader& in) {
    const auto index = get_id<LogIndex>(in);
    const auto place = in.varint();
    if (place > std::numeric_limits<std::uint32_t>::max()) in.fail();
    return {index, static_cast<std::uint32_t>(place)};
}

void put(ByteWriter& out, const Conversion& conversion) {
    put(out, conversion.ticket);
    put(out, conversion.operation);
    out.varint(conversion.hold.raw());
}

Conversion get_conversion(ByteReader& in) {
    const auto ticket = get_ticket(in);
    const auto operation = get_operation(in);
    return {ticket, operation, get_id<Seq>(in)};
}

void put(ByteWriter& out, const Waiter& waiter) {
    put(out, waiter.ticket);
    put(out, waiter.operation);
    auto flags = flags_of(waiter);
    if (waiter.is_try) flags |= party_is_try;
    if (waiter.permits != 0) flags |= party_has_permits;
    out.u8(flags);
    put_enum(out, waiter.mode);
    out.u8(waiter.priority);
    put_enum(out, waiter.part);
    put_extras(out, waiter);
    if (waiter.permits != 0) out.varint(waiter.permits);
}

std::uint32_t get_permits(ByteReader& in) {
    const auto permits = in.varint();
    if (permits == 0 || permits > permits_max) in.fail();
    return static_cast<std::uint32_t>(permits);
}

Waiter get_waiter(ByteReader& in) {
    Waiter waiter;
    waiter.ticket = get_ticket(in);
    waiter.operation = get_operation(in);
    const auto flags = in.u8();
    if (flags >= 2 * party_has_permits) in.fail();
    waiter.is_try = (flags & party_is_try) != 0;
    waiter.mode = get_enum(in, LockMode::exclusive);
    waiter.priority = in.u8();
    waiter.part = get_enum(in, Part::all_of);
    get_extras(in, flags, waiter);
    if ((flags & party_has_permits) != 0) waiter.permits = get_permits(in);
    const bool ranked = waiter.part != Part::all_of || waiter.priority == 0;
    if (waiter.priority > priority_max || !ranked) in.fail();
    return waiter;
}

void put(ByteWriter& out, const WaitQueue& queue) {
    out.varint(queue.size());
    for (const auto* waiter : queue.in_order())
        put(out, *waiter);
    out.varint(queue.overtakers().size());
    for (const auto ticket : queue.overtakers())
        put(out, ticket);
}

std::vector<Grant> get_holders(ByteReader& in) {
    std::vector<Grant> holders;
    for (auto left = in.count(holder_bytes_min); left > 0 && in.ok(); --left)
        holders.push_back(get_grant(in));
    return holders;
}

std::vector<Waiter> get_waiters(ByteReader& in) {
    std::vector<Waiter> waiters;
    for (auto left = in.count(waiter_bytes_min); left > 0 && in.ok(); --left) {
        auto waiter = get_waiter(in);
        const bool rises = waiters.empty() || waiters.back().ticket < waiter.ticket;
        if (!rises) in.fail();
        waiters.push_back(std::move(waiter));
    }
    return waiters;
}

WaitQueue::Overtakers get_overtakers(ByteReader& in) {
    WaitQueue::Overtakers overtakers;
    for (auto left = in.count(ticket_bytes_min); left > 0 && in.ok(); --left)
        overtakers.push_back(get_ticket(in));
    return overtakers;
}

// A semaphore that was resized may have more slots taken than its limit allows now.
bool may_hold(const LockRecord& record, const Grant& grant) {
    const auto* semaphore = record.as<Semaphore>();
    if (!record.may_have_holders()) return false;
    if (semaphore == nullptr) return grant.slots.empty() && record.admits(grant.mode);
    const bool is_plain = grant.mode == LockMode::exclusive && !grant.is_cached();
    return is_plain && !grant.slots.empty() && semaphore->are_free(grant.slots);
}

// Returns false if these holders could not have been granted one after the other.
bool add_holders(std::vector<Grant> holders, LockRecord& record) {
    for (auto& grant : holders) {
        const auto more = grant.is_cached() ? grant.cached_tokens - 1 : 0;
        const bool is_newer = grant.token > record.newest_token() ||
                              record.newest_token().raw() - grant.token.raw() < more;
        if (is_newer || !may_hold(record, grant)) return false;
        record.add(std::move(grant));
    }
    return true;
}

bool is_plain(const Waiter& waiter) {
    return waiter.permits == 0 && waiter.mode == LockMode::exclusive &&
           waiter.part == Part::alone && waiter.priority == 0 && !waiter.locker.is_set() &&
           !waiter.terms.is_set() && waiter.cached_tokens == 0 && !waiter.is_try;
}

// Returns false if somebody waits for something else than the name is.
bool are_of_a_kind(const std::vector<Waiter>& waiters, const LockRecord& record) {
    return std::ranges::all_of(waiters, [&](const Waiter& waiter) {
        const bool asks_alone = waiter.mode == LockMode::exclusive && waiter.part == Part::alone;
        if (!record.may_have_holders()) return is_plain(waiter);
        if (record.kind() == RecordKind::semaphore) return waiter.permits != 0 && asks_alone;
        return waiter.permits == 0;
    });
}

void put(ByteWriter& out, const LockValue& value) {
    out.text(value.bytes);
    out.varint(value.version);
    put_flag(out, value.dirty);
}

LockValue get_value(ByteReader& in) {
    LockValue value;
    value.bytes = in.text(value_bytes_max);
    value.version = in.varint();
    value.dirty = get_flag(in);
    if (value.bytes.empty() || value.version == 0) in.fail();
    return value;
}

std::uint8_t flag_of(const KindState& state) {
    return std::visit([](const auto& one) { return one.row_flag; }, state);
}

void put(ByteWriter& out, const KindState& state) {
    FieldWriter of{out};
    std::visit([&](const auto& one) { one.fields(of, one); }, state);
}

// Empty for a lock. Fails if it is of several kinds, or of one that is unknown.
std::optional<KindState> get_state(ByteReader& in, std::uint8_t flags) {
    std::optional<KindState> found;
    const auto kind = static_cast<std::uint8_t>(flags & ~name_flags);
    Kinds::for_each([&](auto state) {
        if (kind != state.row_flag) return;
        FieldReader of{in};
        state.fields(of, state);
        if (!state.is_sound()) in.fail();
        found = std::move(state);
    });
    if (kind != 0 && !found) in.fail();
    return found;
}

using Closures = decltype(NameExtras::closures);

void put(ByteWriter& out, const Closures& closures) {
    out.varint(closures.size());
    for (const auto& closure : closures) {
        out.varint(closure.id.raw());
        put_enum(out, closure.kind);
        put(out, closure.hold);
        out.varint(closure.since.raw());
        out.u32(closure.time_ms);
        out.u32(closure.rho_ppm);
    }
}

Closures get_closures(ByteReader& in) {
    Closures closures;
    for (auto left = in.count(closure_bytes_min); left > 0 && in.ok(); --left) {
        Closure closure;
        closure.id = get_id<ClosureId>(in);
        closure.kind = get_enum(in, Closure::Kind::lock_delay);
        closure.hold = get_operation(in);
        closure.since = get_id<LogIndex>(in);
        closure.time_ms = in.u32();
        closure.rho_ppm = in.u32();
        if (!closures.empty() && closures.back().id >= closure.id) in.fail();
        closures.push_back(closure);
    }
    if (closures.empty()) in.fail();
    return closures;
}

// Returns false if a timer has no hold, or if a broken hold has another timer after that of the
// break.
bool mark_broken(SavedName& saved) {
    for (const auto& closure : saved.extras.closures) {
        const auto* hold = saved.record.find(closure.hold);
        if (hold == nullptr || hold->broken) return false;
        if (closure.kind == Closure::Kind::broken) saved.record.mark_broken(closure.hold);
    }
    return true;
}

}  // namespace

std::string encode_name(const LockRecord& record, const WaitQueue* queue, const LockValue* value,
                        const std::vector<Closure>& closures) {
    const WaitQueue nobody{record.policy()};
    const auto& waiting = queue == nullptr ? nobody : *queue;
    std::uint8_t flags = 0;
    if (waiting.conversion()) flags |= name_has_upgrade;
    if (value != nullptr) flags |= name_has_value;
    if (!closures.empty()) flags |= name_has_closures;
    if (record.state() != nullptr) flags |= flag_of(*record.state());

    auto out = begin_row();
    out.u8(flags);
    put_enum(out, record.policy());
    put_enum(out, record.turn);
    put(out, record.previous());
    out.varint(record.newest_token().raw());
    put_enum(out, record.newest_mode());
    if (record.state() != nullptr) put(out, *record.state());
    out.varint(record.holders().size());
    for (const auto& holder : record.holders())
        put(out, holder);
    if (waiting.conversion()) put(out, *waiting.conversion());
    put(out, waiting);
    if (value != nullptr) put(out, *value);
    if (!closures.empty()) put(out, closures);
    return out.take();
}

std::optional<SavedName> decode_name(std::string_view value) {
    auto in = open_row(value);
    const auto flags = in.u8();
    const auto policy = get_enum(in, QueuePolicy::prefer_writers);
    const auto turn = get_enum(in, Turn::readers);
    auto previous = get_previous(in);
    const FencingToken newest_token{in.varint()};  // zero: never granted, requests wait (S32)
    const auto newest_mode = get_enum(in, LockMode::exclusive);
    SavedName saved{LockRecord{policy, newest_token, newest_mode}, WaitQueue{policy}, {}};
    saved.record.turn = turn;
    saved.record.set_previous(std::move(previous));
    if (auto state = get_state(in, flags)) saved.record.become(std::move(*state));
    auto holders = get_holders(in);
    if ((flags & name_has_upgrade) != 0) saved.queue.add(get_conversion(in));
    auto waiters = get_waiters(in);
    auto overtakers = get_overtakers(in);
    if ((flags & name_has_value) != 0) saved.extras.value = get_value(in);
    if ((flags & name_has_closures) != 0) saved.extras.closures = get_closures(in);
    if (!in.done() || !add_holders(std::move(holders), saved.record)) return std::nullopt;
    if (!are_of_a_kind(waiters, saved.record)) return std::nullopt;
    for (auto& waiter : waiters)
        saved.queue.add(std::move(waiter));
    if (!saved.queue.restore(std::move(overtakers))) return std::nullopt;
    if (!mark_broken(saved)) return std::nullopt;
    const bool older = saved.record.previous().token <= newest_token;
    if (newest_token.is_set() && !older) return std::nullopt;
    return saved;
}

}  // namespace mortise::core
