#include "core/locks/rows/session_row.hpp"

#include <utility>

#include "core/base/fields.hpp"
#include "core/locks/limits.hpp"
#include "core/locks/rows/fields.hpp"
#include "core/locks/rows/row_key.hpp"

namespace mortise::core {

namespace {

// A grant of several names has a list of them instead of a token. Before a grant of permits there
// is an empty list.
void put_what_was_given(ByteWriter& out, const Answer& answer) {
    if (has_token(answer.kind)) out.varint(answer.token.raw());
    if (answer.kind != AnswerKind::granted) return;
    if (answer.names.empty()) {
        put(out, answer.previous);
        return out.varint(answer.cached_tokens);
    }
    const bool has_slots = !answer.names.front().slots.empty();
    out.varint(has_slots ? 0 : answer.names.size());
    for (const auto& one : answer.names) {
        out.text(one.name);
        out.varint(one.token.raw());
        put(out, one.previous);
        if (has_slots) put(out, one.slots);
    }
}

NamedGrant get_named(ByteReader& in) {
    std::string name{in.text(name_bytes_max)};
    if (!is_valid_name(name)) in.fail();
    const auto token = get_id<FencingToken>(in);
    return {std::move(name), token, get_previous(in), {}};
}

void get_names(ByteReader& in, Answer& answer) {
    constexpr std::size_t name_bytes_min = 6;
    const auto names = in.count(name_bytes_min);
    if (names == 0) {
        answer.names.push_back(get_named(in));
        answer.names.back().slots = get_slots(in);
    }
    for (auto left = names; left > 0 && in.ok(); --left) {
        auto one = get_named(in);
        const bool rises = answer.names.empty() || answer.names.back().name < one.name;
        if (!rises) return in.fail();
        answer.names.push_back(std::move(one));
    }
    if (answer.names.size() > names_at_once_max) in.fail();
}

void get_one_grant(ByteReader& in, Answer& answer) {
    answer.previous = get_previous(in);
    const auto tokens = in.varint();
    if (tokens > cached_tokens_max) in.fail();
    answer.cached_tokens = static_cast<std::uint32_t>(tokens);
}

void get_what_was_given(ByteReader& in, Answer& answer) {
    if (!has_token(answer.kind)) return;
    answer.token = FencingToken{in.varint()};
    const bool granted = answer.kind == AnswerKind::granted;
    if (answer.token.is_set()) {
        if (granted) get_one_grant(in, answer);
    } else if (granted) {
        get_names(in, answer);
    } else {
        in.fail();
    }
}

void put(ByteWriter& out, const std::vector<CycleStep>& cycle) {
    out.varint(cycle.size());
    for (const auto& step : cycle) {
        out.varint(step.node.raw());
        out.varint(step.session.raw());
        out.varint(step.locker);
        out.text(step.label);
        out.text(step.waits_for);
    }
}

std::vector<CycleStep> get_cycle(ByteReader& in) {
    constexpr std::size_t step_bytes_min = 6;
    std::vector<CycleStep> cycle;
    for (auto left = in.count(step_bytes_min); left > 0 && in.ok(); --left) {
        CycleStep step;
        step.node = NodeId{in.varint()};  // not set: a client
        step.session = get_id<SessionId>(in);
        step.locker = in.varint();
        step.label = in.text(label_bytes_max);
        step.waits_for = in.text(name_bytes_max);
        cycle.push_back(std::move(step));
        if (cycle.size() > cycle_steps_max || cycle.back().waits_for.empty()) in.fail();
    }
    return cycle;
}

void put_answers(ByteWriter& out, const KeptAnswers& answers) {
    out.varint(answers.size());
    answers.each([&](LogIndex at, Seq seq, const Answer& answer) {
        out.varint(at.raw());
        out.varint(seq.raw());
        put_answer(out, answer);
    });
}

void get_answers(ByteReader& in, Session& session) {
    auto& answers = session.answers;
    for (auto left = in.count(3); left > 0 && in.ok(); --left) {
        const auto at = get_id<LogIndex>(in);
        const auto seq = get_id<Seq>(in);
        auto answer = get_answer(in);
        const bool is_sound = at >= answers.newest() && seq <= session.applied;
        if (!in.ok() || !is_sound || answers.find(seq) != nullptr) return in.fail();
        answers.keep(at, seq, std::move(answer));
    }
}

void put_broken(ByteWriter& out, const Session& session) {
    out.varint(session.broken.size());
    for (const auto seq : session.broken)
        out.varint(seq.raw());
}

void get_broken(ByteReader& in, Session& session) {
    for (auto left = in.count(1); left > 0 && in.ok(); --left) {
        const auto seq = get_id<Seq>(in);
        const bool rises = session.broken.empty() || *session.broken.rbegin() < seq;
        if (!rises || seq > session.applied) return in.fail();
        session.broken.insert(session.broken.end(), seq);
    }
}

}  // namespace

void put_answer(ByteWriter& out, const Answer& answer) {
    put_enum(out, answer.kind);
    put_what_was_given(out, answer);
    if (answer.kind == AnswerKind::deadlock) put(out, answer.cycle);
}

Answer get_answer(ByteReader& in) {
    Answer answer;
    answer.kind = get_enum(in, last_answer_kind);
    get_what_was_given(in, answer);
    if (answer.kind == AnswerKind::deadlock) answer.cycle = get_cycle(in);
    return answer;
}

namespace {

void put(ByteWriter& out, const Session& session, const OpenSession& opened) {
    put(out, opened);
    out.varint(session.renewed_at.raw());
    out.varint(session.renewal_number);
    out.varint(session.applied.raw());
    put_answers(out, session.answers);
    put_broken(out, session);
}

}  // namespace

std::string encode_session(const Session& session) {
    auto out = begin_row();
    put(out, session, session.opened);
    // Version 0.2 has none, and ends here.
    if (session.opened_at.is_set()) out.varint(session.opened_at.raw());
    return out.take();
}

std::string encode_session_for_client(const Session& session) {
    auto out = begin_row();
    auto opened = session.opened;
    opened.origin = {};
    put(out, session, opened);
    return out.take();
}

std::optional<Session> decode_session(SessionId id, std::string_view value) {
    auto in = open_row(value);
    Session session;
    session.id = id;
    session.opened = get_open_session(in);
    session.renewed_at = get_id<LogIndex>(in);
    session.renewal_number = in.varint();
    session.applied = Seq{in.varint()};
    get_answers(in, session);
    get_broken(in, session);
    if (in.remaining() != 0) session.opened_at = get_id<LogIndex>(in);
    if (!in.done()) return std::nullopt;
    return session;
}

// The label is left out if there is none, as in version 0.2, which has none.
std::string encode_ended(const Departure& departure) {
    auto out = begin_row();
    put_enum(out, departure.how);
    if (!departure.label.empty()) out.text(departure.label);
    return out.take();
}

std::optional<Departure> decode_ended(std::string_view value) {
    auto in = open_row(value);
    Departure departure{get_enum(in, Predecessor::expired), {}};
    if (in.remaining() != 0) {
        departure.label = in.text(label_bytes_max);
        if (departure.label.empty()) return std::nullopt;  // this is left out
    }
    if (!in.done() || departure.how == Predecessor::none) return std::nullopt;
    return departure;
}

std::string encode_epoch(BootEpoch epoch) {
    auto out = begin_row();
    out.varint(epoch.raw());
    return out.take();
}

std::optional<BootEpoch> decode_epoch(std::string_view value) {
    auto in = open_row(value);
    const BootEpoch epoch{in.varint()};
    if (!in.done()) return std::nullopt;
    return epoch;
}

}  // namespace mortise::core
