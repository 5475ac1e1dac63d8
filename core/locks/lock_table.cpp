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

// What settle() would come to for a newcomer to a name without waiters.
bool LockTable::would_grant(std::string_view name, LockMode mode) const {
    const auto* record = find(name);
    if (record == nullptr) return true;
    if (!record->admits(mode)) return false;
    const auto* queue = queue_of(name);
    if (queue == nullptr) return true;
    return !queue->conversion() && std::ranges::none_of(all_lock_modes, [&](LockMode waiting) {
        return queue->oldest(waiting) != nullptr && conflict(waiting, mode);
    });
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

    const Waiter waiter{ticket, operation, request.mode, request.label};
    if (slot.queue == queues_.end() && record.admits(request.mode)) {
        // Alone and unhindered: what settle() would do, without a queue to do it with.
        if (!record.has_writer()) record.turn = Turn::writers;
        grant(record, waiter, grants);
        changes_.insert(request.name);
        return Result::granted;
    }
    if (!request.wait && !would_grant(request.name, request.mode)) return Result::busy;
    queues_[request.name].add(waiter);
    settle(request.name, grants);
    const auto granted = std::ranges::find(grants, operation, &NewGrant::operation);
    if (granted == grants.end()) {
        MORTISE_CHECK(request.wait);
        return Result::queued;
    }
    // Others may have entered with it; the caller looks at the last.
    std::rotate(granted, granted + 1, grants.end());
    return Result::granted;
}

bool LockTable::release(const std::string& name, OperationId operation, Predecessor how,
                        Grants& grants) {
    const auto record = records_.find(name);
    if (record == records_.end() || !record->second.remove(operation, how)) return false;
    settle(name, grants);
    return true;
}

void LockTable::withdraw(const std::string& name, Ticket ticket, LockMode mode, Grants& grants) {
    const auto queue = queues_.find(name);
    MORTISE_CHECK(queue != queues_.end());
    queue->second.remove(ticket, mode);
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

void LockTable::grant(LockRecord& record, const Waiter& waiter, Grants& grants) {
    MORTISE_CHECK(record.admits(waiter.mode));
    const auto token = record.take_token(waiter.mode, newest_token_);
    grants.push_back({waiter.operation, token, record.previous});
    record.add({waiter.operation, waiter.mode, token, index_, waiter.label});
    const bool passes = !planted(Mutant::writers_keep_the_turn);
    if (is_writer(waiter.mode) && passes) record.turn = Turn::readers;  // after a writer, a batch
}

void LockTable::enter(Slot& slot, const Waiter& waiter, Grants& grants) {
    const auto entering = slot.queue->second.remove(waiter.ticket, waiter.mode);
    grant(slot.record->second, entering, grants);
}

// S31. To the readers the phase turns when no writer holds any more, even if other readers still
// do. To the writers it turns when the oldest waiter conflicts with no holder: a hold that nobody
// in front conflicts with keeps nothing shut.
bool LockTable::turn_phase(Slot& slot, Grants& grants) {
    auto& record = slot.record->second;
    const auto& queue = slot.queue->second;
    if (!record.has_writer() && !queue.has_readers()) record.turn = Turn::writers;

    const Waiter* leader = nullptr;
    if (record.turn == Turn::readers) {
        if (!record.has_writer()) leader = queue.oldest(false);
    } else if (record.admits(queue.oldest()->mode)) {
        leader = queue.oldest(true);
        if (leader == nullptr) leader = queue.oldest(false);
    }
    if (leader == nullptr || !record.admits(leader->mode)) return false;

    const bool writer = is_writer(leader->mode);
    auto last = leader->ticket;
    enter(slot, *leader, grants);
    if (writer) return true;
    // The batch: led by the oldest waiting reader and taken in queue order, so that no mode can
    // keep another out for ever. Writers are no members: they would pass older ones (S29).
    const auto fits = [&](LockMode mode) { return record.admits(mode); };
    while (const auto* next = queue.next_reader(last, fits)) {
        last = next->ticket;
        enter(slot, *next, grants);
    }
    record.turn = Turn::writers;
    return true;
}

// Whoever conflicts with no holder and no earlier waiter need not wait for any turn.
bool LockTable::enter_unhindered(Slot& slot, Grants& grants) {
    const auto& queue = slot.queue->second;
    const Waiter* first = nullptr;
    for (const auto mode : all_lock_modes) {
        const auto* waiter = queue.oldest(mode);
        if (waiter == nullptr || !slot.record->second.admits(mode)) continue;
        if (!queue.is_free_of_older(*waiter)) continue;
        if (first == nullptr || waiter->ticket < first->ticket) first = waiter;
    }
    if (first == nullptr) return false;
    enter(slot, *first, grants);
    return true;
}

// Conversions first; nobody else enters while one waits (S28).
bool LockTable::let_in(Slot& slot, Grants& grants) {
    const bool keeps_out = !planted(Mutant::newcomer_passes_upgrade);
    if (slot.queue->second.conversion() && serve_conversion(slot, grants)) return true;
    if (slot.queue->second.conversion() && keeps_out) return false;
    if (slot.queue->second.size() == 0) return false;
    const bool phases = slot.record->second.policy() == QueuePolicy::phase_fair;
    return (phases && turn_phase(slot, grants)) || enter_unhindered(slot, grants);
}

// Lets enter who may, until nobody moves; forgets what is not needed any more (S37).
void LockTable::settle(const std::string& name, Grants& grants) {
    auto slot = slot_of(name);
    MORTISE_CHECK(slot.record != records_.end());
    changes_.insert(name);
    while (slot.queue != queues_.end() && !slot.queue->second.is_empty()) {
        if (!let_in(slot, grants)) break;
    }
    const bool waited = slot.queue != queues_.end() && !slot.queue->second.is_empty();
    if (slot.queue != queues_.end() && !waited) queues_.erase(slot.queue);
    auto& record = slot.record->second;
    if (!record.has_writer() && !waited) record.turn = Turn::writers;
    const bool is_empty = record.holders().empty() && !waited;
    if (is_empty && !planted(Mutant::empty_record_kept)) records_.erase(slot.record);
}

bool LockTable::restore(std::string name, LockRecord record, WaitQueue queue) {
    if (records_.contains(name)) return false;
    if (!queue.is_empty()) queues_.emplace(name, std::move(queue));
    records_.emplace(std::move(name), std::move(record));
    return true;
}

}  // namespace mortise::core
