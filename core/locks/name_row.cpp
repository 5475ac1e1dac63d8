#include "core/locks/name_row.hpp"

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

void get_holders(ByteReader& in, LockRecord& record) {
    for (auto left = in.count(holder_bytes_min); left > 0 && in.ok(); --left) {
        Grant grant;
        grant.operation = get_operation(in);
        grant.mode = get_enum(in, LockMode::exclusive);
        grant.token = get_id<FencingToken>(in);
        grant.since = get_id<LogIndex>(in);
        grant.label = in.text(label_bytes_max);
        const bool fits = grant.token <= record.newest_token() && record.admits(grant.mode);
        if (!in.ok() || !fits) return in.fail();
        record.add(std::move(grant));
    }
}

void get_waiters(ByteReader& in, WaitQueue& queue) {
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
        if (!in.ok() || !sound) return in.fail();
        before = waiter.ticket;
        queue.add(std::move(waiter));
    }
}

void get_overtakers(ByteReader& in, WaitQueue& queue) {
    WaitQueue::Overtakers overtakers;
    for (auto left = in.count(ticket_bytes_min); left > 0 && in.ok(); --left)
        overtakers.push_back(get_ticket(in));
    if (!queue.restore(std::move(overtakers))) in.fail();
}

}  // namespace

std::string encode_name(const LockRecord& record, const WaitQueue* queue) {
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
    put(out, queue == nullptr ? nobody : *queue);
    return out.take();
}

std::optional<SavedName> decode_name(std::string_view value) {
    auto in = open_row(value);
    const auto policy = get_enum(in, QueuePolicy::prefer_writers);
    const auto turn = get_enum(in, Turn::readers);
    auto previous = get_previous(in);
    const FencingToken newest_token{in.varint()};  // none: nobody had it yet, some wait (S32)
    const auto newest_mode = get_enum(in, LockMode::exclusive);
    SavedName saved{LockRecord{policy, newest_token, newest_mode}, WaitQueue{policy}};
    saved.record.turn = turn;
    saved.record.previous = std::move(previous);
    get_holders(in, saved.record);
    get_conversion(in, saved.queue);
    get_waiters(in, saved.queue);
    get_overtakers(in, saved.queue);
    const bool older = saved.record.previous.token <= newest_token;
    if (!in.done() || (newest_token.is_set() && !older)) return std::nullopt;
    return saved;
}

}  // namespace mortise::core
