#include "core/locks/machine/machine_loader.hpp"

#include <algorithm>
#include <utility>

#include "core/base/check.hpp"
#include "core/base/fields.hpp"
#include "core/locks/limits.hpp"
#include "core/locks/rows/clock_row.hpp"
#include "core/locks/rows/name_row.hpp"
#include "core/locks/rows/row_key.hpp"
#include "core/locks/rows/session_row.hpp"
#include "core/locks/table/table_invariants.hpp"

namespace mortise::core {

// The kinds of rows come in the order of their letters: ended sessions, the totals, incarnations,
// names, the sessions, and at last the marks of time. So the operations of a session are known when
// its row comes.
bool MachineLoader::add(std::string_view key, std::string_view value) {
    ok_ = ok_ && (is_empty_ || last_key_ < key) && take(key, value);
    is_empty_ = false;
    if (!ok_) return false;
    last_key_ = key;
    machine_.rows_.add_read(key, value, machine_.table_);
    return true;
}

bool MachineLoader::take(std::string_view key, std::string_view value) {
    if (key.empty()) return false;
    const auto kind = static_cast<RowKind>(key.front());
    if (kind == RowKind::totals) return key.size() == 1 && add_totals(value);
    if (kind == RowKind::name) return totals_ && add_name(key.substr(1), value);
    const auto id = id_of_row(key);
    if (!id) return false;
    if (kind == RowKind::session) return totals_ && add_session(SessionId{*id}, value);
    if (kind == RowKind::clock_mark) return totals_ && add_mark(LogIndex{*id}, value);
    if (kind == RowKind::ended_session) return add_ended(SessionId{*id}, value);
    if (kind != RowKind::incarnation) return false;
    const auto epoch = decode_epoch(value);
    return epoch && machine_.sessions_.restore(Incarnation{*id}, *epoch);
}

bool MachineLoader::add_totals(std::string_view value) {
    totals_ = decode_totals(value);
    if (!totals_) return false;
    machine_.sessions_.restore_newest(totals_->newest_session);
    machine_.table_.continue_after(totals_->newest_token, totals_->newest_closure);
    machine_.eras_ = totals_->eras;
    if (totals_->eras.closing) newest_index_ = totals_->eras.closing->since;
    return machine_.ended_.restore(totals_->endings, totals_->sweep, totals_->newest_session);
}

bool MachineLoader::add_mark(LogIndex index, std::string_view value) {
    const auto mark = decode_mark(index, value);
    newest_index_ = std::max(newest_index_, index);
    return mark && machine_.clock_.restore(*mark);
}

bool MachineLoader::add_ended(SessionId id, std::string_view value) {
    auto departure = decode_ended(value);
    return departure && machine_.ended_.restore(id, std::move(*departure));
}

bool MachineLoader::add_name(std::string_view name, std::string_view value) {
    auto saved = decode_name(value);
    if (!saved || !is_valid_name(name)) return false;
    const std::string key{name};
    for (const auto& closure : saved->extras.closures) {
        newest_index_ = std::max(newest_index_, closure.since);
    }
    if (!machine_.table_.restore(key, std::move(saved->record), std::move(saved->queue),
                                 std::move(saved->extras)) ||
        !put_operations_back(key)) {
        return false;
    }
    try {
        check_name(machine_.table_, key, is_unfinished_);
    } catch (const InvariantBroken&) {
        return false;  // the rows are wrong, not this node, and nothing has used them yet
    }
    if (const auto* barrier = machine_.table_.find(name)->as<Barrier>()) {
        for (const auto& [session, member] : barrier->members())
            if (member.depends()) machine_.barriers_.join(session, name);
    }
    return true;
}

// Each holder and each waiter of a name is an operation of its session.
bool MachineLoader::put_operations_back(std::string_view name) {
    is_unfinished_ = false;
    const auto record = machine_.table_.names().record(name);
    for (const auto& holder : record->holders()) {
        newest_index_ = std::max(newest_index_, holder.since);
        if (holder.has_left()) continue;
        Operation holds{{record},
                        {.held = true,
                         .locker = holder.locker().number,
                         .is_bounded = holder.terms().max_hold_ms != 0}};
        if (!put_back(holder.operation, std::move(holds))) return false;
    }
    const auto* queue = record->queue();
    if (queue == nullptr) return true;
    if (const auto& upgrade = queue->conversion()) {
        newest_index_ = std::max(newest_index_, upgrade->ticket.index);
        const auto* hold = record->find({upgrade->operation.session, upgrade->hold});
        if (hold == nullptr) return false;
        Operation waits{{record},
                        {.ticket = upgrade->ticket,
                         .upgrades = upgrade->hold,
                         .locker = hold->locker().number}};
        if (!put_back(upgrade->operation, std::move(waits))) return false;
    }
    for (const auto* waiter : queue->in_order()) {
        newest_index_ = std::max(newest_index_, waiter->ticket.index);
        Operation waits{{record},
                        {.ticket = waiter->ticket,
                         .locker = waiter->locker.number,
                         .is_bounded = waiter->terms.max_hold_ms != 0,
                         .is_try = waiter->is_try}};
        if (!put_back(waiter->operation, std::move(waits))) return false;
    }
    return true;
}

bool MachineLoader::put_back(OperationId id, Operation operation) {
    auto* ended = machine_.ended_.operations_to_restore(id.session);
    if (ended == nullptr) return add_to(owed_[id.session], id.seq, operation);
    is_unfinished_ = true;
    ended_found_ += ended->empty() ? 1 : 0;
    return add_to(*ended, id.seq, operation);
}

// An operation on several names is a part of the row of each of them, in ascending order of the
// names. All parts must agree: the operation waits for all these names, or holds them all.
bool MachineLoader::add_to(Operations& operations, Seq seq, Operation& part) {
    auto* known = operations.find(seq);
    if (known == nullptr) {
        operations.add(seq, std::move(part));
        return true;
    }
    const bool same = known->held() == part.held() && known->ticket() == part.ticket() &&
                      known->locker() == part.locker() &&
                      known->is_bounded() == part.is_bounded() && !known->upgrades().is_set() &&
                      !part.upgrades().is_set();
    const auto& record = part.names().front();
    if (!same || known->names().back()->name() >= record->name()) return false;
    known->add_name(record);
    // On none of these names may it wait as a request for one name alone.
    const auto names = known->names().size();
    const bool is_one =
        known->held() || machine_.table_.groups().names_waited_for(known->ticket()) == names;
    return is_one && names <= names_at_once_max;
}

bool MachineLoader::add_session(SessionId id, std::string_view value) {
    auto session = decode_session(id, value);
    if (!session || id > totals_->newest_session || machine_.ended_.how(id)) return false;
    if (auto owed = owed_.extract(id); !owed.empty())
        session->operations = std::move(owed.mapped());
    for (const auto& [seq, operation] : session->operations) {
        const LockerId locker{id, operation.locker()};
        session->names += operation.names().size();
        machine_.lockers_.begin(locker, seq);
        if (operation.held()) machine_.lockers_.grant(locker, seq);
        if (operation.held() && operation.is_bounded()) machine_.uncounted_.add(id, seq);
    }
    return is_sound(*session) && machine_.sessions_.restore(std::move(*session));
}

bool MachineLoader::is_sound(const Session& session) {
    const auto& opener = session.opened.generation;
    if (machine_.sessions_.newest_start(opener.incarnation).is_earlier_than(opener)) return false;
    if (session.opened_at > session.renewed_at) return false;
    newest_index_ = std::max(newest_index_, session.renewed_at);
    newest_index_ = std::max(newest_index_, session.answers.newest());
    // A waiting request has no answer yet: it would get a second one.
    return std::ranges::all_of(session.operations, [&](const auto& one) {
        const auto& [seq, operation] = one;
        return seq <= session.applied && (operation.held() || session.answers.find(seq) == nullptr);
    });
}

std::optional<LockMachine> MachineLoader::finish(LogIndex applied) {
    if (is_empty_ && !applied.is_set()) return LockMachine{};
    if (!ok_ || !is_complete() || newest_index_ > applied) return std::nullopt;
    try {
        check_groups(machine_.table_, machine_.ended_.names());
    } catch (const InvariantBroken&) {
        return std::nullopt;
    }
    machine_.index_ = applied;
    machine_.rows_.all_read(
        {machine_.sessions_, machine_.table_, machine_.ended_, machine_.clock_, machine_.eras_});
    return std::move(machine_);
}

bool MachineLoader::is_complete() const {
    const auto lives = [&](const auto& party) {
        return machine_.sessions_.find(party.first) != nullptr;
    };
    if (!std::ranges::all_of(machine_.barriers_.all(), lives)) return false;
    // While an era keeps the cluster closed, there is no session.
    if (totals_ && totals_->eras.closing && totals_->sessions != 0) return false;
    return totals_ && totals_->sessions == machine_.sessions_.all().size() &&
           totals_->names == machine_.table_.size() &&
           totals_->clock_marks == machine_.clock_.all().size() &&
           totals_->incarnations == machine_.sessions_.newest_epochs().size() && owed_.empty() &&
           ended_found_ == machine_.ended_.all().size();
}

}  // namespace mortise::core
