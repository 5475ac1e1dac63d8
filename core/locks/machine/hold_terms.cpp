// The time limits of holds (S8, S9), which a quorum counts, and for which a hold stays in the way
// after it has ended: the effect on the table, and the outcomes for a session.
#include "core/locks/machine/lock_machine.hpp"
#include "core/locks/table/lock_table.hpp"

namespace mortise::core {

// --- on a name ----------------------------------------------------------------------------------

bool LockTable::count_max_hold(const std::string& name, OperationId hold, LogIndex known) {
    const auto& grant = *names_.record(name).find(hold);
    if (grant.since > known) return false;
    if (holds_.count_max_hold(name, grant)) names_.changed(name);
    return true;
}

void LockTable::end_closure(const std::string& name, ClosureId id, Grants& grants) {
    auto& closures = holds_.closures();
    const auto hold = closures.find(id)->closure.hold;
    closures.end(name, id);
    names_.changed(name);
    auto& record = names_.record(name);
    if (!record.find(hold)->left || closures.keeps(name, hold)) return;
    record.remove_left(hold);
    names_.note_turn(name);
    settle({name}, grants);
}

// --- for a session ------------------------------------------------------------------------------

// The node should have ended the hold by its own clock. It is told in case it has not.
void LockMachine::end_max_hold(const LockTable::Closed& over, LockTable::Grants& grants) {
    const auto hold = over.closure.hold;
    auto& owner = *sessions_.change(hold.session);
    owner.broken.insert(hold.seq);
    cancel_upgrade(owner, over.name, hold);
    lose_name(hold, over.name);
    table_.take_off(over.name, {hold}, Predecessor::expired, grants);
}

}  // namespace mortise::core
