// What the quorum timers of holds do to a name (S8, S9).
#include "core/locks/table/lock_table.hpp"

namespace mortise::core {

bool LockTable::count_max_hold(std::string_view name, OperationId hold, LogIndex known) {
    const auto record = names_.record(name);
    const auto& grant = *record->find(hold);
    if (grant.since > known) return false;
    if (holds_.count_max_hold(name, grant)) names_.changed(record);
    return true;
}

void LockTable::end_closure(std::string_view name, ClosureId id, Grants& grants) {
    auto& closures = holds_.closures();
    const auto hold = closures.find(id)->closure.hold;
    closures.end(name, id);
    const auto record = names_.record(name);
    names_.changed(record);
    if (!record->find(hold)->has_left() || closures.keeps(name, hold)) return;
    record->remove_left(hold);
    names_.note_reordered(*record);
    settle(record, grants);
}

}  // namespace mortise::core
