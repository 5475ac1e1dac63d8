// The break of a barrier when a party ends or gives up (S35).
#include <utility>

#include "core/locks/machine/lock_machine.hpp"
#include "core/locks/table/lock_table.hpp"

namespace mortise::core {

// The phase may have ended before the node's program gave up. The program does not know that, and
// its next arrival would count for the next phase. So it takes part no longer, one way or the
// other.
void LockMachine::on(Session& session, Seq seq, const Quit& request) {
    const bool takes_part = barriers_.takes_part(session.id, request.name);
    answer(session, seq, {takes_part ? AnswerKind::cancelled : AnswerKind::not_held, {}, {}});
    if (takes_part) break_barrier(request.name);
}

// Null if the operation does not wait at a barrier.
const Operation* LockMachine::waiting_arrival(const Session& session, Seq seq) const {
    const auto* operation = session.operations.find(seq);
    if (operation == nullptr || operation->held()) return nullptr;
    return operation->names().front()->kind() == RecordKind::barrier ? operation : nullptr;
}

bool LockMachine::may_take_part(SessionId session, std::string_view name) const {
    return barriers_.takes_part(session, name) || barriers_.count(session) < session_barriers_max;
}

// After an arrival.
void LockMachine::note_party(SessionId session, std::string_view name, const Barrier& barrier) {
    if (barrier.depends_on(session)) {
        barriers_.join(session, name);
    } else {
        barriers_.leave(session, name);
    }
}

void LockMachine::break_barrier(std::string_view name) {
    const auto record = table_.names().record(name);
    auto& barrier = *record->as<Barrier>();
    forget_parties(barrier.members(), name);
    barrier.break_it();
    LockTable::Grants grants;
    table_.stepped(record, AnswerKind::barrier_broken, grants);
    publish(std::move(grants));
}

// Called while the session still exists. Nobody who waits there is left behind for a sweep: each
// waiter is of a session that takes part.
void LockMachine::break_barriers_of(SessionId session) {
    for (const auto& name : barriers_.of(session))
        break_barrier(name);
}

// They take part in it no longer: it breaks, or is removed.
void LockMachine::forget_parties(const Barrier::Members& members, std::string_view name) {
    for (const auto& [session, member] : members)
        barriers_.leave(session, name);
}

}  // namespace mortise::core
