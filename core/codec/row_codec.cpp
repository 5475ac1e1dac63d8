#include "core/codec/row_codec.hpp"

#include "core/base/bytes.hpp"
#include "core/locks/limits.hpp"

namespace mortise::core {

namespace {

template <class Enum>
Enum get_enum(ByteReader& in, Enum last) {
    const auto number = in.u8();
    if (number > static_cast<std::uint8_t>(last)) {
        in.fail();
        return {};
    }
    return static_cast<Enum>(number);
}

template <class Enum>
void put_enum(ByteWriter& out, Enum value) {
    out.u8(static_cast<std::uint8_t>(value));
}

template <class AnyId>
AnyId get_id(ByteReader& in) {
    const AnyId id{in.varint()};
    if (!id.is_set()) in.fail();
    return id;
}

ByteWriter begin() {
    ByteWriter out;
    out.u8(row_format);
    return out;
}

ByteReader open(std::string_view value) {
    ByteReader in{value};
    if (in.u8() != row_format) in.fail();
    return in;
}

void put(ByteWriter& out, const Previous& previous) {
    put_enum(out, previous.how);
    out.varint(previous.token.raw());
    out.text(previous.label);
}

Previous get_previous(ByteReader& in) {
    Previous previous;
    previous.how = get_enum(in, Predecessor::broken);
    previous.token = FencingToken{in.varint()};
    previous.label = in.text(label_bytes_max);
    const bool is_nobody = !previous.token.is_set() && previous.label.empty();
    const bool wrong = previous.how == Predecessor::none ? !is_nobody : !previous.token.is_set();
    if (wrong) in.fail();
    return previous;
}

void put(ByteWriter& out, OperationId operation) {
    out.varint(operation.session.raw());
    out.varint(operation.seq.raw());
}

OperationId get_operation(ByteReader& in) {
    const auto session = get_id<SessionId>(in);
    return {session, get_id<Seq>(in)};
}

// --- sessions
// -------------------------------------------------------------------------------------

void put(ByteWriter& out, const OpenSession& opened) {
    out.u64(opened.nonce);
    out.u64(opened.node.raw());
    out.u64(opened.incarnation.raw());
    out.varint(opened.boot_epoch.raw());
    out.u32(opened.ttl_ms);
    out.u32(opened.rho_ppm);
    out.u8(opened.former_life_ended ? 1 : 0);
}

OpenSession get_opened(ByteReader& in) {
    OpenSession opened;
    opened.nonce = in.u64();
    opened.node = NodeId{in.u64()};
    opened.incarnation = Incarnation{in.u64()};
    opened.boot_epoch = BootEpoch{in.varint()};
    opened.ttl_ms = in.u32();
    opened.rho_ppm = in.u32();
    const auto flag = in.u8();
    opened.former_life_ended = flag == 1;
    if (flag > 1 || opened.nonce == 0) in.fail();
    return opened;
}

void put(ByteWriter& out, const SeqSet& seen) {
    out.varint(seen.runs());
    seen.each_run([&](Seq first, Seq last) {
        out.varint(first.raw());
        out.varint(last.raw());
    });
}

void get_seen(ByteReader& in, SeqSet& seen) {
    for (auto left = in.count(2); left > 0 && in.ok(); --left) {
        const auto first = get_id<Seq>(in);
        const Seq last{in.varint()};
        if (!seen.append(first, last)) in.fail();
    }
}

void put_answers(ByteWriter& out, const Session& session) {
    out.varint(session.answered().size());
    for (const auto& [at, seq] : session.answered()) {
        const auto& answer = session.answers.at(seq);
        out.varint(at.raw());
        out.varint(seq.raw());
        put_enum(out, answer.kind);
        if (answer.kind != AnswerKind::granted) continue;
        out.varint(answer.token.raw());
        put(out, answer.previous);
    }
}

void get_answers(ByteReader& in, Session& session) {
    LogIndex before;
    for (auto left = in.count(3); left > 0 && in.ok(); --left) {
        const auto at = get_id<LogIndex>(in);
        const auto seq = get_id<Seq>(in);
        Answer answer;
        answer.kind = get_enum(in, AnswerKind::resource_exhausted);
        if (answer.kind == AnswerKind::granted) {
            answer.token = get_id<FencingToken>(in);
            answer.previous = get_previous(in);
        }
        if (!in.ok() || at < before || session.answers.contains(seq)) return in.fail();
        session.keep_answer(at, seq, std::move(answer));
        before = at;
    }
}

// --- names
// ----------------------------------------------------------------------------------------

constexpr std::size_t holder_bytes_min = 6;
constexpr std::size_t waiter_bytes_min = 6;

void put(ByteWriter& out, const Grant& grant) {
    put(out, grant.operation);
    put_enum(out, grant.mode);
    out.varint(grant.token.raw());
    out.varint(grant.since.raw());
    out.text(grant.label);
}

void put(ByteWriter& out, const Waiter& waiter) {
    out.varint(waiter.ticket.index.raw());
    out.varint(waiter.ticket.place);
    put(out, waiter.operation);
    put_enum(out, waiter.mode);
    out.text(waiter.label);
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
        waiter.ticket.index = get_id<LogIndex>(in);
        const auto place = in.varint();
        waiter.ticket.place = static_cast<std::uint32_t>(place);
        waiter.operation = get_operation(in);
        waiter.mode = get_enum(in, LockMode::exclusive);
        waiter.label = in.text(label_bytes_max);
        const bool in_order = place == waiter.ticket.place && before < waiter.ticket;
        if (!in.ok() || !in_order) return in.fail();
        before = waiter.ticket;
        queue.add(std::move(waiter));
    }
}

}  // namespace

