// What requests for a latch do to a name (S35). QueueAdmission::pass_latch in admission.cpp answers
// those that wait.
#include <utility>

#include "core/base/check.hpp"
#include "core/locks/limits.hpp"
#include "core/locks/table/lock_table.hpp"

namespace mortise::core {

// Returns `passed` if there is no reason to refuse a request for a latch.
LockTable::Result LockTable::latch_refusal(const RecordRef& known) const {
    if (!known) return names_.size() < records_max ? Result::passed : Result::resource_exhausted;
    return known->kind() == RecordKind::latch ? Result::passed : Result::kind_mismatch;
}

// What a request expects counts only here, where the latch begins to exist. Who had the name before
// matters to nobody, since a latch grants nothing.
RecordRef LockTable::ensure_latch(const RecordRef& known, std::string_view name,
                                  std::uint32_t expected) {
    if (known) return known;
    auto record = names_.create(name, QueuePolicy{}, traces_.endings());
    record->set_latch(Latch{expected});
    return record;
}

AnswerKind LockTable::count_down(const CountDown& request, Grants& grants) {
    const auto known = names_.look_up(request.name);
    const auto refused = latch_refusal(known);
    if (refused == Result::kind_mismatch) return AnswerKind::kind_mismatch;
    const auto remaining = known ? known->latch()->remaining() : request.expected;
    if (request.count > remaining) return AnswerKind::invalid_argument;
    if (refused != Result::passed) return AnswerKind::resource_exhausted;
    const auto record = ensure_latch(known, request.name, request.expected);
    const bool counted = record->latch()->count_down(request.count);
    MORTISE_CHECK(counted);
    settle(record, grants);
    return AnswerKind::stored;
}

LockTable::Result LockTable::await_latch(Waiter waiter, const AwaitLatch& request,
                                         RecordRefs& stands) {
    const auto known = names_.look_up(request.name);
    if (const auto refused = latch_refusal(known); refused != Result::passed) return refused;
    const auto record = ensure_latch(known, request.name, request.expected);
    names_.changed(record);
    if (record->latch()->is_open()) return Result::passed;
    queue_up(waiter, LockMode::exclusive, record, stands);
    return Result::queued;
}

}  // namespace mortise::core
