#include "core/locks/table/admission.hpp"

#include <algorithm>
#include <limits>

#include "core/base/check.hpp"

namespace mortise::core {

// Returns what a run would do with a new request, when all other waiters have to wait.
bool would_admit(const LockRecord* record, const WaitQueue* queue, LockMode mode,
                 Priority priority) {
    if (record == nullptr) return true;
    if (!record->admits(mode)) return false;
    if (queue == nullptr) return true;
    if (queue->conversion() || queue->has_barrier()) return false;
    const auto rank = queue->rank_of_newcomer(mode, priority);
    if (queue->is_free_of_earlier(rank, mode)) return true;
    // Because of its priority it would lead the batch, which an older reader cannot lead.
    const bool batches = record->policy() == QueuePolicy::phase_fair && !is_writer(mode) &&
                         record->turn == Turn::readers && !record->has_writer();
    const auto* reader = batches ? queue->first_reader() : nullptr;
    return reader != nullptr && rank < queue->rank_of(*reader);
}

bool would_admit_permits(const LockRecord* record, const WaitQueue* queue, const Acquire& request) {
    if (record == nullptr) return request.permits <= request.limit;
    constexpr auto mode = LockMode::exclusive;
    if (!record->admits(mode, request.permits)) return false;
    return queue == nullptr ||
           queue->is_free_of_earlier(queue->rank_of_newcomer(mode, request.priority), mode);
}

bool would_recall(const LockRecord& record, const WaitQueue* queue, LockMode mode) {
    const auto gives_way = [&](const Holder& holder) {
        return !conflict(holder.mode, mode) || (holder.is_held() && holder.is_cached());
    };
    if (record.kind() != RecordKind::lock) return false;  // no permit is cached
    const bool is_behind = queue != nullptr && !queue->is_empty();
    return !is_behind && !record.admits(mode) && std::ranges::all_of(record.holders(), gives_way);
}

// --- one waiter ---------------------------------------------------------------------------------

void QueueAdmission::enter(Slot& slot, const Waiter& waiter) {
    const auto entering = slot.queue->second.remove(waiter.ticket);
    entered_.push_back({entering.ticket, entering.priority});
    const auto name = slot.record->name();
    holds_.grant(name, *slot.record, entering, grants_);
    if (entering.part != Part::alone) leave_other_queues(entering, name);
}

bool QueueAdmission::serve_conversion(Slot& slot) {
    auto& record = *slot.record;
    if (record.holders().size() > 1) return false;
    const auto conversion = slot.queue->second.remove_conversion();
    const auto name = slot.record->name();
    names_.note_reordered(name);
    const OperationId hold{conversion.operation.session, conversion.hold};
    const auto token = holds_.convert(name, record, hold);
    grants_.push_back({conversion.operation, {AnswerKind::converted, token, {}}});
    return true;
}

// --- one name -----------------------------------------------------------------------------------

void QueueAdmission::pass_turn_to_writers(Slot& slot) {
    const bool passes = std::exchange(slot.record->turn, Turn::writers) == Turn::readers;
    if (passes) names_.note_reordered(slot.record->name());
}

// The first of the waiting readers leads the batch, and the others follow in queue order, so that
// no mode can keep another out for ever. Writers are not part of it: they would overtake earlier
// ones (S29).
bool QueueAdmission::enter_batch(Slot& slot) {
    auto& record = *slot.record;
    const auto& queue = slot.queue->second;
    const auto* leader = queue.first_reader();
    if (leader == nullptr || !record.admits(leader->mode)) return false;
    enter(slot, *leader);
    // A mode that does not fit now will not fit later in this batch: each grant only adds holders
    // that may conflict with it.
    const auto fits = [&](LockMode mode) { return !is_writer(mode) && record.admits(mode); };
    while (const auto* next = queue.first(fits))
        enter(slot, *next);
    pass_turn_to_writers(slot);
    return true;
}

// S31. It is the readers' turn as soon as no writer holds the name, even if other readers do. It is
// the writers' turn when the first waiter conflicts with no holder: a hold that conflicts with no
// waiter in front delays nothing.
bool QueueAdmission::turn_phase(Slot& slot) {
    auto& record = *slot.record;
    const auto& queue = slot.queue->second;
    const bool has_readers = queue.first_reader() != nullptr;
    if (!record.has_writer() && !has_readers) pass_turn_to_writers(slot);
    if (queue.first() == nullptr) return false;  // a barrier leads the queue
    if (record.turn == Turn::readers) return !record.has_writer() && enter_batch(slot);

    if (!record.admits(queue.first()->mode)) return false;
    const auto* writer = queue.first_writer();
    if (writer == nullptr) return enter_batch(slot);
    if (!record.admits(writer->mode)) return false;
    enter(slot, *writer);
    return true;
}

// A request that conflicts with no holder and no earlier waiter need not wait for a turn.
bool QueueAdmission::enter_unhindered(Slot& slot) {
    const auto admits = [&](LockMode mode) { return slot.record->admits(mode); };
    const auto* first = slot.queue->second.first_unhindered(admits);
    if (first == nullptr) return false;
    enter(slot, *first);
    return true;
}

// S34: who is first waits until there are enough permits, and nobody overtakes it meanwhile: not
// even a request for fewer permits.
bool QueueAdmission::enter_for_permits(Slot& slot) {
    const auto* first = slot.queue->second.first();
    if (first == nullptr || !slot.record->admits(first->mode, first->permits)) return false;
    enter(slot, *first);
    count_overtakings(slot);
    return true;
}

// S35: all who wait, oldest first, when nothing remains to be counted. They hold nothing then.
bool QueueAdmission::pass_latch(Slot& slot) {
    if (!slot.record->latch()->is_open()) return false;
    auto& queue = slot.queue->second;
    while (const auto* next = queue.first()) {
        const auto passes = queue.remove(next->ticket);
        grants_.push_back({passes.operation, {AnswerKind::passed, {}, {}}});
    }
    return true;
}

// Overtakings are counted after all requests that are granted together, so that the order does not
// change in between.
void QueueAdmission::count_overtakings(Slot& slot) {
    auto& queue = slot.queue->second;
    for (const auto& one : entered_)
        queue.count_overtaking(one.ticket, one.priority);
    if (!entered_.empty() && !queue.overtakers().empty())
        names_.note_reordered(slot.record->name());
    entered_.clear();
}

// Conversions come first; no other request is granted while one waits (S28).
bool QueueAdmission::let_in(Slot& slot) {
    auto& queue = slot.queue->second;
    if (queue.conversion() && serve_conversion(slot)) return true;
    if (queue.conversion() || queue.size() == 0) return false;
    if (slot.record->kind() == RecordKind::semaphore) return enter_for_permits(slot);
    if (slot.record->kind() == RecordKind::latch) return pass_latch(slot);
    if (slot.record->kind() == RecordKind::barrier) return false;  // the last arrival does that
    const bool phases = slot.record->policy() == QueuePolicy::phase_fair;
    const bool moved = (phases && turn_phase(slot)) || enter_unhindered(slot);
    count_overtakings(slot);
    if (moved || queue.first() != nullptr) return moved;
    const auto& barrier = *queue.head();
    return clear_for(barrier) || serve_barrier(barrier);
}

// --- all names ----------------------------------------------------------------------------------

// Returns true if something changed on the name, which is then examined again.
bool QueueAdmission::step(std::string_view name) {
    if (remove_traces(name)) return true;
    auto slot = names_.slot_of(name);
    return names_.has_queue(slot) && !slot.queue->second.is_empty() && let_in(slot);
}

// Returns true if there were traces.
bool QueueAdmission::remove_traces(std::string_view name) {
    constexpr auto all = std::numeric_limits<std::size_t>::max();
    auto dead = traces_.remove(name, all, {names_, holds_, groups_});
    if (dead.gone.empty()) return false;
    gone_.emplace_back(std::string{name}, std::move(dead.gone));
    return true;
}

// A request for several names that leads a queue where something changed may be granted now on its
// other names, so these are examined as well.
void QueueAdmission::look_behind_moved() {
    for (const auto& record : moved_) {
        const auto* queue = names_.queue_of(record->name());
        const auto* head = queue == nullptr ? nullptr : queue->head();
        if (head == nullptr || head->part == Part::alone) continue;
        for (const auto& [other, mode] : groups_.at(head->ticket).names)
            todo_.insert(names_.record(other));
    }
    todo_.merge(moved_);
    moved_.clear();
}

// Names are taken in byte order, so that the result is the same everywhere.
void QueueAdmission::run(std::span<const RecordRef> names) {
    todo_.insert(names.begin(), names.end());
    while (!todo_.empty()) {
        const auto record = *todo_.begin();
        const auto name = record->name();
        names_.changed(record);
        if (step(name)) {
            moved_.insert(record);
            look_behind_moved();
        } else {
            names_.tidy(name, [&] { return holds_.has_more(name); });
            todo_.erase(record);
        }
    }
}

}  // namespace mortise::core
