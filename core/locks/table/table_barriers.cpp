// What requests for a barrier do to a name (S35). Nobody is let in by QueueAdmission: the last
// arrival of a phase answers all who wait.
#include <utility>

#include "core/base/check.hpp"
#include "core/locks/limits.hpp"
#include "core/locks/table/lock_table.hpp"

namespace mortise::core {

// The number of parties counts only where the barrier begins to exist.
std::optional<AnswerKind> LockTable::arrive(Waiter waiter, const Arrive& request,
                                            RecordRefs& stands, Grants& grants) {
    const auto slot = names_.slot_of(request.name);
    const bool is_new = !names_.is_known(slot);
    if (!is_new && slot.record->kind() != RecordKind::barrier) return AnswerKind::kind_mismatch;
    if (is_new && records().size() >= records_max) return AnswerKind::resource_exhausted;
    auto record = slot.record;
    if (is_new) {
        record = names_.ensure(request.name, QueuePolicy{}, {}, traces_.endings());
        record->set_barrier(Barrier{request.parties});
    }
    auto& barrier = *record->barrier();
    if (barrier.is_broken()) return AnswerKind::barrier_broken;
    if (!barrier.arrive(waiter.operation.session, request.drops))
        return AnswerKind::invalid_argument;
    names_.changed(record);
    if (barrier.is_complete()) {
        answer_all(record, AnswerKind::passed, grants);
        barrier.begin_next();
        return request.drops ? AnswerKind::stored : AnswerKind::passed;
    }
    if (request.drops) return AnswerKind::stored;
    queue_up(waiter, {request.name}, stands);
    return std::nullopt;
}

void LockTable::break_barrier(std::string_view name, Grants& grants) {
    const auto slot = names_.slot_of(name);
    MORTISE_CHECK(names_.is_known(slot) && slot.record->barrier() != nullptr);
    names_.changed(slot.record);
    answer_all(slot.record, AnswerKind::barrier_broken, grants);
    slot.record->barrier()->break_it();
}

// Answers all waiters, the oldest first, and removes them from the queue.
void LockTable::answer_all(const RecordRef& record, AnswerKind kind, Grants& grants) {
    const auto slot = names_.slot_of(record->name());
    if (!names_.has_queue(slot)) return;
    auto& queue = slot.queue->second;
    while (const auto* next = queue.first()) {
        const auto answered = queue.remove(next->ticket);
        grants.push_back({answered.operation, {kind, {}, {}}});
    }
    names_.drop_empty_queue(slot);
}

}  // namespace mortise::core
