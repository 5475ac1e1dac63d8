// Requests for barriers (S35), and their answers; and the break of a barrier when a party ends or
// gives up. table_barriers.cpp has their effect on a name.
#include <utility>

#include "core/base/check.hpp"
#include "core/locks/limits.hpp"
#include "core/locks/machine/lock_machine.hpp"
#include "core/locks/table/lock_table.hpp"

namespace mortise::core {

void LockMachine::on(Session& session, Seq seq, const Arrive& request) {
    if (request.parties == 0 || request.parties > barrier_parties_max)
        return answer(session, seq, {AnswerKind::invalid_argument, {}, {}});
    touch(request.name);
    const bool takes_part = barriers_.takes_part(session.id, request.name);
    if (!takes_part && barriers_.count(session.id) >= session_barriers_max)
        return answer(session, seq, {AnswerKind::resource_exhausted, {}, {}});
    Waiter waiter;
    waiter.ticket = {index_, place_};
    waiter.operation = {session.id, seq};
    waiter.label = request.label;
    const Operation::More more{.ticket = waiter.ticket};
    RecordRefs stands;
    LockTable::Grants grants;
    const auto arrived = table_.arrive(std::move(waiter), request, stands, grants);
    note_party(session.id, request.name);
    if (arrived) {
        answer(session, seq, {*arrived, {}, {}});
    } else {
        add_operation(session, seq, {std::move(stands), more});
        deadlocks_.queued({session.id, seq});
    }
    publish(std::move(grants));
}

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

// After an arrival.
void LockMachine::note_party(SessionId session, std::string_view name) {
    const auto* record = table_.find(name);
    const auto* barrier = record == nullptr ? nullptr : record->barrier();
    if (barrier != nullptr && barrier->depends_on(session)) {
        barriers_.join(session, name);
    } else {
        barriers_.leave(session, name);
    }
}

void LockMachine::break_barrier(std::string_view name) {
    forget_parties(table_.find(name)->barrier()->members(), name);
    LockTable::Grants grants;
    table_.break_barrier(name, grants);
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
