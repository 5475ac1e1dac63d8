// Names that are no locks: an acquire of permits (S34), and what LockMachine::ask needs for the
// requests of the kinds. QueueAdmission::enter_for_permits in admission.cpp decides which waiter
// gets permits.
#include <utility>

#include "core/locks/limits.hpp"
#include "core/locks/table/lock_table.hpp"

namespace mortise::core {

// With a queue, or with too few permits, it waits behind the others. A name that nobody holds may
// have waiters: those that want more permits than there are.
LockTable::Result LockTable::acquire_permits(Waiter& waiter, const Acquire& request,
                                             const RecordRef& known, LastHolders& last,
                                             Stand stand) {
    const auto& one = request.names.front();
    const bool is_admitted = would_admit_permits(known.get(), request);
    if (!is_admitted && !request.wait) return Result::busy;
    const auto record = ensure(known, request, 0, last);
    // The limit counts only here, where the semaphore begins to exist.
    if (!known) record->become(Semaphore{request.limit});
    if (!is_admitted || record->queue() != nullptr) {
        queue_up(waiter, one.mode, record, stand.names);
        return settle_newcomer(waiter.operation, stand);
    }
    enter(record, one.mode, waiter, stand);
    return Result::granted;
}

RecordRef LockTable::make(std::string_view name, KindState state, Previous last) {
    auto record = names_.create(name, QueuePolicy{}, traces_.endings());
    record->set_previous(std::move(last));
    record->become(std::move(state));
    return record;
}

void LockTable::stepped(const RecordRef& record, std::optional<AnswerKind> others, Grants& grants) {
    names_.changed(record);
    if (others) answer_all(record, *others, grants);
    if (record->may_have_holders()) settle(record, grants);
}

void LockTable::wait(Waiter waiter, const RecordRef& record, RecordRefs& stands) {
    queue_up(waiter, LockMode::exclusive, record, stands);
}

// The oldest first.
void LockTable::answer_all(const RecordRef& record, AnswerKind kind, Grants& grants) {
    auto* queue = record->queue();
    if (queue == nullptr) return;
    while (const auto* next = queue->first()) {
        const auto answered = queue->remove(next->ticket);
        grants.push_back({answered.operation, {kind, {}, {}}});
    }
    names_.drop_empty_queue(record);
}

bool LockTable::remove(std::string_view name) {
    const auto record = names_.look_up(name);
    if (!record) return true;
    if (!record->holders().empty() || record->queue() != nullptr) return false;
    (void)holds_.set_value(name, Holder{}, {});
    record->stay_no_longer();
    names_.tidy(record, [] { return false; });
    return true;
}

}  // namespace mortise::core
