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
    auto record = names_.look_up(request.name);
    if (record && record->kind() != RecordKind::barrier) return AnswerKind::kind_mismatch;
    if (!record && names_.size() >= records_max) return AnswerKind::resource_exhausted;
    if (!record) {
        record = names_.create(request.name, QueuePolicy{}, traces_.endings());
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
    queue_up(waiter, LockMode::exclusive, record, stands);
    return std::nullopt;
}

void LockTable::break_barrier(std::string_view name, Grants& grants) {
    const auto record = names_.record(name);
    MORTISE_CHECK(record->barrier() != nullptr);
    names_.changed(record);
    answer_all(record, AnswerKind::barrier_broken, grants);
    record->barrier()->break_it();
}

// Answers all waiters, the oldest first, and removes them from the queue.
void LockTable::answer_all(const RecordRef& record, AnswerKind kind, Grants& grants) {
    auto* queue = record->queue();
    if (queue == nullptr) return;
    while (const auto* next = queue->first()) {
        const auto answered = queue->remove(next->ticket);
        grants.push_back({answered.operation, {kind, {}, {}}});
    }
    names_.drop_empty_queue(record);
}

}  // namespace mortise::core
