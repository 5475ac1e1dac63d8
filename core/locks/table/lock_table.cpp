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

namespace {

// A former holder is charged to no session, but still takes a place in the record.
bool is_left_by_too_many(const LockRecord& record, const HoldTerms& terms) {
    if (terms.min_hold_ms == 0 && terms.lock_delay_ms == 0) return false;
    if (record.holders().size() < left_max) return false;
    const auto left = std::ranges::count_if(record.holders(),
                                            [](const Holder& holder) { return holder.has_left(); });
    return static_cast<std::size_t>(left) >= left_max;
}

}  // namespace

// Returns `granted` if there is no reason to refuse the request.
LockTable::Result LockTable::refusal(const Acquire& request, const Known& known) const {
    std::size_t created = 0;
    bool fits = true;
    for (const auto& record : known) {
        if (!record) {
            ++created;
            continue;
        }
        const bool differs = record->policy() != request.policy;
        if (differs && request.policy_given) return Result::kind_mismatch;
        const auto wanted = request.permits == 0 ? RecordKind::lock : RecordKind::semaphore;
        if (record->kind() != wanted) return Result::kind_mismatch;
        fits = fits && !is_left_by_too_many(*record, request.terms);
    }
    fits = fits && names_.size() + created <= records_max;
    return fits ? Result::granted : Result::resource_exhausted;
}

LockTable::Result LockTable::acquire(Waiter& waiter, const Acquire& request, LastHolders last,
                                     Grants& grants, RecordRefs& stands) {
    Known known;
    for (const auto& one : request.names)
        known.push_back(names_.look_up(one.name));
    const auto refused = refusal(request, known);
    if (refused != Result::granted) return refused;
    const Stand stand{grants, stands};
    if (request.permits != 0) return acquire_permits(waiter, request, known.front(), last, stand);
    return request.which == Acquire::Which::all ? acquire_all(waiter, request, known, last, stand)
                                                : acquire_any(waiter, request, known, last, stand);
}

RecordRef LockTable::ensure(const RecordRef& known, const Acquire& request, std::size_t at,
                            LastHolders& last) {
    if (known) return known;
    auto record = names_.create(request.names[at].name, request.policy, traces_.endings());
    if (!last.empty()) record->set_previous(std::move(last[at]));
    return record;
}

// The names are tried in the order given before the request waits anywhere. On a name without a
// queue nothing is in front of it, so it is granted directly, with the same result as settle().
LockTable::Result LockTable::acquire_any(Waiter& waiter, const Acquire& request, const Known& known,
                                         LastHolders& last, Stand stand) {
    for (std::size_t at = 0; at < known.size(); ++at) {
        const auto& one = request.names[at];
        if (!would_admit(known[at].get(), one.mode, waiter.priority)) continue;
        const auto record = ensure(known[at], request, at, last);
        if (record->queue() != nullptr) {
            queue_up(waiter, one.mode, record, stand.names);
            return settle_newcomer(waiter.operation, stand);
        }
        if (!record->has_writer()) record->turn = Turn::writers;
        enter(record, one.mode, waiter, stand);
        return Result::granted;
    }
    if (!request.wait && !recalls(request, known)) return Result::busy;
    for (std::size_t at = 0; at < known.size(); ++at)
        queue_up(waiter, request.names[at].mode, known[at], stand.names);
    return settle_newcomer(waiter.operation, stand);
}

void LockTable::enter(const RecordRef& record, LockMode mode, Waiter& waiter, Stand stand) {
    waiter.mode = mode;
    holds_.grant(record->name(), *record, waiter, stand.grants);
    names_.changed(record);
    stand.names.push_back(record);
}

// S43: a try waits, until its node gives it up, if only cached grants are in its way, since these
// may be unused. None of the names is free.
bool LockTable::recalls(const Acquire& request, const Known& known) {
    for (std::size_t at = 0; at < known.size(); ++at) {
        if (would_recall(*known[at], request.names[at].mode)) return true;
    }
    return false;
}

namespace {

bool is_free(const RecordRef& known, LockMode mode) {
    return !known || (known->queue() == nullptr && known->admits(mode));
}

}  // namespace

bool LockTable::recalls_all(const Acquire& request, const Known& known) {
    for (std::size_t at = 0; at < known.size(); ++at) {
        const auto mode = request.names[at].mode;
        if (!is_free(known[at], mode) && !would_recall(*known[at], mode)) return false;
    }
    return true;
}

// A request for all of several names overtakes no other: it is granted at once only if no request
// waits on any of them.
LockTable::Result LockTable::acquire_all(Waiter& waiter, const Acquire& request, const Known& known,
                                         LastHolders& last, Stand stand) {
    bool are_free = true;
    for (std::size_t at = 0; at < known.size(); ++at)
        are_free = are_free && is_free(known[at], request.names[at].mode);
    if (!are_free && !request.wait && !recalls_all(request, known)) return Result::busy;
    for (std::size_t at = 0; at < known.size(); ++at) {
        const auto record = ensure(known[at], request, at, last);
        queue_up(waiter, request.names[at].mode, record, stand.names);
    }
    return settle_newcomer(waiter.operation, stand);
}

void LockTable::queue_up(Waiter& waiter, LockMode mode, const RecordRef& record,
                         RecordRefs& names) {
    waiter.mode = mode;
    const bool joined = waiter.part == Part::alone || groups_.join(record->name(), waiter);
    MORTISE_CHECK(joined);
    names_.ensure_queue(record).add(waiter);
    names.push_back(record);
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
    if (const auto record = names_.look_up(name)) settle(record, grants);
}

bool LockTable::publish(const RecordRef& record, OperationId operation, const Publish& as) {
    const auto* grant = record->find(operation);
    const bool may = grant != nullptr && grant->is_held() && grant->is_cached() &&
                     grant->has_token(as.token) && waiting_upgrade(*record, operation) == nullptr;
    if (!may) return false;
    holds_.publish(record->name(), *record, operation, as);
    names_.changed(record);
    return true;
}

void LockTable::withdraw(NameList names, Ticket ticket, Grants& grants) {
    for (const auto& record : names) {
        names_.queue(record).remove(ticket);
        names_.note_reordered(*record);
    }
    groups_.forget(ticket);
    settle(names, grants);
}

LockTable::Cleared LockTable::clear(std::string_view name, std::size_t max, Grants& grants) {
    const auto record = names_.look_up(name);
    if (!record) return {};
    auto cleared = traces_.remove(record, max, {names_, holds_, groups_});
    const bool moves = !cleared.gone.empty() || may_spread(*record);
    if (cleared.is_done && moves) settle(record, grants);
    return cleared;
}

// True if the sweep of another name may grant a request for all of several names that leads this
// queue, and then others here.
bool LockTable::may_spread(const NamedRecord& record) const {
    const auto* queue = record.queue();
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
