#include "core/locks/rows/totals_row.hpp"

#include "core/base/fields.hpp"
#include "core/locks/limits.hpp"
#include "core/locks/rows/row_key.hpp"

namespace mortise::core {

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
    // Version 0.2 has none, and ends here.
    if (totals.clock_marks != 0) out.varint(totals.clock_marks);
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
    if (!in.done() || has_marks != (totals.clock_marks != 0)) return std::nullopt;
    return totals;
}

}  // namespace mortise::core
