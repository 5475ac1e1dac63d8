// Values of names (S36, S37): the effect on a name, and the outcomes for a session.
#include <utility>

#include "core/locks/limits.hpp"
#include "core/locks/machine/lock_machine.hpp"
#include "core/locks/table/lock_table.hpp"

namespace mortise::core {

// --- on a name ----------------------------------------------------------------------------------

const NameExtras* LockTable::extras_of(std::string_view name) const {
    const auto found = extras_.find(name);
    return found == extras_.end() ? nullptr : &found->second;
}

void LockTable::forget_extras(const std::string& name) {
    const auto found = extras_.find(name);
    if (found != extras_.end() && found->second.is_empty()) extras_.erase(found);
}

bool LockTable::holds_alone(const std::string& name, OperationId hold) const {
    const auto* record = find(name);
    const auto* grant = record == nullptr ? nullptr : record->find(hold);
    return grant != nullptr && grant->mode == LockMode::exclusive && grant->is_held();
}

// Empty bytes remove the value, and a later one begins anew.
LockTable::Stored LockTable::set_value(const std::string& name, OperationId hold,
                                       std::string bytes) {
    if (!holds_alone(name, hold)) return Stored::not_exclusive;
    auto& value = extras_[name].value;
    const auto before = value ? value->bytes.size() : 0;
    const bool fits = value_bytes_ - before + bytes.size() <= values_bytes_max;
    if (fits) {
        value_bytes_ = value_bytes_ - before + bytes.size();
        changes_.insert(name);
        if (bytes.empty()) {
            value.reset();
        } else {
            const auto version = value ? value->version + 1 : 1;
            value = LockValue{std::move(bytes), version, value && value->dirty};
        }
    }
    forget_extras(name);
    return fits ? Stored::stored : Stored::full;
}

LockTable::Stored LockTable::mark_consistent(const std::string& name, OperationId hold) {
    if (!holds_alone(name, hold)) return Stored::not_exclusive;
    const auto found = extras_.find(name);
    if (found == extras_.end() || !found->second.value) return Stored::stored;
    found->second.value->dirty = false;
    changes_.insert(name);
    return Stored::stored;
}

// An exclusive holder may have been in the middle of a change.
void LockTable::value_is_dirty(const std::string& name) {
    const auto found = extras_.find(name);
    if (found == extras_.end() || !found->second.value) return;
    found->second.value->dirty = true;
    changes_.insert(name);
}

// --- for a session ------------------------------------------------------------------------------

// `stored`: it may. A hold of several names may write each of them.
AnswerKind LockMachine::may_write(const Session& session, Seq hold, const std::string& name) {
    if (held_operation(session, hold) == nullptr) return AnswerKind::not_held;
    const auto* record = table_.find(name);
    const auto* grant = record == nullptr ? nullptr : record->find({session.id, hold});
    const bool exclusive = grant != nullptr && grant->mode == LockMode::exclusive;
    return exclusive ? AnswerKind::stored : AnswerKind::invalid_argument;
}

void LockMachine::on(Session& session, Seq seq, const SetValue& request) {
    auto kind = may_write(session, request.operation, request.name);
    if (kind == AnswerKind::stored) {
        const auto stored =
            table_.set_value(request.name, {session.id, request.operation}, request.bytes);
        if (stored == LockTable::Stored::full) kind = AnswerKind::resource_exhausted;
    }
    answer(session, seq, {kind, {}, {}});
}

void LockMachine::on(Session& session, Seq seq, const MarkConsistent& request) {
    const auto kind = may_write(session, request.operation, request.name);
    if (kind == AnswerKind::stored)
        table_.mark_consistent(request.name, {session.id, request.operation});
    answer(session, seq, {kind, {}, {}});
}

}  // namespace mortise::core
