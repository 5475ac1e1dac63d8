#include "core/locks/lock_table.hpp"

#include <algorithm>

#include "core/base/check.hpp"
#include "core/base/mutant.hpp"
#include "core/locks/limits.hpp"

namespace mortise::core {

LockTable::Slot LockTable::slot_of(const std::string& name) {
    return {records_.find(name), queues_.find(name)};
}

const LockRecord* LockTable::find(std::string_view name) const {
    const auto found = records_.find(name);
    return found == records_.end() ? nullptr : &found->second;
}

const WaitQueue* LockTable::queue_of(std::string_view name) const {
    const auto found = queues_.find(name);
    return found == queues_.end() ? nullptr : &found->second;
}

const std::string* LockTable::next_waited(std::string_view after) const {
    const auto next = queues_.upper_bound(after);
    return next == queues_.end() ? nullptr : &next->first;
}

LockTable::Result LockTable::acquire(Ticket ticket, OperationId operation, const Acquire& request,
                                     Previous last, Grants& grants) {
    auto slot = slot_of(request.name);
    if (slot.record == records_.end()) {
        if (records_.size() >= records_max) return Result::resource_exhausted;
        slot.record = records_.emplace(request.name, LockRecord{request.policy}).first;
        slot.record->second.swept_at = endings_;
        slot.record->second.previous = std::move(last);
    }
    auto& record = slot.record->second;
    if (request.policy_given && record.policy() != request.policy) return Result::kind_mismatch;

    const Waiter waiter{ticket, operation, request.mode, request.priority, request.label};
    if (slot.queue == queues_.end() && record.admits(request.mode)) {
        // Alone and unhindered: what settle() would do, without a queue to do it with.
        if (!record.has_writer()) record.turn = Turn::writers;
        grant(record, waiter, grants);
        changes_.insert(request.name);
        return Result::granted;
    }
    if (!request.wait && !would_grant(request.name, request.mode, request.priority)) {
        return Result::busy;
    }
    queues_.try_emplace(request.name, record.policy()).first->second.add(waiter);
    settle(request.name, grants);
    const auto granted = std::ranges::find(grants, operation, &NewGrant::operation);
    MORTISE_CHECK(granted != grants.end() || request.wait);
    return granted == grants.end() ? Result::queued : Result::granted;
}

bool LockTable::release(const std::string& name, OperationId operation, Predecessor how,
                        Grants& grants) {
    const auto record = records_.find(name);
    if (record == records_.end() || !record->second.remove(operation, how)) return false;
    settle(name, grants);
    return true;
}

void LockTable::withdraw(const std::string& name, Ticket ticket, Grants& grants) {
    const auto queue = queues_.find(name);
    MORTISE_CHECK(queue != queues_.end());
    queue->second.remove(ticket);
    settle(name, grants);
}

LockTable::Cleared LockTable::clear(const std::string& name, std::uint64_t endings,
                                    const Ended& ended, std::size_t max, Grants& grants) {
    Cleared cleared;
    endings_ = endings;
    auto slot = slot_of(name);
    if (slot.record == records_.end() || slot.record->second.swept_at == endings) return cleared;
    const auto left = [&](OperationId operation) {
        auto how = ended(operation);
        if (!how) return how;
        cleared.is_done = cleared.is_done && cleared.gone.size() < max;
        if (!cleared.is_done) return std::optional<Predecessor>{};
        cleared.gone.push_back(operation);
        return how;
    };
    // Waiters first: whoever waits, waits for a holder, also between two parts of the work.
    if (slot.queue != queues_.end() && !planted(Mutant::waiter_outlives_session)) {
        slot.queue->second.remove_if([&](OperationId one) { return left(one).has_value(); });
        if (slot.queue->second.is_empty()) queues_.erase(slot.queue);
    }
    auto& record = slot.record->second;
    record.remove_if(left);
    if (!cleared.gone.empty()) changes_.insert(name);
    if (!cleared.is_done) return cleared;
    record.swept_at = endings;
    cleared.last = record.previous;
    if (!cleared.gone.empty()) settle(name, grants);
    return cleared;
}

bool LockTable::restore(std::string name, LockRecord record, WaitQueue queue) {
    if (records_.contains(name)) return false;
    if (!queue.is_empty()) queues_.emplace(name, std::move(queue));
    records_.emplace(std::move(name), std::move(record));
    return true;
}

}  // namespace mortise::core
