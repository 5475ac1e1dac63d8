#include "core/locks/rows/totals_row.hpp"

#include "core/base/fields.hpp"
#include "core/locks/limits.hpp"
#include "core/locks/rows/row_key.hpp"

namespace mortise::core {

namespace {

void put_eras(ByteWriter& out, const Eras& eras) {
    out.varint(eras.token_ceiling.raw());
    out.varint(eras.begun);
    out.varint(eras.closing ? eras.closing->id.raw() : 0);
    if (!eras.closing) return;
    out.varint(eras.closing->since.raw());
    out.varint(eras.closing->time_ms);
    out.varint(eras.closing->rho_ppm);
}

Eras get_eras(ByteReader& in) {
    Eras eras;
    eras.token_ceiling = FencingToken{in.varint()};
    eras.begun = in.varint();
    const ClosureId id{in.varint()};
    if (!id.is_set()) return eras;
    auto& closing = eras.closing.emplace();
    closing.id = id;
    closing.kind = Closure::Kind::era;
    closing.since = get_id<LogIndex>(in);
    const auto time_ms = in.varint();
    const auto rho_ppm = in.varint();
    if (time_ms == 0 || time_ms > session_ttl_ms_max || rho_ppm >= rho_ppm_end) in.fail();
    closing.time_ms = static_cast<std::uint32_t>(time_ms);
    closing.rho_ppm = static_cast<std::uint32_t>(rho_ppm);
    return eras;
}

// No era closes a cluster that has begun none, and a ceiling is a token.
bool is_sound(const StateTotals& totals) {
    const auto& eras = totals.eras;
    if (eras.token_ceiling.raw() > token_ceiling_max) return false;
    return !eras.closing || (eras.begun != 0 && eras.closing->id <= totals.newest_closure);
}

}  // namespace

std::string encode_totals(const StateTotals& totals) {
    auto out = begin_row();
    out.varint(totals.newest_token.raw());
    out.varint(totals.newest_session.raw());
    out.varint(totals.endings);
    out.varint(totals.sessions);
    out.varint(totals.names);
    out.varint(totals.incarnations);
    put_flag(out, totals.sweep.waited_done);
    out.text(totals.sweep.waited_cursor);
    out.varint(totals.newest_closure.raw());
    // Version 0.2 has neither of these, and ends here.
    if (totals.clock_marks != 0 || !totals.eras.is_empty()) out.varint(totals.clock_marks);
    if (!totals.eras.is_empty()) put_eras(out, totals.eras);
    return out.take();
}

std::optional<StateTotals> decode_totals(std::string_view value) {
    auto in = open_row(value);
    StateTotals totals;
    totals.newest_token = FencingToken{in.varint()};
    totals.newest_session = SessionId{in.varint()};
    totals.endings = in.varint();
    totals.sessions = in.varint();
    totals.names = in.varint();
    totals.incarnations = in.varint();
    totals.sweep.waited_done = get_flag(in);
    totals.sweep.waited_cursor = in.text(name_bytes_max);
    totals.newest_closure = ClosureId{in.varint()};
    const bool has_marks = in.remaining() != 0;
    if (has_marks) totals.clock_marks = in.varint();
    const bool has_eras = in.remaining() != 0;
    if (has_eras) totals.eras = get_eras(in);
    const bool is_shortest =
        has_marks == (totals.clock_marks != 0 || has_eras) && has_eras != totals.eras.is_empty();
    if (!in.done() || !is_shortest || !is_sound(totals)) return std::nullopt;
    return totals;
}

}  // namespace mortise::core
