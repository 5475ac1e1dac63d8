// What requests for permits of a semaphore do to a name (S34): acquire, resize, remove.
// QueueAdmission::enter_for_permits in admission.cpp decides which waiter gets permits.
#include <utility>

#include "core/locks/limits.hpp"
#include "core/locks/table/lock_table.hpp"

namespace mortise::core {

// The limit counts only here, where the semaphore begins to exist.
RecordRef LockTable::create_semaphore(std::string_view name, std::uint32_t limit, Previous last) {
    auto record = names_.ensure(name, QueuePolicy{}, std::move(last), traces_.endings());
    record->set_semaphore(Semaphore{limit});
    return record;
}

// With a queue, or with too few permits, it waits behind the others. A name that nobody holds may
// have waiters: those that want more permits than there are.
LockTable::Result LockTable::acquire_permits(Waiter& waiter, const Acquire& request,
                                             const Slot& slot, Previous last, Stand stand) {
    const auto& one = request.names.front();
    const auto* waiting = names_.has_queue(slot) ? &slot.queue->second : nullptr;
    const bool is_admitted = would_admit_permits(slot.record.get(), waiting, request);
    if (!is_admitted && !request.wait) return Result::busy;
    const auto record = names_.is_known(slot)
                            ? slot.record
                            : create_semaphore(one.name, request.limit, std::move(last));
    if (!is_admitted || waiting != nullptr) {
        queue_up(waiter, one, stand.names);
        return settle_newcomer(waiter.operation, stand);
    }
    waiter.mode = one.mode;
    holds_.grant(one.name, *record, waiter, stand.grants);
    names_.changed(record);
    stand.names.push_back(record);
    return Result::granted;
}

// A semaphore that does not exist is like one that was never resized.
AnswerKind LockTable::resize(const Resize& request, Previous last, Grants& grants) {
    const auto slot = names_.slot_of(request.name);
    const bool is_new = !names_.is_known(slot);
    if (!is_new && slot.record->semaphore() == nullptr) return AnswerKind::kind_mismatch;
    const auto version = is_new ? Semaphore{0}.version() : slot.record->semaphore()->version();
    const bool is_expected = request.expected_version == 0 || request.expected_version == version;
    if (!is_expected) return AnswerKind::busy;
    if (is_new && records().size() >= records_max) return AnswerKind::resource_exhausted;
    const auto record =
        is_new ? create_semaphore(request.name, request.limit, std::move(last)) : slot.record;
    record->semaphore()->resize(request.limit);
    settle(record, grants);
    return AnswerKind::stored;
}

bool LockTable::remove(std::string_view name) {
    const auto slot = names_.slot_of(name);
    if (!names_.is_known(slot)) return true;
    const auto record = slot.record;
    if (!record->holders().empty() || names_.has_queue(slot)) return false;
    (void)holds_.set_value(name, Holder{}, {});
    record->stay_no_longer();
    names_.tidy(name, [] { return false; });
    return true;
}

}  // namespace mortise::core
