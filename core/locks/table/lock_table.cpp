#include "core/locks/table/lock_table.hpp"

#include <algorithm>

#include "core/base/check.hpp"
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

// Readers wait for writers by turns, an overtaken waiter may go before others, and one with a
// priority goes before those whom a barrier kept in front. All others wait for those in front as
// long as they are there.
void LockTable::note_turn(const std::string& name) {
    const auto* queue = queue_of(name);
    if (queue == nullptr) return;
    const bool is_in_order =
        !queue->has_readers() && !queue->has_priorities() && queue->overtakers().empty();
    if (!is_in_order) turned_.insert(name);
}

const std::string* LockTable::next_waited(std::string_view after) const {
    const auto next = queues_.upper_bound(after);
    return next == queues_.end() ? nullptr : &next->first;
}

LockRecord& LockTable::ensure(const std::string& name, QueuePolicy policy, Previous last) {
    const auto [place, is_new] = records_.try_emplace(name, policy);
    auto& record = place->second;
    if (!is_new) return record;
    record.swept_at = endings_;
    record.previous = std::move(last);
    return record;
}

// `granted`: there is no reason to refuse it.
LockTable::Result LockTable::refusal(const Acquire& request, const Slots& slots) const {
    std::size_t created = 0;
    for (const auto& slot : slots) {
        const bool is_new = slot.record == records_.end();
        if (is_new) ++created;
        const bool differs = !is_new && slot.record->second.policy() != request.policy;
        if (differs && request.policy_given) return Result::kind_mismatch;
    }
    const bool fits = records_.size() + created <= records_max &&
                      std::ranges::none_of(request.names, [&](const NamedMode& one) {
                          return is_left_by_too_many(one.name, request.terms);
                      });
    return fits ? Result::granted : Result::resource_exhausted;
}

LockTable::Result LockTable::acquire(Waiter waiter, const Acquire& request, LastHolders last,
                                     Grants& grants) {
    Slots slots;
    for (const auto& one : request.names)
        slots.push_back(slot_of(one.name));
    const auto refused = refusal(request, slots);
    if (refused != Result::granted) return refused;
    return request.which == Acquire::Which::all ? acquire_all(waiter, request, last, grants)
                                                : acquire_any(waiter, request, slots, last, grants);
}

// The names are tried in the order given before it waits anywhere. On a name without a queue it is
// alone and unhindered: the same as settle(), which it need not wait in a queue for.
LockTable::Result LockTable::acquire_any(Waiter& waiter, const Acquire& request, const Slots& slots,
                                         LastHolders& last, Grants& grants) {
    for (std::size_t at = 0; at < slots.size(); ++at) {
        const auto& one = request.names[at];
        const auto& [known, queue] = slots[at];
        const bool is_new = known == records_.end();
        const auto* waiting = queue == queues_.end() ? nullptr : &queue->second;
        if (!would_grant(is_new ? nullptr : &known->second, waiting, one.mode, waiter.priority))
            continue;
        if (waiting != nullptr) {
            queue_up(waiter, one);
            return settle_newcomer({one.name}, waiter.operation, grants);
        }
        auto& record =
            is_new ? ensure(one.name, request.policy, std::move(last[at])) : known->second;
        if (!record.has_writer()) record.turn = Turn::writers;
        waiter.mode = one.mode;
        grant(one.name, record, waiter, grants);
        changes_.insert(one.name);
        return Result::granted;
    }
    if (!request.wait) return Result::busy;
    for (const auto& one : request.names)
        queue_up(waiter, one);
    return settle_newcomer(names_of(request), waiter.operation, grants);
}

void LockTable::queue_up(Waiter& waiter, const NamedMode& one) {
    waiter.mode = one.mode;
    const bool joined = waiter.part == Part::alone || join_group(one.name, waiter);
    MORTISE_CHECK(joined);
    const auto policy = records_.at(one.name).policy();
    queues_.try_emplace(one.name, policy).first->second.add(waiter);
}

LockTable::Result LockTable::settle_newcomer(const NameList& names, OperationId operation,
                                             Grants& grants) {
    settle(names, grants);
    const auto granted = std::ranges::find(grants, operation, &Answered::operation);
    return granted == grants.end() ? Result::queued : Result::granted;
}

void LockTable::release(const NameList& names, OperationId operation, Predecessor how,
                        Grants& grants) {
    for (const auto& name : names) {
        const auto record = records_.find(name);
        const bool freed =
            record != records_.end() && record->second.remove(operation, how, keeps_on(name));
        MORTISE_CHECK(freed);
        end_closures_of(name, operation);
    }
    settle(names, grants);
}

void LockTable::withdraw(const NameList& names, Ticket ticket, Grants& grants) {
    for (const auto& name : names) {
        const auto queue = queues_.find(name);
        MORTISE_CHECK(queue != queues_.end());
        queue->second.remove(ticket);
        note_turn(name);
    }
    groups_.erase(ticket);
    settle(names, grants);
}

LockTable::Cleared LockTable::remove_dead(const std::string& name, std::size_t max) {
    Cleared cleared;
    auto slot = slot_of(name);
    const bool is_known = slot.record != records_.end() && ended_ != nullptr;
    if (!is_known || slot.record->second.swept_at == endings_) return cleared;
    const auto left = [&](OperationId operation) {
        auto how = (*ended_)(operation);
        if (!how) return how;
        cleared.is_done = cleared.is_done && cleared.gone.size() < max;
        if (!cleared.is_done) return std::optional<Predecessor>{};
        cleared.gone.push_back(operation);
        return how;
    };
    // Waiters first: whoever waits, waits for a holder, also between two parts of the work.
    if (slot.queue != queues_.end()) {
        auto& queue = slot.queue->second;
        if (queue.conversion() && left(queue.conversion()->operation)) queue.remove_conversion();
        queue.remove_if([&](const Waiter& one) {
            const bool leaves = left(one.operation).has_value();
            if (leaves && one.part != Part::alone) leave_group(name, one.ticket);
            return leaves;
        });
        if (queue.is_empty()) queues_.erase(slot.queue);
    }
    auto& record = slot.record->second;
    record.remove_if(left, keeps_on(name));
    end_closures(name);
    if (!cleared.gone.empty()) {
        changes_.insert(name);
        note_turn(name);
    }
    if (!cleared.is_done) return cleared;
    record.swept_at = endings_;
    cleared.last = record.previous;
    return cleared;
}

LockTable::Cleared LockTable::clear(const std::string& name, std::size_t max, Grants& grants) {
    auto cleared = remove_dead(name, max);
    const bool moves = !cleared.gone.empty() || may_spread(name);
    if (cleared.is_done && moves) settle({name}, grants);
    return cleared;
}

bool LockTable::restore(std::string name, LockRecord record, WaitQueue queue, NameExtras extras) {
    if (records_.contains(name)) return false;
    for (const auto* waiter : queue.in_order()) {
        if (waiter->part != Part::alone && !join_group(name, *waiter)) return false;
    }
    for (const auto& closure : extras.closures) {
        if (!closures_.emplace(closure.id, name).second) return false;
    }
    if (extras.value) value_bytes_ += extras.value->bytes.size();
    if (!extras.is_empty()) extras_.emplace(name, std::move(extras));
    if (!queue.is_empty()) queues_.emplace(name, std::move(queue));
    records_.emplace(std::move(name), std::move(record));
    return true;
}

}  // namespace mortise::core
