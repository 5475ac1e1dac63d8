#include "core/client/client_codec.hpp"

#include "core/base/fields.hpp"
#include "core/base/overloaded.hpp"
#include "core/locks/limits.hpp"
#include "core/locks/rows/session_row.hpp"

namespace mortise::core {

namespace {

constexpr std::uint8_t client_format = 1;

enum class MessageKind : std::uint8_t { attach, forward, watch_hold, ping };

// The outcomes that concern a client.
enum class Happening : std::uint8_t {
    answered,
    queued,
    opened,
    refused,
    renewed,
    renewal_lost,
    ended,
    broken,
    closure_begun,
};

// The parts of a notice that only some notices have.
enum Part : std::uint8_t {
    part_state = 1,
    part_leader_known = 2,
    part_no_leader = 4,
    part_gap = 8,
    part_contended = 16,
    part_asked = 32,
    part_refused = 64,
};

constexpr std::size_t refused_bytes_max = 1'024;

// --- fields

void put_operation(ByteWriter& out, OperationId operation) {
    out.varint(operation.session.raw());
    out.varint(operation.seq.raw());
}

OperationId get_operation_id(ByteReader& in) {
    const auto session = get_id<SessionId>(in);
    return {session, get_id<Seq>(in)};
}

void put_contended(ByteWriter& out, const std::vector<Contended>& all) {
    out.varint(all.size());
    for (const auto& one : all) {
        put_operation(out, one.hold);
        put_enum(out, one.mode);
        out.varint(one.waiters);
        out.text(one.reason);
    }
}

std::vector<Contended> get_contended(ByteReader& in) {
    constexpr std::size_t bytes_min = 5;
    std::vector<Contended> all;
    for (auto left = in.count(bytes_min); left > 0 && in.ok(); --left) {
        Contended one;
        one.hold = get_operation_id(in);
        one.mode = get_enum(in, LockMode::exclusive);
        one.waiters = in.varint();
        one.reason = in.text(reason_bytes_max);
        all.push_back(std::move(one));
    }
    return all;
}

// --- outcomes

void put_outcome(ByteWriter& out, const Answered& one) {
    put_enum(out, Happening::answered);
    put_operation(out, one.operation);
    put_answer(out, one.answer);
}

void put_outcome(ByteWriter& out, const Queued& one) {
    put_enum(out, Happening::queued);
    put_operation(out, one.operation);
}

void put_outcome(ByteWriter& out, const SessionOpened& one) {
    put_enum(out, Happening::opened);
    out.varint(one.session.raw());
    out.u64(one.nonce);
}

void put_outcome(ByteWriter& out, const OpenRefused& one) {
    put_enum(out, Happening::refused);
    out.u64(one.nonce);
    // Earlier versions do not know the last one. A client does the same about both.
    put_enum(out, one.why == OpenRefusal::era ? OpenRefusal::table_full : one.why);
}

void put_outcome(ByteWriter& out, const SessionRenewed& one) {
    put_enum(out, Happening::renewed);
    out.varint(one.session.raw());
    out.varint(one.number);
    out.varint(one.broken.size());
    for (const auto seq : one.broken)
        out.varint(seq.raw());
}

void put_outcome(ByteWriter& out, const RenewalLost& one) {
    put_enum(out, Happening::renewal_lost);
    out.varint(one.session.raw());
}

void put_outcome(ByteWriter& out, const SessionEnded& one) {
    put_enum(out, Happening::ended);
    out.varint(one.session.raw());
    put_enum(out, one.how);
}

void put_outcome(ByteWriter& out, const LockBroken& one) {
    put_enum(out, Happening::broken);
    out.varint(one.holds.size());
    for (const auto hold : one.holds)
        put_operation(out, hold);
}

void put_outcome(ByteWriter& out, const ClosureBegun& one) {
    put_enum(out, Happening::closure_begun);
    put_enum(out, one.kind);
    put_operation(out, one.hold);
}

SessionRenewed get_session_renewed(ByteReader& in) {
    SessionRenewed one{get_id<SessionId>(in), in.varint(), {}};
    for (auto left = in.count(1); left > 0 && in.ok(); --left)
        one.broken.push_back(get_id<Seq>(in));
    return one;
}

LockBroken get_broken_holds(ByteReader& in) {
    LockBroken one;
    for (auto left = in.count(2); left > 0 && in.ok(); --left)
        one.holds.push_back(get_operation_id(in));
    return one;
}

ClosureBegun get_closure_begun(ByteReader& in) {
    ClosureBegun one;
    one.kind = get_enum(in, Closure::Kind::lock_delay);
    one.hold = get_operation_id(in);
    return one;
}

Outcome get_outcome(ByteReader& in) {
    switch (get_enum(in, Happening::closure_begun)) {
        case Happening::answered: {
            const auto operation = get_operation_id(in);
            return Answered{operation, get_answer(in)};
        }
        case Happening::queued: return Queued{get_operation_id(in)};
        case Happening::opened: {
            const auto session = get_id<SessionId>(in);
            return SessionOpened{session, in.u64()};
        }
        case Happening::refused: {
            const auto nonce = in.u64();
            return OpenRefused{nonce, get_enum(in, OpenRefusal::table_full)};
        }
        case Happening::renewed: return get_session_renewed(in);
        case Happening::renewal_lost: return RenewalLost{get_id<SessionId>(in)};
        case Happening::ended: {
            const auto session = get_id<SessionId>(in);
            return SessionEnded{session, get_enum(in, SessionEnd::former_life)};
        }
        case Happening::broken: return get_broken_holds(in);
        case Happening::closure_begun: break;
    }
    return get_closure_begun(in);
}

// Other outcomes do not concern clients, so no notice has them.
template <class Other>
void put_outcome(ByteWriter& out, const Other& /*other*/) {
    put_enum(out, Happening::broken);
    out.varint(0);
}

// --- parts of a notice

void put_state(ByteWriter& out, const SessionState& state) {
    out.u64(state.nonce);
    out.varint(state.session.raw());
    if (!state.session.is_set()) return;
    out.text(state.row);
    out.varint(state.waiting.size());
    for (const auto seq : state.waiting)
        out.varint(seq.raw());
}

SessionState get_session_state(ByteReader& in) {
    SessionState state{in.u64(), SessionId{in.varint()}};
    if (!state.session.is_set()) return state;
    state.row = in.text(client_notice_bytes_max);
    for (auto left = in.count(1); left > 0 && in.ok(); --left)
        state.waiting.push_back(get_id<Seq>(in));
    return state;
}

std::uint8_t parts_of(const ClientNotice& notice) {
    unsigned parts = 0;
    if (notice.state) parts |= part_state;
    if (notice.has_leader) parts |= *notice.has_leader ? part_leader_known : part_no_leader;
    if (notice.gap.is_set()) parts |= part_gap;
    if (!notice.contended.empty()) parts |= part_contended;
    if (!notice.asked.empty()) parts |= part_asked;
    if (!notice.refused.empty()) parts |= part_refused;
    return static_cast<std::uint8_t>(parts);
}

void get_outcomes(ByteReader& in, ClientNotice& notice) {
    constexpr std::size_t bytes_min = 3;
    LogIndex newest;
    for (auto left = in.count(bytes_min); left > 0 && in.ok(); --left) {
        const auto at = get_id<LogIndex>(in);
        if (at < newest || ClientPosition{at} > notice.applied) in.fail();
        newest = at;
        notice.outcomes.push_back({at, get_outcome(in)});
    }
}

}  // namespace

std::string encode(const ClientMessage& message) {
    ByteWriter out;
    out.u8(client_format);
    std::visit(Overloaded{[&](const Attach& one) {
                              put_enum(out, MessageKind::attach);
                              out.u64(one.nonce);
                              out.varint(one.position.raw());
                          },
                          [&](const Forward& one) {
                              put_enum(out, MessageKind::forward);
                              out.text(one.batch.view());
                              const auto renewal = one.renewal.value_or(Renewal{});
                              out.varint(renewal.session.raw());
                              out.varint(renewal.number);
                          },
                          [&](const WatchHold& one) {
                              put_enum(out, MessageKind::watch_hold);
                              out.varint(one.hold.raw());
                          },
                          [&](const Ping&) { put_enum(out, MessageKind::ping); }},
               message);
    return out.take();
}

namespace {

Attach get_attach(ByteReader& in) {
    const auto nonce = in.u64();
    if (nonce == 0) in.fail();
    return {nonce, ClientPosition::from_raw(in.varint())};
}

Forward get_forward(ByteReader& in) {
    Forward forward;
    forward.batch = Bytes{std::string{in.text(client_message_bytes_max)}};
    const Renewal renewal{SessionId{in.varint()}, in.varint()};
    if (renewal.session.is_set()) forward.renewal = renewal;
    return forward;
}

ClientMessage get_client_message(ByteReader& in) {
    switch (get_enum(in, MessageKind::ping)) {
        case MessageKind::attach: return get_attach(in);
        case MessageKind::forward: return get_forward(in);
        case MessageKind::watch_hold: return WatchHold{get_id<Seq>(in)};
        case MessageKind::ping: break;
    }
    return Ping{};
}

}  // namespace

std::optional<ClientMessage> decode_client_message(std::string_view bytes) {
    ByteReader in{bytes};
    if (in.u8() != client_format) return std::nullopt;
    auto message = get_client_message(in);
    if (!in.done()) return std::nullopt;
    return message;
}

std::string encode(const ClientNotice& notice) {
    ByteWriter out;
    out.u8(client_format);
    out.u8(parts_of(notice));
    out.varint(notice.applied.raw());
    if (notice.state) put_state(out, *notice.state);
    out.varint(notice.outcomes.size());
    for (const auto& [at, outcome] : notice.outcomes) {
        out.varint(at.raw());
        std::visit([&](const auto& one) { put_outcome(out, one); }, outcome);
    }
    if (notice.gap.is_set()) out.varint(notice.gap.raw());
    if (!notice.contended.empty()) put_contended(out, notice.contended);
    if (!notice.asked.empty()) put_contended(out, notice.asked);
    if (!notice.refused.empty()) out.text(notice.refused);
    return out.take();
}

std::optional<ClientNotice> decode_client_notice(std::string_view bytes) {
    ByteReader in{bytes};
    if (in.u8() != client_format) return std::nullopt;
    const unsigned parts = in.u8();
    ClientNotice notice;
    notice.applied = ClientPosition::from_raw(in.varint());
    if ((parts & part_state) != 0) notice.state = get_session_state(in);
    get_outcomes(in, notice);
    if ((parts & part_leader_known) != 0) notice.has_leader = true;
    if ((parts & part_no_leader) != 0) notice.has_leader = false;
    if ((parts & part_gap) != 0) notice.gap = get_id<Seq>(in);
    if ((parts & part_contended) != 0) notice.contended = get_contended(in);
    if ((parts & part_asked) != 0) notice.asked = get_contended(in);
    if ((parts & part_refused) != 0) notice.refused = in.text(refused_bytes_max);
    constexpr unsigned both = part_leader_known | part_no_leader;
    const bool is_sound = parts <= 127U && (parts & both) != both;
    if (!in.done() || !is_sound) return std::nullopt;
    return notice;
}

}  // namespace mortise::core
