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
        if (grant.has_token(token) && !grant.has_left()) holders.push_back(grant.operation);
    }
    return holders;
}

void LockTable::close(std::string_view name, OperationId hold, LogIndex since,
                      const OpenSession& session) {
    const auto record = names_.record(name);
    holds_.mark_broken(name, *record, hold, since, session);
    names_.changed(record);
    names_.note_reordered(*record);
}

void LockTable::set_label_if_none(std::string_view name, OperationId hold,
                                  const std::string& label) {
    names_.record(name)->set_label_if_none(hold, label);
}

void LockTable::take_off(std::string_view name, const std::vector<OperationId>& holds,
                         Predecessor how, Grants& grants) {
    const auto record = names_.record(name);
    for (const auto hold : holds) {
        const bool removed = holds_.release(name, *record, hold, how);
        MORTISE_CHECK(removed);
    }
    holds_.closures().end_over(name, record.get());
    names_.note_reordered(*record);
    settle(record, grants);
}

bool LockTable::open(std::string_view name, FencingToken token) {
    const auto record = names_.look_up(name);
    if (!record) return false;
    if (!holds_.remove_left(name, *record, token)) return false;
    names_.note_reordered(*record);
    return true;
}

}  // namespace mortise::core
