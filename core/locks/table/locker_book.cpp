#include "core/locks/table/locker_book.hpp"

namespace mortise::core {

template <class Change>
void LockerBook::change(LockerId locker, const Change& change) {
    if (locker.number == 0) return;
    const auto place = lockers_.try_emplace(locker).first;
    auto& operations = place->second;
    const bool was_tied = operations.is_tied();
    change(operations);
    const bool is_tied = operations.is_tied();
    if (is_tied && !was_tied) ++tied_;
    if (was_tied && !is_tied) --tied_;
    if (operations.held.empty() && operations.waiting.empty()) lockers_.erase(place);
}

void LockerBook::begin(LockerId locker, Seq operation) {
    change(locker, [&](Operations& its) { its.waiting.insert(operation); });
}

void LockerBook::grant(LockerId locker, Seq operation) {
    change(locker, [&](Operations& its) {
        its.waiting.erase(operation);
        its.held.insert(operation);
    });
}

void LockerBook::end(LockerId locker, Seq operation) {
    change(locker, [&](Operations& its) {
        its.waiting.erase(operation);
        its.held.erase(operation);
    });
}

void LockerBook::forget(SessionId session) {
    auto locker = lockers_.lower_bound({session, 0});
    while (locker != lockers_.end() && locker->first.session == session) {
        if (locker->second.is_tied()) --tied_;
        locker = lockers_.erase(locker);
    }
}

const LockerBook::Operations* LockerBook::find_tied(LockerId locker) const {
    if (locker.number == 0) return nullptr;
    const auto found = lockers_.find(locker);
    return found == lockers_.end() || !found->second.is_tied() ? nullptr : &found->second;
}

}  // namespace mortise::core
