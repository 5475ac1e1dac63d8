// What the break of a lock does to a name (S24): a broken hold blocks the name until its node has
// confirmed the loss, or until its quorum timer has ended (P3).
#include "core/base/check.hpp"
#include "core/locks/table/lock_table.hpp"

namespace mortise::core {

std::vector<OperationId> LockTable::holders_under(std::string_view name, FencingToken token) const {
    std::vector<OperationId> holders;
    const auto* record = find(name);
    if (record == nullptr) return holders;
    for (const auto& grant : record->holders()) {
        if (grant.has_token(token) && !grant.left) holders.push_back(grant.operation);
    }
    return holders;
}

void LockTable::close(const std::string& name, OperationId hold, LogIndex since,
                      const OpenSession& session) {
    holds_.mark_broken(name, names_.record(name), hold, since, session);
    names_.changed(name);
    names_.note_turn(name);
}

void LockTable::take_off(const std::string& name, const std::vector<OperationId>& holds,
                         Predecessor how, Grants& grants) {
    auto& record = names_.record(name);
    for (const auto hold : holds) {
        const bool removed = holds_.release(name, record, hold, how);
        MORTISE_CHECK(removed);
    }
    holds_.closures().end_over(name, &record);
    names_.note_turn(name);
    settle({name}, grants);
}

bool LockTable::open(const std::string& name, FencingToken token) {
    const auto slot = names_.slot_of(name);
    if (!names_.is_known(slot)) return false;
    if (!holds_.remove_left(name, slot.record->second, token)) return false;
    names_.note_turn(name);
    return true;
}

}  // namespace mortise::core
