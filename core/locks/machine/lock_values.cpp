// Values of names (S36, S37): the effect on a name, and the outcomes for a session.
#include <utility>

#include "core/locks/machine/lock_machine.hpp"
#include "core/locks/table/lock_table.hpp"

namespace mortise::core {

// --- on a name ----------------------------------------------------------------------------------

LockTable::Stored LockTable::set_value(const std::string& name, OperationId hold,
                                       std::string bytes) {
    if (!holds_alone(find(name), hold)) return Stored::not_exclusive;
    if (!holds_.values().set(name, std::move(bytes))) return Stored::full;
    names_.changed(name);
    return Stored::stored;
}

LockTable::Stored LockTable::mark_consistent(const std::string& name, OperationId hold) {
    if (!holds_alone(find(name), hold)) return Stored::not_exclusive;
    if (holds_.values().mark_consistent(name)) names_.changed(name);
    return Stored::stored;
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
