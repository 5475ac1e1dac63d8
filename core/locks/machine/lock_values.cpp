// Requests that write the values of names (S36, S37), and their answers. table_values.cpp has their
// effect on a name.
#include <utility>

#include "core/locks/machine/lock_machine.hpp"
#include "core/locks/table/lock_table.hpp"

namespace mortise::core {

// Returns `stored` if the hold may write the value. A hold of several names may write each of them.
LockMachine::Writable LockMachine::may_write(const Session& session, Seq hold,
                                             std::string_view name) {
    if (held_operation(session, hold) == nullptr) return {AnswerKind::not_held, {}};
    auto record = table_.names().look_up(name);
    const auto* grant = record ? record->find({session.id, hold}) : nullptr;
    const bool alone = grant != nullptr && grant->mode == LockMode::exclusive &&
                       record->as<Semaphore>() == nullptr;
    return {alone ? AnswerKind::stored : AnswerKind::invalid_argument, std::move(record)};
}

void LockMachine::on(Session& session, Seq seq, const SetValue& request) {
    auto [kind, record] = may_write(session, request.operation, request.name);
    if (kind == AnswerKind::stored) {
        const auto stored =
            table_.set_value(record, {session.id, request.operation}, request.bytes);
        if (stored == LockTable::Stored::full) kind = AnswerKind::resource_exhausted;
    }
    answer(session, seq, {kind, {}, {}});
}

void LockMachine::on(Session& session, Seq seq, const MarkConsistent& request) {
    const auto [kind, record] = may_write(session, request.operation, request.name);
    if (kind == AnswerKind::stored) table_.mark_consistent(record, {session.id, request.operation});
    answer(session, seq, {kind, {}, {}});
}

}  // namespace mortise::core
