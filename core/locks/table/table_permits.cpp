// What requests for permits of a semaphore do to a name (S34): acquire, resize, remove.
// QueueAdmission::enter_for_permits in admission.cpp decides which waiter gets permits.
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
    if (!known) record->set_semaphore(Semaphore{request.limit});
    if (!is_admitted || record->queue() != nullptr) {
        queue_up(waiter, one.mode, record, stand.names);
        return settle_newcomer(waiter.operation, stand);
    }
    enter(record, one.mode, waiter, stand);
    return Result::granted;
}

// A semaphore that does not exist is like one that was never resized.
AnswerKind LockTable::resize(const Resize& request, Previous last, Grants& grants) {
    const auto known = names_.look_up(request.name);
    if (known && known->semaphore() == nullptr) return AnswerKind::kind_mismatch;
    const auto version = known ? known->semaphore()->version() : Semaphore{0}.version();
    const bool is_expected = request.expected_version == 0 || request.expected_version == version;
    if (!is_expected) return AnswerKind::busy;
    if (!known && names_.size() >= records_max) return AnswerKind::resource_exhausted;
    auto record = known;
    if (!record) {
        record = names_.create(request.name, QueuePolicy{}, traces_.endings());
        record->set_previous(std::move(last));
        record->set_semaphore(Semaphore{request.limit});
    }
    record->semaphore()->resize(request.limit);
    settle(record, grants);
    return AnswerKind::stored;
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
