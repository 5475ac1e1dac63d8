#include "core/locks/machine_rows.hpp"

#include <algorithm>
#include <utility>

#include "core/base/check.hpp"
#include "core/base/fields.hpp"
#include "core/locks/limits.hpp"
#include "core/locks/name_row.hpp"
#include "core/locks/row_key.hpp"
#include "core/locks/session_row.hpp"

namespace mortise::core {

namespace {

std::string encode_totals(const StateTotals& totals) {
    auto out = begin_row();
    out.varint(totals.newest_token.raw());
    out.varint(totals.newest_session.raw());
    out.varint(totals.endings);
    out.varint(totals.sessions);
    out.varint(totals.names);
    out.varint(totals.incarnations);
    put_flag(out, totals.waited_done);
    out.text(totals.waited_cursor);
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
    totals.waited_done = get_flag(in);
    totals.waited_cursor = in.text(name_bytes_max);
    if (!in.done()) return std::nullopt;
    return totals;
}

}  // namespace

// --- to rows ------------------------------------------------------------------------------------

std::string LockMachine::totals() const {
    StateTotals totals;
    totals.newest_token = table_.newest_token();
    totals.newest_session = sessions_.newest();
    totals.endings = endings_;
    totals.sessions = sessions_.all().size();
    totals.names = table_.records().size();
    totals.incarnations = sessions_.newest_epochs().size();
    totals.waited_cursor = waited_cursor_;
    totals.waited_done = waited_done_;
    return encode_totals(totals);
}

std::size_t LockMachine::changed_rows() const {
    return 1 + changed_ended_.size() + table_.changes().size() +
           sessions_.changes().sessions.size() + sessions_.changes().incarnations.size();
}

// The kinds in the order of their first bytes, each in its own order: ascending by key.
std::vector<Row> LockMachine::take_changed_rows() {
    std::vector<Row> rows;
    rows.reserve(changed_rows());
    for (const auto id : changed_ended_) {
        rows.push_back({row_key(RowKind::ended_session, id.raw()), {}});
        const auto ended = ended_.find(id);
        if (ended != ended_.end()) rows.back().value = encode_ended(ended->second.how);
    }
    if (auto now = totals(); now != told_totals_) {
        rows.push_back({row_key(RowKind::totals), now});
        told_totals_ = std::move(now);
    }
    for (const auto id : sessions_.changes().incarnations) {
        rows.push_back(
            {row_key(RowKind::incarnation, id.raw()), encode_epoch(sessions_.newest_epoch(id))});
    }
    for (const auto& name : table_.changes()) {
        rows.push_back({row_key(RowKind::name, name), {}});
        const auto* record = table_.find(name);
        if (record != nullptr) rows.back().value = encode_name(*record, table_.queue_of(name));
    }
    for (const auto id : sessions_.changes().sessions) {
        rows.push_back({row_key(RowKind::session, id.raw()), {}});
        const auto* session = sessions_.find(id);
        if (session != nullptr) rows.back().value = encode_session(*session);
    }
    changed_ended_.clear();
    table_.forget_changes();
    sessions_.forget_changes();
    for (const auto& row : rows)
        rows_sum_.put(row.key, row.value);
    return rows;
}

// --- from rows ----------------------------------------------------------------------------------

bool MachineLoader::add(std::string_view key, std::string_view value) {
    is_empty_ = false;
    ok_ = ok_ && take(key, value);
    if (ok_) machine_.rows_sum_.put(key, value);
    return ok_;
}

bool MachineLoader::take(std::string_view key, std::string_view value) {
    if (key.empty()) return false;
    const auto kind = static_cast<RowKind>(key.front());
    if (kind == RowKind::totals) return key.size() == 1 && add_totals(value);
    if (kind == RowKind::name) return add_name(key.substr(1), value);
    const auto id = id_of_row(key);
    if (!id) return false;
    if (kind == RowKind::session) return add_session(SessionId{*id}, value);
    if (kind == RowKind::ended_session) return add_ended(SessionId{*id}, value);
    if (kind != RowKind::incarnation) return false;
    const auto epoch = decode_epoch(value);
    return epoch && machine_.sessions_.restore(Incarnation{*id}, *epoch);
}

bool MachineLoader::add_totals(std::string_view value) {
    if (totals_) return false;
    totals_ = decode_totals(value);
    return totals_.has_value();
}

bool MachineLoader::add_session(SessionId id, std::string_view value) {
    auto session = decode_session(id, value);
    return session && machine_.sessions_.restore(std::move(*session));
}

bool MachineLoader::add_ended(SessionId id, std::string_view value) {
    const auto how = decode_ended(value);
    return how && machine_.ended_.emplace(id, LockMachine::Ended{*how, {}}).second;
}

bool MachineLoader::add_name(std::string_view name, std::string_view value) {
    auto saved = decode_name(value);
    return saved && is_valid_name(name) &&
           machine_.table_.restore(std::string{name}, std::move(saved->record),
                                   std::move(saved->queue));
}

std::optional<LockMachine> MachineLoader::finish(LogIndex applied) {
    if (is_empty_ && !applied.is_set()) return LockMachine{};
    if (!ok_ || !is_complete()) return std::nullopt;
    machine_.sessions_.restore_newest(totals_->newest_session);
    machine_.table_.restore_newest(totals_->newest_token);
    machine_.endings_ = totals_->endings;
    machine_.waited_cursor_ = totals_->waited_cursor;
    machine_.waited_done_ = totals_->waited_done;
    machine_.index_ = applied;
    if (!put_operations_back(applied) || !are_sessions_sound(applied)) return std::nullopt;
    try {
        machine_.check_invariants();
    } catch (const InvariantBroken&) {
        return std::nullopt;  // not by us, and nobody has acted on it yet
    }
    machine_.table_.forget_changes();
    machine_.sessions_.forget_changes();
    machine_.told_totals_ = machine_.totals();
    return std::move(machine_);
}

bool MachineLoader::is_complete() const {
    return totals_ && totals_->sessions == machine_.sessions_.all().size() &&
           totals_->names == machine_.table_.records().size() &&
           totals_->incarnations == machine_.sessions_.newest_epochs().size();
}

// Each holder and each waiter is an operation of its session.
bool MachineLoader::put_operations_back(LogIndex applied) {
    for (const auto& [name, record] : machine_.table_.records()) {
        for (const auto& holder : record.holders()) {
            if (holder.since > applied) return false;
            if (!put_back(holder.operation, {name, holder.mode, {}, true})) return false;
        }
        const auto* queue = machine_.table_.queue_of(name);
        if (queue == nullptr) continue;
        for (const auto* waiter : queue->in_order()) {
            if (waiter->ticket.index > applied) return false;
            Operation waits{name, waiter->mode, waiter->ticket, false};
            if (!put_back(waiter->operation, std::move(waits))) return false;
        }
    }
    return true;
}

bool MachineLoader::put_back(OperationId id, Operation operation) {
    if (auto* session = machine_.sessions_.change(id.session)) {
        return session->operations.emplace(id.seq, std::move(operation)).second;
    }
    const auto ended = machine_.ended_.find(id.session);
    return ended != machine_.ended_.end() &&
           ended->second.operations.emplace(id.seq, std::move(operation)).second;
}

bool MachineLoader::are_sessions_sound(LogIndex applied) const {
    const auto newest = totals_->newest_session;
    if (!machine_.ended_.empty() &&
        (machine_.endings_ == 0 || machine_.ended_.rbegin()->first > newest)) {
        return false;
    }
    const auto& all = machine_.sessions_.all();
    if (!all.empty() && all.rbegin()->first > newest) return false;
    return std::ranges::all_of(all, [&](const auto& one) { return is_sound(one.second, applied); });
}

bool MachineLoader::is_sound(const Session& session, LogIndex applied) const {
    const auto& opened = session.opened;
    if (machine_.sessions_.newest_epoch(opened.incarnation) < opened.boot_epoch) return false;
    if (session.renewed_at > applied) return false;
    const auto& answered = session.answered();
    if (!answered.empty() && answered.back().first > applied) return false;
    const bool seen = std::ranges::all_of(
        answered, [&](const auto& one) { return session.seen.contains(one.second); });
    // Who waits has no answer yet: it would get a second one.
    return seen && std::ranges::all_of(session.operations, [&](const auto& one) {
               const auto& [seq, operation] = one;
               return session.seen.contains(seq) &&
                      (operation.held || !session.answers.contains(seq));
           });
}

}  // namespace mortise::core
