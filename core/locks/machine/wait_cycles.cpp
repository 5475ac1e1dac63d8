// Requests that are refused because of a wait cycle (S33), at the end of a command. DeadlockWatch
// finds them.
#include <utility>

#include "core/locks/machine/lock_machine.hpp"

namespace mortise::core {

// Whether the request of a command waits is known only at the end of the command.
void LockMachine::end_command() {
    const auto asked = deadlocks_.asked();
    if (lockers_.is_anybody_tied()) refuse_deadlocks();
    deadlocks_.forget();
    table_.forget_reordered();
    table_.name_changes().name_nodes([this](SessionId id) { return views().node_of(id); });
    const auto* operation = asked.seq.is_set() ? operation_of(asked) : nullptr;
    if (operation != nullptr && !operation->held()) outcomes_->push_back(Queued{asked});
}

// From now on, readers behind the waiters of an ended session wait for another writer, although the
// waiters are removed later. If the session had too many waiters, their names are noted only when
// they are removed.
void LockMachine::note_turns(const Operations& ended) {
    std::size_t looked_at = 0;
    for (const auto& [seq, operation] : ended) {
        if (++looked_at > operations_looked_at) return;
        if (operation.held()) continue;
        for (const auto& record : operation.names())
            table_.note_reordered(*record);
    }
}

// Cycles are broken one after the other, because each refusal may grant other requests.
void LockMachine::refuse_deadlocks() {
    std::size_t steps = 0;
    while (auto deadlock = deadlocks_.find({table_, sessions_, lockers_}, steps))
        refuse(std::move(*deadlock));
}

void LockMachine::refuse(DeadlockWatch::Deadlock deadlock) {
    const auto victim = deadlock.victim;
    auto& session = *sessions_.change(victim.session);
    auto grants = withdraw(end_operation(session, victim.seq));
    answer(session, victim.seq, {AnswerKind::deadlock, {}, {}, {}, std::move(deadlock.cycle)});
    publish(std::move(grants));
}

}  // namespace mortise::core
