#include "core/locks/table/admission.hpp"

#include <algorithm>
#include <functional>
#include <limits>

#include "core/base/check.hpp"

namespace mortise::core {

// Returns what a run would do with a new request, when all other waiters have to wait.
bool would_admit(const LockRecord* record, LockMode mode, Priority priority) {
    if (record == nullptr) return true;
    if (!record->admits(mode)) return false;
    const auto* queue = record->queue();
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

bool would_admit_permits(const LockRecord* record, const Acquire& request) {
    if (record == nullptr) return request.permits <= request.limit;
    constexpr auto mode = LockMode::exclusive;
    if (!record->admits(mode, request.permits)) return false;
    const auto* queue = record->queue();
    return queue == nullptr ||
           queue->is_free_of_earlier(queue->rank_of_newcomer(mode, request.priority), mode);
}

bool would_recall(const LockRecord& record, LockMode mode) {
    const auto gives_way = [&](const Holder& holder) {
        return !conflict(holder.mode, mode) || (holder.is_held() && holder.is_cached());
    };
    if (record.kind() != RecordKind::lock) return false;  // no permit is cached
    const auto* queue = record.queue();
    const bool is_behind = queue != nullptr && !queue->is_empty();
    return !is_behind && !record.admits(mode) && std::ranges::all_of(record.holders(), gives_way);
}

// --- one waiter ---------------------------------------------------------------------------------

void QueueAdmission::enter(NamedRecord& record, const Waiter& waiter) {
    const auto entering = record.queue()->remove(waiter.ticket);
    entered_.push_back({entering.ticket, entering.priority});
    holds_.grant(record.name(), record, entering, grants_);
    if (entering.part != Part::alone) leave_other_queues(entering, record.name());
}

bool QueueAdmission::serve_conversion(NamedRecord& record) {
    if (record.holders().size() > 1) return false;
    const auto conversion = record.queue()->remove_conversion();
    names_.note_reordered(record);
    const OperationId hold{conversion.operation.session, conversion.hold};
    const auto token = holds_.convert(record.name(), record, hold);
    grants_.push_back({conversion.operation, {AnswerKind::converted, token, {}}});
    return true;
}

// --- one name -----------------------------------------------------------------------------------

void QueueAdmission::pass_turn_to_writers(NamedRecord& record) {
    const bool passes = std::exchange(record.turn, Turn::writers) == Turn::readers;
    if (passes) names_.note_reordered(record);
}

// The first of the waiting readers leads the batch, and the others follow in queue order, so that
// no mode can keep another out for ever. Writers are not part of it: they would overtake earlier
// ones (S29).
bool QueueAdmission::enter_batch(NamedRecord& record) {
    const auto& queue = *record.queue();
    const auto* leader = queue.first_reader();
    if (leader == nullptr || !record.admits(leader->mode)) return false;
    enter(record, *leader);
    // A mode that does not fit now will not fit later in this batch: each grant only adds holders
    // that may conflict with it.
    const auto fits = [&](LockMode mode) { return !is_writer(mode) && record.admits(mode); };
    while (const auto* next = queue.first(fits))
        enter(record, *next);
    pass_turn_to_writers(record);
    return true;
}

// S31. It is the readers' turn as soon as no writer holds the name, even if other readers do. It is
// the writers' turn when the first waiter conflicts with no holder: a hold that conflicts with no
// waiter in front delays nothing.
bool QueueAdmission::turn_phase(NamedRecord& record) {
    const auto& queue = *record.queue();
    const bool has_readers = queue.first_reader() != nullptr;
    if (!record.has_writer() && !has_readers) pass_turn_to_writers(record);
    if (queue.first() == nullptr) return false;  // a barrier leads the queue
    if (record.turn == Turn::readers) return !record.has_writer() && enter_batch(record);

    if (!record.admits(queue.first()->mode)) return false;
    const auto* writer = queue.first_writer();
    if (writer == nullptr) return enter_batch(record);
    if (!record.admits(writer->mode)) return false;
    enter(record, *writer);
    return true;
}

// A request that conflicts with no holder and no earlier waiter need not wait for a turn.
bool QueueAdmission::enter_unhindered(NamedRecord& record) {
    const auto admits = [&](LockMode mode) { return record.admits(mode); };
    const auto* first = record.queue()->first_unhindered(admits);
    if (first == nullptr) return false;
    enter(record, *first);
    return true;
}

// S34: who is first waits until there are enough permits, and nobody overtakes it meanwhile: not
// even a request for fewer permits.
bool QueueAdmission::enter_for_permits(NamedRecord& record) {
    const auto* first = record.queue()->first();
    if (first == nullptr || !record.admits(first->mode, first->permits)) return false;
    enter(record, *first);
    count_overtakings(record);
    return true;
}

// Overtakings are counted after all requests that are granted together, so that the order does not
// change in between.
void QueueAdmission::count_overtakings(NamedRecord& record) {
    auto& queue = *record.queue();
    for (const auto& one : entered_)
        queue.count_overtaking(one.ticket, one.priority);
    if (!entered_.empty() && !queue.overtakers().empty()) names_.note_reordered(record);
    entered_.clear();
}

// Conversions come first; no other request is granted while one waits (S28).
bool QueueAdmission::let_in(NamedRecord& record) {
    auto& queue = *record.queue();
    if (queue.conversion() && serve_conversion(record)) return true;
    if (queue.conversion() || queue.size() == 0) return false;
    if (!record.may_have_holders()) return false;  // a request for the name answers who waits
    if (record.kind() == RecordKind::semaphore) return enter_for_permits(record);
    const bool phases = record.policy() == QueuePolicy::phase_fair;
    const bool moved = (phases && turn_phase(record)) || enter_unhindered(record);
    count_overtakings(record);
    if (moved || queue.first() != nullptr) return moved;
    const auto& barrier = *queue.head();
    return clear_for(barrier) || serve_barrier(barrier);
}

// --- all names ----------------------------------------------------------------------------------

// Returns true if something changed on the name, which is then examined again.
bool QueueAdmission::step(const RecordRef& record) {
    if (remove_traces(record)) return true;
    auto* queue = record->queue();
    return queue != nullptr && !queue->is_empty() && let_in(*record);
}

// Returns true if there were traces.
bool QueueAdmission::remove_traces(const RecordRef& record) {
    if (!traces_.is_needed()) return false;
    constexpr auto all = std::numeric_limits<std::size_t>::max();
    auto dead = traces_.remove(record, all, {names_, holds_, groups_});
    if (dead.gone.empty()) return false;
    gone_.emplace_back(std::string{record->name()}, std::move(dead.gone));
    return true;
}

void QueueAdmission::tidy(const RecordRef& record) {
    names_.tidy(record, [&] { return holds_.has_more(record->name()); });
}

// A request for several names that leads a queue where something changed may be granted now on its
// other names, so these are examined as well.
void QueueAdmission::look_behind_moved() {
    for (auto* record : moved_) {
        const auto* queue = record->queue();
        const auto* head = queue == nullptr ? nullptr : queue->head();
        if (head == nullptr || head->part == Part::alone) continue;
        for (const auto& [other, mode] : groups_.at(head->ticket).names)
            add(*names_.record(other));
    }
    for (auto* record : moved_)
        add(*record);
    moved_.clear();
}

void QueueAdmission::add(NamedRecord& record) {
    const auto name = [](const NamedRecord* one) { return one->name(); };
    const auto place = std::ranges::lower_bound(todo_, record.name(), std::greater{}, name);
    if (place == todo_.end() || *place != &record) todo_.insert(place, &record);
}

// Names are taken in byte order, so that the result is the same everywhere. Mostly nobody waits for
// the only one.
void QueueAdmission::run(std::span<const RecordRef> names) {
    const bool is_plain =
        names.size() == 1 && names.front()->queue() == nullptr && !traces_.is_needed();
    if (is_plain) {
        names_.changed(names.front());
        return tidy(names.front());
    }
    for (const auto& record : names)
        add(*record);
    while (!todo_.empty()) {
        const RecordRef record{*todo_.back()};
        names_.changed(record);
        if (step(record)) {
            moved_.push_back(record.get());
            look_behind_moved();
        } else {
            tidy(record);
            todo_.pop_back();
        }
    }
}

}  // namespace mortise::core