// --- keys
// -----------------------------------------------------------------------------------------

std::string row_key(RowKind kind, std::string_view name) {
    std::string key(1, static_cast<char>(kind));
    key.append(name);
    return key;
}

std::string row_key(RowKind kind, std::uint64_t id) {
    std::string key(1, static_cast<char>(kind));
    for (unsigned shift = 64; shift > 0;)
        key.push_back(static_cast<char>(id >> (shift -= 8)));
    return key;
}

std::optional<std::uint64_t> id_of_row(std::string_view key) {
    if (key.size() != 1 + sizeof(std::uint64_t)) return std::nullopt;
    std::uint64_t id = 0;
    for (const char byte : key.substr(1))
        id = (id << 8U) | static_cast<unsigned char>(byte);
    if (id == 0) return std::nullopt;
    return id;
}

// --- values
// ---------------------------------------------------------------------------------------

std::string encode_totals(const StateTotals& totals) {
    auto out = begin();
    out.varint(totals.newest_token.raw());
    out.varint(totals.newest_session.raw());
    out.varint(totals.endings);
    out.varint(totals.sessions);
    out.varint(totals.names);
    out.varint(totals.incarnations);
    out.u8(totals.waited_done ? 1 : 0);
    out.text(totals.waited_cursor);
    return out.take();
}

std::optional<StateTotals> decode_totals(std::string_view value) {
    auto in = open(value);
    StateTotals totals;
    totals.newest_token = FencingToken{in.varint()};
    totals.newest_session = SessionId{in.varint()};
    totals.endings = in.varint();
    totals.sessions = in.varint();
    totals.names = in.varint();
    totals.incarnations = in.varint();
    const auto done = in.u8();
    totals.waited_done = done == 1;
    totals.waited_cursor = in.text(name_bytes_max);
    if (!in.done() || done > 1) return std::nullopt;
    return totals;
}

std::string encode_session(const Session& session) {
    auto out = begin();
    put(out, session.opened);
    out.varint(session.renewed_at.raw());
    out.varint(session.renewal_number);
    put(out, session.seen);
    put_answers(out, session);
    return out.take();
}

std::optional<Session> decode_session(SessionId id, std::string_view value) {
    auto in = open(value);
    Session session;
    session.id = id;
    session.opened = get_opened(in);
    session.renewed_at = get_id<LogIndex>(in);
    session.renewal_number = in.varint();
    get_seen(in, session.seen);
    get_answers(in, session);
    if (!in.done()) return std::nullopt;
    return session;
}

std::string encode_ended(Predecessor how) {
    auto out = begin();
    put_enum(out, how);
    return out.take();
}

std::optional<Predecessor> decode_ended(std::string_view value) {
    auto in = open(value);
    const auto how = get_enum(in, Predecessor::expired);
    if (!in.done() || how == Predecessor::none) return std::nullopt;
    return how;
}

std::string encode_epoch(BootEpoch epoch) {
    auto out = begin();
    out.varint(epoch.raw());
    return out.take();
}

std::optional<BootEpoch> decode_epoch(std::string_view value) {
    auto in = open(value);
    const BootEpoch epoch{in.varint()};
    if (!in.done()) return std::nullopt;
    return epoch;
}

std::string encode_name(const LockRecord& record, const WaitQueue* queue) {
    auto out = begin();
    put_enum(out, record.policy());
    put_enum(out, record.turn);
    put(out, record.previous);
    out.varint(record.newest_token().raw());
    put_enum(out, record.newest_mode());
    out.varint(record.holders().size());
    for (const auto& grant : record.holders())
        put(out, grant);
    out.varint(queue == nullptr ? 0 : queue->size());
    if (queue != nullptr) {
        for (const auto* waiter : queue->in_order())
            put(out, *waiter);
    }
    return out.take();
}

std::optional<SavedName> decode_name(std::string_view value) {
    auto in = open(value);
    const auto policy = get_enum(in, QueuePolicy::fifo);
    const auto turn = get_enum(in, Turn::readers);
    auto previous = get_previous(in);
    const auto newest_token = get_id<FencingToken>(in);
    const auto newest_mode = get_enum(in, LockMode::exclusive);
    SavedName saved{LockRecord{policy, newest_token, newest_mode}, {}};
    saved.record.turn = turn;
    saved.record.previous = std::move(previous);
    get_holders(in, saved.record);
    get_waiters(in, saved.queue);
    if (!in.done() || saved.record.previous.token > newest_token) return std::nullopt;
    return saved;
}

}  // namespace mortise::core
