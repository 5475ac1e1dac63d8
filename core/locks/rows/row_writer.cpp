#include "core/locks/rows/row_writer.hpp"

#include <algorithm>
#include <utility>

#include "core/locks/rows/clock_row.hpp"
#include "core/locks/rows/name_row.hpp"
#include "core/locks/rows/row_key.hpp"
#include "core/locks/rows/session_row.hpp"
#include "core/locks/rows/totals_row.hpp"

namespace mortise::core {

namespace {

std::string totals_of(const RowWriter::ConstState& state) {
    StateTotals totals;
    totals.newest_token = state.table.newest_token();
    totals.newest_session = state.sessions.newest();
    totals.endings = state.ended.endings();
    totals.sessions = state.sessions.all().size();
    totals.names = state.table.size();
    totals.incarnations = state.sessions.newest_epochs().size();
    totals.sweep = state.ended.progress();
    totals.newest_closure = state.table.closures().newest();
    totals.clock_marks = state.clock.all().size();
    totals.eras = state.eras;
    return encode_totals(totals);
}

Row row_of_ended(const EndedSessions& ended, SessionId id) {
    Row row{row_key(RowKind::ended_session, id.raw()), {}};
    if (const auto* departure = ended.departure(id)) row.value = encode_ended(*departure);
    return row;
}

Row row_of(const SessionTable& sessions, Incarnation id) {
    return {row_key(RowKind::incarnation, id.raw()),
            encode_epoch(sessions.newest_start(id).boot_epoch)};
}

// The table must have that record.
Row row_of(const LockTable& table, const NamedRecord& record) {
    const auto name = record.name();
    return {
        row_key(RowKind::name, name),
        encode_name(record, record.queue(), table.values().find(name), table.closures().of(name))};
}

Row row_of(const ClockMark& mark) {
    return {row_key(RowKind::clock_mark, mark.index.raw()), encode_mark(mark)};
}

// Without a value if the mark is gone.
Row row_of(const ClockMarks& clock, LogIndex index) {
    const auto& all = clock.all();
    const auto mark = std::ranges::lower_bound(all, index, {}, &ClockMark::index);
    if (mark != all.end() && mark->index == index) return row_of(*mark);
    return {row_key(RowKind::clock_mark, index.raw()), {}};
}

Row row_of(const SessionTable& sessions, SessionId id) {
    Row row{row_key(RowKind::session, id.raw()), {}};
    if (const auto* session = sessions.find(id)) row.value = encode_session(*session);
    return row;
}

}  // namespace

std::size_t RowWriter::changed(ConstState state) {
    return 1 + state.ended.changes().size() + state.table.names().changes().size() +
           state.sessions.changes().sessions.size() + state.sessions.changes().incarnations.size() +
           state.clock.changes().size();
}

// A name that came and went since the last take() has no row that could be removed.
void RowWriter::add_name(const LockTable& table, const RecordRef& record, std::vector<Row>& rows) {
    const bool is_known = record->is_known();
    const auto before = record->row_sum();
    if (!is_known && !before) return;
    std::optional<std::uint64_t> now;
    if (is_known) {
        rows.push_back(row_of(table, *record));
        now = RowSum::of(rows.back().key, *rows.back().value);
        record->set_row_sum(now);
    } else {
        rows.push_back({row_key(RowKind::name, record->name()), {}});
    }
    sum_.replace(before, now);
}

std::vector<Row> RowWriter::take_names(LockTable& table, std::size_t max) {
    std::vector<Row> rows;
    const auto changes = table.take_changes(max);
    rows.reserve(changes.size());
    for (const auto& record : changes)
        add_name(table, record, rows);
    return rows;
}

// The kinds come in the order of their first bytes, so that all rows ascend by key.
std::vector<Row> RowWriter::take(State state) {
    std::vector<Row> rows;
    const ConstState known{state.sessions, state.table, state.ended, state.clock, state.eras};
    rows.reserve(changed(known));
    for (const auto id : state.ended.changes())
        rows.push_back(row_of_ended(state.ended, id));
    if (auto now = totals_of(known); now != told_totals_) {
        rows.push_back({row_key(RowKind::totals), now});
        told_totals_ = std::move(now);
    }
    for (const auto id : state.sessions.changes().incarnations)
        rows.push_back(row_of(state.sessions, id));
    sum_up(rows, 0);
    for (const auto& record : state.table.take_changes(SIZE_MAX))
        add_name(state.table, record, rows);
    const auto behind_names = rows.size();
    for (const auto id : state.sessions.changes().sessions)
        rows.push_back(row_of(state.sessions, id));
    for (const auto index : state.clock.changes())
        rows.push_back(row_of(state.clock, index));
    sum_up(rows, behind_names);
    state.ended.forget_changes();
    state.sessions.forget_changes();
    state.clock.forget_changes();
    return rows;
}

void RowWriter::sum_up(const std::vector<Row>& rows, std::size_t from) {
    for (; from < rows.size(); ++from)
        sum_.put(rows[from].key, rows[from].value);
}

void RowWriter::add_read(std::string_view key, std::string_view value, LockTable& table) {
    if (key.front() != static_cast<char>(RowKind::name)) return sum_.put(key, value);
    const auto sum = RowSum::of(key, value);
    table.names().record(key.substr(1))->set_row_sum(sum);
    sum_.replace(std::nullopt, sum);
}

void RowWriter::all_read(State state) {
    told_totals_ = totals_of({state.sessions, state.table, state.ended, state.clock, state.eras});
}

std::vector<Row> RowWriter::all(ConstState state) {
    std::vector<Row> rows;
    for (const auto& [id, traces] : state.ended.all())
        rows.push_back(row_of_ended(state.ended, id));
    rows.push_back({row_key(RowKind::totals), totals_of(state)});
    for (const auto& [id, epoch] : state.sessions.newest_epochs())
        rows.push_back(row_of(state.sessions, id));
    for (const auto& record : state.table.records())
        rows.push_back(row_of(state.table, *record));
    for (const auto& [id, session] : state.sessions.all())
        rows.push_back(row_of(state.sessions, id));
    for (const auto& mark : state.clock.all())
        rows.push_back(row_of(mark));
    return rows;
}

}  // namespace mortise::core
