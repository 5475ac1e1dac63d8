#include "core/locks/table/lock_table.hpp"

#include <algorithm>

#include "core/base/check.hpp"
#include "core/locks/limits.hpp"

namespace mortise::core {

// Grants every waiter on these names that can be granted.
void LockTable::settle(NameList names, Grants& grants) {
    QueueAdmission{{names_, holds_, groups_}, traces_, gone_, grants}.run(names);
}

// --- acquiring ----------------------------------------------------------------------------------

// Returns `granted` if there is no reason to refuse the request.
LockTable::Result LockTable::refusal(const Acquire& request, const Slots& slots) const {
    std::size_t created = 0;
    for (const auto& slot : slots) {
        const bool is_new = !names_.is_known(slot);
        if (is_new) ++created;
        const bool differs = !is_new && slot.record->policy() != request.policy;
        if (differs && request.policy_given) return Result::kind_mismatch;
        const auto wanted = request.permits == 0 ? RecordKind::lock : RecordKind::semaphore;
        if (!is_new && slot.record->kind() != wanted) return Result::kind_mismatch;
    }
    const bool fits = records().size() + created <= records_max &&
                      std::ranges::none_of(request.names, [&](const NamedMode& one) {
                          return is_left_by_too_many(one.name, request.terms);
                      });
    return fits ? Result::granted : Result::resource_exhausted;
}

// A former holder is charged to no session, but still takes a place in the record.
bool LockTable::is_left_by_too_many(std::string_view name, const HoldTerms& terms) const {
    if (terms.min_hold_ms == 0 && terms.lock_delay_ms == 0) return false;
    const auto* record = find(name);
    if (record == nullptr || record->holders().size() < left_max) return false;
    const auto left = std::ranges::count_if(
        record->holders(), [](const Holder& holder) { return holder.left.has_value(); });
    return static_cast<std::size_t>(left) >= left_max;
}

LockTable::Result LockTable::acquire(Waiter waiter, const Acquire& request, LastHolders last,
                                     Grants& grants, RecordRefs& stands) {
    Slots slots;
    for (const auto& one : request.names)
        slots.push_back(names_.slot_of(one.name));
    const auto refused = refusal(request, slots);
    if (refused != Result::granted) return refused;
    const Stand stand{grants, stands};
    if (request.permits != 0)
        return acquire_permits(waiter, request, slots.front(), std::move(last.front()), stand);
    return request.which == Acquire::Which::all ? acquire_all(waiter, request, last, stand)
                                                : acquire_any(waiter, request, slots, last, stand);
}

// The names are tried in the order given before the request waits anywhere. On a name without a
// queue nothing is in front of it, so it is granted directly, with the same result as settle().
LockTable::Result LockTable::acquire_any(Waiter& waiter, const Acquire& request, const Slots& slots,
                                         LastHolders& last, Stand stand) {
    for (std::size_t at = 0; at < slots.size(); ++at) {
        const auto& one = request.names[at];
        const auto& slot = slots[at];
        const bool is_new = !names_.is_known(slot);
        const auto* waiting = names_.has_queue(slot) ? &slot.queue->second : nullptr;
        const auto* known = slot.record.get();
        if (!would_admit(known, waiting, one.mode, waiter.priority)) continue;
        if (waiting != nullptr) {
            queue_up(waiter, one, stand.names);
            return settle_newcomer(waiter.operation, stand);
        }
        const auto record =
            is_new ? names_.ensure(one.name, request.policy, std::move(last[at]), traces_.endings())
                   : slot.record;
        if (!record->has_writer()) record->turn = Turn::writers;
        waiter.mode = one.mode;
        holds_.grant(one.name, *record, waiter, stand.grants);
        names_.changed(record);
        stand.names.push_back(record);
        return Result::granted;
    }
    if (!request.wait && !recalls(request, slots)) return Result::busy;
    for (const auto& one : request.names)
        queue_up(waiter, one, stand.names);
    return settle_newcomer(waiter.operation, stand);
}

// S43: a try waits, until its node gives it up, if only cached grants are in its way, since these
// may be unused.
bool LockTable::recalls(const Acquire& request, const Slots& slots) const {
    for (std::size_t at = 0; at < slots.size(); ++at) {
        const auto& slot = slots[at];
        const auto* waiting = names_.has_queue(slot) ? &slot.queue->second : nullptr;
        if (would_recall(*slot.record, waiting, request.names[at].mode)) return true;
    }
    return false;
}

bool LockTable::recalls_all(const Acquire& request) const {
    return std::ranges::all_of(request.names, [&](const NamedMode& one) {
        const auto* record = find(one.name);
        const auto* queue = queue_of(one.name);
        const bool is_free = record == nullptr || (queue == nullptr && record->admits(one.mode));
        return is_free || would_recall(*record, queue, one.mode);
    });
}

// A request for all of several names overtakes no other: it is granted at once only if no request
// waits on any of them.
LockTable::Result LockTable::acquire_all(Waiter& waiter, const Acquire& request, LastHolders& last,
                                         Stand stand) {
    const bool is_free = std::ranges::all_of(request.names, [&](const NamedMode& one) {
        const auto* record = find(one.name);
        return record == nullptr || (queue_of(one.name) == nullptr && record->admits(one.mode));
    });
    if (!is_free && !request.wait && !recalls_all(request)) return Result::busy;
    for (std::size_t at = 0; at < request.names.size(); ++at) {
        const auto& one = request.names[at];
        (void)names_.ensure(one.name, request.policy, std::move(last[at]), traces_.endings());
        queue_up(waiter, one, stand.names);
    }
    return settle_newcomer(waiter.operation, stand);
}

void LockTable::queue_up(Waiter& waiter, const NamedMode& one, RecordRefs& names) {
    waiter.mode = one.mode;
    const bool joined = waiter.part == Part::alone || groups_.join(one.name, waiter);
    MORTISE_CHECK(joined);
    names_.ensure_queue(one.name).add(waiter);
    names.push_back(names_.record(one.name));
}

LockTable::Result LockTable::settle_newcomer(OperationId operation, Stand stand) {
    std::ranges::sort(stand.names, {}, NameOf{});
    settle(stand.names, stand.grants);
    const auto granted = std::ranges::find(stand.grants, operation, &Answered::operation);
    return granted == stand.grants.end() ? Result::queued : Result::granted;
}

// --- releasing ----------------------------------------------------------------------------------

void LockTable::release(NameList names, OperationId operation, Predecessor how, Grants& grants) {
    for (const auto& record : names) {
        const bool freed = holds_.release(record->name(), *record, operation, how);
        MORTISE_CHECK(freed);
        holds_.closures().end_over(record->name(), record.get(), operation);
    }
    settle(names, grants);
}

void LockTable::look_again(std::string_view name, Grants& grants) {
    const auto slot = names_.slot_of(name);
    if (names_.is_known(slot)) settle(slot.record, grants);
}

bool LockTable::publish(std::string_view name, OperationId operation, const Publish& as) {
    const auto slot = names_.slot_of(name);
    const auto* grant = names_.is_known(slot) ? slot.record->find(operation) : nullptr;
    const bool may = grant != nullptr && grant->is_held() && grant->is_cached() &&
                     grant->has_token(as.token) && waiting_upgrade(slot, operation) == nullptr;
    if (!may) return false;
    holds_.publish(name, *slot.record, operation, as);
    names_.changed(slot.record);
    return true;
}

void LockTable::withdraw(NameList names, Ticket ticket, Grants& grants) {
    for (const auto& record : names) {
        names_.queue(record->name()).remove(ticket);
        names_.note_reordered(record->name());
    }
    groups_.forget(ticket);
    settle(names, grants);
}

LockTable::Cleared LockTable::clear(std::string_view name, std::size_t max, Grants& grants) {
    auto cleared = traces_.remove(name, max, {names_, holds_, groups_});
    const bool moves = !cleared.gone.empty() || may_spread(name);
    if (cleared.is_done && moves) settle(names_.record(name), grants);
    return cleared;
}

// True if the sweep of another name may grant a request for all of several names that leads this
// queue, and then others here.
bool LockTable::may_spread(std::string_view name) const {
    const auto* queue = queue_of(name);
    return traces_.is_needed() && queue != nullptr && queue->has_barrier();
}

// --- loading ------------------------------------------------------------------------------------

bool LockTable::restore(std::string_view name, LockRecord record, WaitQueue queue,
                        NameExtras extras) {
    if (find(name) != nullptr) return false;
    for (const auto* waiter : queue.in_order()) {
        if (waiter->part != Part::alone && !groups_.join(name, *waiter)) return false;
    }
    if (!holds_.closures().restore(name, std::move(extras.closures))) return false;
    if (extras.value) holds_.values().restore(name, std::move(*extras.value));
    names_.restore(name, std::move(record), std::move(queue));
    return true;
}

}  // namespace mortise::core
