// What happens to a session when the max_hold of one of its holds has ended (S8). table_timers.cpp
// has the effect on a name.
#include "core/locks/machine/lock_machine.hpp"
#include "core/locks/origin.hpp"
#include "core/locks/table/lock_table.hpp"

namespace mortise::core {

// The node should have ended the hold by its own clock. `broken` has the hold, so the node is told
// with the next renewal if it has not.
void LockMachine::end_max_hold(const LockTable::Closed& over, LockTable::Grants& grants) {
    const auto hold = over.closure.hold;
    auto& owner = *sessions_.change(hold.session);
    owner.broken.insert(hold.seq);
    cancel_upgrade(owner, table_.names().record(over.name), hold);
    table_.set_label_if_none(over.name, hold, default_label(owner.opened.origin));
    lose_name(hold, over.name);
    table_.take_off(over.name, {hold}, Predecessor::expired, grants);
}

}  // namespace mortise::core
