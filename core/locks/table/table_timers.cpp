// What the quorum timers of holds do to a name (S8, S9).
#include "core/locks/table/lock_table.hpp"

namespace mortise::core {

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

}  // namespace mortise::core
