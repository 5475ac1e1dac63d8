// What requests for a latch do to a name (S35). QueueAdmission::pass_latch in admission.cpp answers
// those that wait.
#include <utility>

#include "core/base/check.hpp"
#include "core/locks/limits.hpp"
#include "core/locks/table/lock_table.hpp"

namespace mortise::core {

// Returns `passed` if there is no reason to refuse a request for a latch.
LockTable::Result LockTable::latch_refusal(const Slot& slot) const {
    if (!names_.is_known(slot))
        return records().size() < records_max ? Result::passed : Result::resource_exhausted;
    return slot.record->kind() == RecordKind::latch ? Result::passed : Result::kind_mismatch;
}

// What a request expects counts only here, where the latch begins to exist. Who had the name before
// matters to nobody, since a latch grants nothing.
RecordRef LockTable::ensure_latch(const Slot& slot, std::string_view name, std::uint32_t expected) {
    if (names_.is_known(slot)) return slot.record;
    auto record = names_.ensure(name, QueuePolicy{}, {}, traces_.endings());
    record->set_latch(Latch{expected});
    return record;
}

AnswerKind LockTable::count_down(const CountDown& request, Grants& grants) {
    const auto slot = names_.slot_of(request.name);
    const auto refused = latch_refusal(slot);
    if (refused == Result::kind_mismatch) return AnswerKind::kind_mismatch;
    const auto remaining =
        names_.is_known(slot) ? slot.record->latch()->remaining() : request.expected;
    if (request.count > remaining) return AnswerKind::invalid_argument;
    if (refused != Result::passed) return AnswerKind::resource_exhausted;
    const auto record = ensure_latch(slot, request.name, request.expected);
    const bool counted = record->latch()->count_down(request.count);
    MORTISE_CHECK(counted);
    settle(record, grants);
    return AnswerKind::stored;
}

LockTable::Result LockTable::await_latch(Waiter waiter, const AwaitLatch& request,
                                         RecordRefs& stands) {
    const auto slot = names_.slot_of(request.name);
    if (const auto refused = latch_refusal(slot); refused != Result::passed) return refused;
    const auto record = ensure_latch(slot, request.name, request.expected);
    names_.changed(record);
    if (record->latch()->is_open()) return Result::passed;
    queue_up(waiter, {request.name}, stands);
    return Result::queued;
}

}  // namespace mortise::core
