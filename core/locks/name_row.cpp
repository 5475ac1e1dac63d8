#include "core/locks/name_row.hpp"

#include <algorithm>
#include <limits>
#include <utility>

#include "core/base/fields.hpp"
#include "core/locks/fields.hpp"
#include "core/locks/limits.hpp"
#include "core/locks/row_key.hpp"

namespace mortise::core {

namespace {

constexpr std::size_t holder_bytes_min = 6;
constexpr std::size_t ticket_bytes_min = 2;
constexpr std::size_t waiter_bytes_min = 8;
constexpr std::size_t closure_bytes_min = 13;

void put(ByteWriter& out, OperationId operation) {
    out.varint(operation.session.raw());
    out.varint(operation.seq.raw());
}

OperationId get_operation(ByteReader& in) {
    const auto session = get_id<SessionId>(in);
    return {session, get_id<Seq>(in)};
}

void put(ByteWriter& out, const Grant& grant) {
    put(out, grant.operation);
    put_enum(out, grant.mode);
    out.varint(grant.token.raw());
    out.varint(grant.since.raw());
    out.text(grant.label);
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

void put(ByteWriter& out, const std::optional<Conversion>& conversion) {
    put_flag(out, conversion.has_value());
    if (!conversion) return;
    put(out, conversion->ticket);
    put(out, conversion->operation);
    out.varint(conversion->hold.raw());
}

void get_conversion(ByteReader& in, WaitQueue& queue) {
    if (!get_flag(in)) return;
    const auto ticket = get_ticket(in);
    const auto operation = get_operation(in);
    queue.add(Conversion{ticket, operation, get_id<Seq>(in)});
}

void put(ByteWriter& out, const Waiter& waiter) {
    put(out, waiter.ticket);
    put(out, waiter.operation);
    put_enum(out, waiter.mode);
    out.u8(waiter.priority);
    put_enum(out, waiter.part);
    out.text(waiter.label);
}

void put(ByteWriter& out, const WaitQueue& queue) {
    put(out, queue.conversion());
    out.varint(queue.size());
    for (const auto* waiter : queue.in_order())
        put(out, *waiter);
    out.varint(queue.overtakers().size());
    for (const auto ticket : queue.overtakers())
        put(out, ticket);
}

std::vector<Grant> get_holders(ByteReader& in) {
    std::vector<Grant> holders;
    for (auto left = in.count(holder_bytes_min); left > 0 && in.ok(); --left) {
        Grant grant;
        grant.operation = get_operation(in);
        grant.mode = get_enum(in, LockMode::exclusive);
        grant.token = get_id<FencingToken>(in);
        grant.since = get_id<LogIndex>(in);
        grant.label = in.text(label_bytes_max);
        holders.push_back(std::move(grant));
    }
    return holders;
}

std::vector<Waiter> get_waiters(ByteReader& in) {
    std::vector<Waiter> waiters;
    Ticket before;
    for (auto left = in.count(waiter_bytes_min); left > 0 && in.ok(); --left) {
        Waiter waiter;
        waiter.ticket = get_ticket(in);
        waiter.operation = get_operation(in);
        waiter.mode = get_enum(in, LockMode::exclusive);
        waiter.priority = in.u8();
        waiter.part = get_enum(in, Part::all_of);
        waiter.label = in.text(label_bytes_max);
        const bool ranked = waiter.part != Part::all_of || waiter.priority == 0;
        const bool sound = waiter.ticket > before && waiter.priority <= priority_max && ranked;
        if (!sound) in.fail();
        before = waiter.ticket;
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

// What only some names have comes last, each with a number in front: a row without any of it is
// what it was before there was such a thing, so that members of two versions have the same rows.
enum class RowPart : std::uint8_t { value = 1, closures = 2, lockers = 3, terms = 4 };

// Whose they are, holders first, if anybody is a locker's at all.
void put_lockers(ByteWriter& out, const std::vector<const LockerTag*>& lockers) {
    if (std::ranges::none_of(lockers, &LockerTag::is_set)) return;
    put_enum(out, RowPart::lockers);
    for (const auto* locker : lockers)
        put(out, *locker);
}

void get_lockers(ByteReader& in, std::vector<Grant>& holders, std::vector<Waiter>& waiters) {
    bool is_any = false;
    const auto get = [&](auto& party) {
        party.locker = get_locker(in);
        is_any = is_any || party.locker.is_set();
    };
    std::ranges::for_each(holders, get);
    std::ranges::for_each(waiters, get);
    if (!is_any) in.fail();
}

constexpr std::uint8_t party_has_terms = 1;
constexpr std::uint8_t party_has_left = 2;

void put_terms_of(ByteWriter& out, const Grant& grant) {
    std::uint8_t flags = 0;
    if (grant.terms.is_set()) flags |= party_has_terms;
    if (grant.left) flags |= party_has_left;
    out.u8(flags);
    if (!grant.terms.is_set()) return;
    put(out, grant.terms);
    out.varint(grant.closures.raw());
    if (grant.left) put_enum(out, *grant.left);
}

void put_terms_of(ByteWriter& out, const Waiter& waiter) {
    put_flag(out, waiter.terms.is_set());
    if (waiter.terms.is_set()) put(out, waiter.terms);
}

// Of all, holders first, if anybody has any.
void put_all_terms(ByteWriter& out, const std::vector<Grant>& holders,
                   const std::vector<const Waiter*>& waiters) {
    const auto has_terms = [](const Grant& grant) { return grant.terms.is_set(); };
    const auto wants_terms = [](const Waiter* waiter) { return waiter->terms.is_set(); };
    if (std::ranges::none_of(holders, has_terms) && std::ranges::none_of(waiters, wants_terms)) {
        return;
    }
    put_enum(out, RowPart::terms);
    for (const auto& grant : holders)
        put_terms_of(out, grant);
    for (const auto* waiter : waiters)
        put_terms_of(out, *waiter);
}

void get_terms_of(ByteReader& in, Grant& grant) {
    const auto flags = in.u8();
    if (flags == 0) return;
    if (flags > (party_has_terms | party_has_left) || (flags & party_has_terms) == 0) in.fail();
    grant.terms = get_terms(in);
    grant.closures = get_id<ClosureId>(in);
    if ((flags & party_has_left) == 0) return;
    grant.left = get_enum(in, Predecessor::expired);
    if (grant.left == Predecessor::none) in.fail();
}

void get_all_terms(ByteReader& in, std::vector<Grant>& holders, std::vector<Waiter>& waiters) {
    bool is_any = false;
    for (auto& grant : holders) {
        get_terms_of(in, grant);
        is_any = is_any || grant.terms.is_set();
    }
    for (auto& waiter : waiters) {
        if (!get_flag(in)) continue;
        waiter.terms = get_terms(in);
        is_any = true;
    }
    if (!is_any) in.fail();
}

// False when they could not have entered one after the other.
bool add_holders(std::vector<Grant> holders, LockRecord& record) {
    for (auto& grant : holders) {
        if (grant.token > record.newest_token() || !record.admits(grant.mode)) return false;
        record.add(std::move(grant));
    }
    return true;
}

void put(ByteWriter& out, const NameExtras& extras) {
    if (extras.value) {
        put_enum(out, RowPart::value);
        out.text(extras.value->bytes);
        out.varint(extras.value->version);
        put_flag(out, extras.value->dirty);
    }
    if (extras.closures.empty()) return;
    put_enum(out, RowPart::closures);
    out.varint(extras.closures.size());
    for (const auto& closure : extras.closures) {
        out.varint(closure.id.raw());
        put_enum(out, closure.kind);
        put(out, closure.hold);
        out.varint(closure.since.raw());
        out.u32(closure.time_ms);
        out.u32(closure.rho_ppm);
    }
}

void get_value(ByteReader& in, NameExtras& extras) {
    LockValue value;
    value.bytes = in.text(value_bytes_max);
    value.version = in.varint();
    value.dirty = get_flag(in);
    if (extras.value || value.bytes.empty() || value.version == 0) return in.fail();
    extras.value = std::move(value);
}

void get_closures(ByteReader& in, NameExtras& extras) {
    auto& closures = extras.closures;
    if (!closures.empty()) return in.fail();
    for (auto left = in.count(closure_bytes_min); left > 0 && in.ok(); --left) {
        Closure closure;
        closure.id = get_id<ClosureId>(in);
        closure.kind = get_enum(in, Closure::Kind::lock_delay);
        closure.hold = get_operation(in);
        closure.since = get_id<LogIndex>(in);
        closure.time_ms = in.u32();
        closure.rho_ppm = in.u32();
        const bool rises = closures.empty() || closures.back().id < closure.id;
        if (!in.ok() || !rises) return in.fail();
        closures.push_back(closure);
    }
    if (closures.empty()) in.fail();
}

void get_part(ByteReader& in, NameExtras& extras, std::vector<Grant>& holders,
              std::vector<Waiter>& waiters) {
    switch (static_cast<RowPart>(in.u8())) {
        case RowPart::value: return get_value(in, extras);
        case RowPart::closures: return get_closures(in, extras);
        case RowPart::lockers: return get_lockers(in, holders, waiters);
        case RowPart::terms: return get_all_terms(in, holders, waiters);
    }
    in.fail();
}

// False when one of them is about nobody, or two are about the same hold.
bool mark_broken(SavedName& saved) {
    for (const auto& closure : saved.extras.closures) {
        const auto* hold = saved.record.find(closure.hold);
        if (hold == nullptr || hold->broken) return false;
        if (closure.kind == Closure::Kind::broken) saved.record.mark_broken(closure.hold);
    }
    return true;
}

}  // namespace

std::string encode_name(const LockRecord& record, const WaitQueue* queue,
                        const NameExtras* extras) {
    auto out = begin_row();
    put_enum(out, record.policy());
    put_enum(out, record.turn);
    put(out, record.previous);
    out.varint(record.newest_token().raw());
    put_enum(out, record.newest_mode());
    out.varint(record.holders().size());
    for (const auto& grant : record.holders())
        put(out, grant);
    const WaitQueue nobody{record.policy()};
    const auto& waiting = queue == nullptr ? nobody : *queue;
    put(out, waiting);
    if (extras != nullptr) put(out, *extras);
    std::vector<const LockerTag*> lockers;
    for (const auto& grant : record.holders())
        lockers.push_back(&grant.locker);
    for (const auto* waiter : waiting.in_order())
        lockers.push_back(&waiter->locker);
    put_lockers(out, lockers);
    put_all_terms(out, record.holders(), waiting.in_order());
    return out.take();
}

std::optional<SavedName> decode_name(std::string_view value) {
    auto in = open_row(value);
    const auto policy = get_enum(in, QueuePolicy::prefer_writers);
    const auto turn = get_enum(in, Turn::readers);
    auto previous = get_previous(in);
    const FencingToken newest_token{in.varint()};  // none: nobody had it yet, some wait (S32)
    const auto newest_mode = get_enum(in, LockMode::exclusive);
    SavedName saved{LockRecord{policy, newest_token, newest_mode}, WaitQueue{policy}, {}};
    saved.record.turn = turn;
    saved.record.previous = std::move(previous);
    auto holders = get_holders(in);
    get_conversion(in, saved.queue);
    auto waiters = get_waiters(in);
    auto overtakers = get_overtakers(in);
    while (in.ok() && !in.done())
        get_part(in, saved.extras, holders, waiters);
    if (!in.done() || !add_holders(std::move(holders), saved.record)) return std::nullopt;
    for (auto& waiter : waiters)
        saved.queue.add(std::move(waiter));
    if (!saved.queue.restore(std::move(overtakers))) return std::nullopt;
    if (!mark_broken(saved)) return std::nullopt;
    const bool older = saved.record.previous.token <= newest_token;
    if (newest_token.is_set() && !older) return std::nullopt;
    return saved;
}

}  // namespace mortise::core
