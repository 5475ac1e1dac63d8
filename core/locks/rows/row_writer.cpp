#include "core/locks/rows/row_writer.hpp"

#include <utility>

#include "core/locks/rows/name_row.hpp"
#include "core/locks/rows/row_key.hpp"
#include "core/locks/rows/session_row.hpp"
#include "core/locks/rows/totals_row.hpp"

namespace mortise::core {

namespace {

std::string totals_of(const RowWriter::State& state) {
    StateTotals totals;
    totals.newest_token = state.table.newest_token();
    totals.newest_session = state.sessions.newest();
    totals.endings = state.ended.endings();
    totals.sessions = state.sessions.all().size();
    totals.names = state.table.records().size();
    totals.incarnations = state.sessions.newest_epochs().size();
    totals.sweep = state.ended.progress();
    totals.newest_closure = state.table.closures().newest();
    return encode_totals(totals);
}

void add_ended(const EndedSessions& ended, std::vector<Row>& rows) {
    for (const auto id : ended.changes()) {
        rows.push_back({row_key(RowKind::ended_session, id.raw()), {}});
        if (const auto how = ended.how(id)) rows.back().value = encode_ended(*how);
    }
}

void add_names(const LockTable& table, std::vector<Row>& rows) {
    for (const auto& name : table.names().changes()) {
        rows.push_back({row_key(RowKind::name, name), {}});
        const auto* record = table.find(name);
        if (record == nullptr) continue;
        rows.back().value = encode_name(*record, table.queue_of(name), table.values().find(name),
                                        table.closures().of(name));
    }
}

void add_incarnations(const SessionTable& sessions, std::vector<Row>& rows) {
    for (const auto id : sessions.changes().incarnations) {
        rows.push_back({row_key(RowKind::incarnation, id.raw()),
                        encode_epoch(sessions.newest_start(id).boot_epoch)});
    }
}

void add_sessions(const SessionTable& sessions, std::vector<Row>& rows) {
    for (const auto id : sessions.changes().sessions) {
        rows.push_back({row_key(RowKind::session, id.raw()), {}});
        const auto* session = sessions.find(id);
        if (session != nullptr) rows.back().value = encode_session(*session);
    }
}

}  // namespace

std::size_t RowWriter::changed(const SessionTable& sessions, const LockTable& table,
                               const EndedSessions& ended) {
    return 1 + ended.changes().size() + table.names().changes().size() +
           sessions.changes().sessions.size() + sessions.changes().incarnations.size();
}

// The kinds come in the order of their first bytes, so that all rows ascend by key.
std::vector<Row> RowWriter::take(State state) {
    std::vector<Row> rows;
    rows.reserve(changed(state.sessions, state.table, state.ended));
    add_ended(state.ended, rows);
    if (auto now = totals_of(state); now != told_totals_) {
        rows.push_back({row_key(RowKind::totals), now});
        told_totals_ = std::move(now);
    }
    add_incarnations(state.sessions, rows);
    add_names(state.table, rows);
    add_sessions(state.sessions, rows);
    state.ended.forget_changes();
    state.table.forget_changes();
    state.sessions.forget_changes();
    for (const auto& row : rows)
        sum_.put(row.key, row.value);
    return rows;
}

void RowWriter::all_read(State state) {
    told_totals_ = totals_of(state);
}

}  // namespace mortise::core
