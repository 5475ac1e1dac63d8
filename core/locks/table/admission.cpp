// Which waiters of a name are let in, and when (S28-S32).
#include <limits>
#include <utility>

#include "core/base/check.hpp"
#include "core/locks/table/lock_table.hpp"

namespace mortise::core {

// The result of settle() for a new request, where everybody else has to wait.
bool LockTable::would_grant(std::string_view name, LockMode mode, Priority priority) const {
    return would_grant(find(name), queue_of(name), mode, priority);
}

bool LockTable::would_grant(const LockRecord* record, const WaitQueue* queue, LockMode mode,
                            Priority priority) {
    if (record == nullptr) return true;
    if (!record->admits(mode)) return false;
    if (queue == nullptr) return true;
    if (queue->conversion() || queue->has_barrier()) return false;
    const auto rank = queue->rank_of_newcomer(mode, priority);
    if (queue->is_free_of_earlier(rank, mode)) return true;
    // By its priority it would lead the batch that an older one cannot lead.
    const bool batches = record->policy() == QueuePolicy::phase_fair && !is_writer(mode) &&
                         record->turn == Turn::readers && !record->has_writer();
    const auto* reader = batches ? queue->first_reader() : nullptr;
    return reader != nullptr && rank < queue->rank_of(*reader);
}

FencingToken LockTable::grant(const std::string& name, LockRecord& record, const Waiter& waiter) {
    MORTISE_CHECK(record.admits(waiter.mode));
    const auto token = record.take_token(waiter.mode, newest_token_);
    Grant given{waiter.operation, waiter.mode, token, index_, waiter.label, waiter.locker};
    if (waiter.terms.is_set()) begin_terms(name, waiter.terms, given);
    record.add(std::move(given));
    if (is_writer(waiter.mode)) record.turn = Turn::readers;  // after a writer, a batch
    return token;
}

// A request for several names is told which one it got.
void LockTable::grant(const std::string& name, LockRecord& record, const Waiter& waiter,
                      Grants& grants) {
    auto previous = record.previous;
    const auto token = grant(name, record, waiter);
    Answer given{AnswerKind::granted, {}, {}};
    if (waiter.part == Part::alone) {
        given.token = token;
        given.previous = std::move(previous);
    } else {
        given.names.push_back({name, token, std::move(previous)});
    }
    grants.push_back({waiter.operation, std::move(given)});
}

void LockTable::enter(Slot& slot, const Waiter& waiter, Grants& grants) {
    const auto entering = slot.queue->second.remove(waiter.ticket);
    entered_.push_back({entering.ticket, entering.priority});
    const auto& name = slot.record->first;
    grant(name, slot.record->second, entering, grants);
    if (entering.part != Part::alone) leave_other_queues(entering, name);
}

void LockTable::pass_turn_to_writers(Slot& slot) {
    const bool passes = std::exchange(slot.record->second.turn, Turn::writers) == Turn::readers;
    if (passes) note_turn(slot.record->first);
}

// The first of the waiting readers leads the batch, and the others follow in queue order, so that
// no mode can keep another out for ever. Writers are not part of it: they would overtake earlier
// ones (S29).
bool LockTable::enter_batch(Slot& slot, Grants& grants) {
    auto& record = slot.record->second;
    const auto& queue = slot.queue->second;
    const auto* leader = queue.first_reader();
    if (leader == nullptr || !record.admits(leader->mode)) return false;
    enter(slot, *leader, grants);
    // A mode that did not fit once will not fit later: the waiters that enter only add to what is
    // in its way.
    const auto fits = [&](LockMode mode) { return !is_writer(mode) && record.admits(mode); };
    while (const auto* next = queue.first(fits))
        enter(slot, *next, grants);
    pass_turn_to_writers(slot);
    return true;
}

// S31. The phase turns to the readers when no writer holds any more, even if other readers still
// do. It turns to the writers when the first waiter conflicts with no holder: a hold that conflicts
// with nobody in front keeps nothing closed.
bool LockTable::turn_phase(Slot& slot, Grants& grants) {
    auto& record = slot.record->second;
    const auto& queue = slot.queue->second;
    const bool has_readers = queue.first_reader() != nullptr;
    if (!record.has_writer() && !has_readers) pass_turn_to_writers(slot);
    if (queue.first() == nullptr) return false;  // a barrier leads
    if (record.turn == Turn::readers) return !record.has_writer() && enter_batch(slot, grants);

    if (!record.admits(queue.first()->mode)) return false;
    const auto* writer = queue.first_writer();
    if (writer == nullptr) return enter_batch(slot, grants);
    if (!record.admits(writer->mode)) return false;
    enter(slot, *writer, grants);
    return true;
}

// A request that conflicts with no holder and no earlier waiter need not wait for a turn.
bool LockTable::enter_unhindered(Slot& slot, Grants& grants) {
    const auto admits = [&](LockMode mode) { return slot.record->second.admits(mode); };
    const auto* first = slot.queue->second.first_unhindered(admits);
    if (first == nullptr) return false;
    enter(slot, *first, grants);
    return true;
}

// Counted after all that enter together, because the order does not change meanwhile.
void LockTable::count_overtakings(Slot& slot) {
    auto& queue = slot.queue->second;
    for (const auto& one : entered_)
        queue.count_overtaking(one.ticket, one.priority);
    if (!entered_.empty() && !queue.overtakers().empty()) note_turn(slot.record->first);
    entered_.clear();
}

// Conversions come first; nobody else enters while one waits (S28).
bool LockTable::let_in(Slot& slot, Grants& grants) {
    auto& queue = slot.queue->second;
    if (queue.conversion() && serve_conversion(slot, grants)) return true;
    if (queue.conversion() || queue.size() == 0) return false;
    const bool phases = slot.record->second.policy() == QueuePolicy::phase_fair;
    const bool moved = (phases && turn_phase(slot, grants)) || enter_unhindered(slot, grants);
    count_overtakings(slot);
    if (moved || queue.first() != nullptr) return moved;
    const auto& barrier = *queue.head();
    return clear_for(barrier) || serve_barrier(barrier, grants);
}

// True if something changed on the name: it is examined again.
bool LockTable::step(const std::string& name, Grants& grants) {
    auto dead = remove_dead(name, std::numeric_limits<std::size_t>::max());
    if (!dead.gone.empty()) {
        gone_.emplace_back(name, std::move(dead.gone));
        return true;
    }
    auto slot = slot_of(name);
    return slot.queue != queues_.end() && !slot.queue->second.is_empty() && let_in(slot, grants);
}

// A request that leads a queue where something changed may have waited for that on another name.
void LockTable::look_behind_moved() {
    for (const auto& name : moved_) {
        const auto* queue = queue_of(name);
        const auto* head = queue == nullptr ? nullptr : queue->head();
        if (head == nullptr || head->part == Part::alone) continue;
        for (const auto& [other, mode] : groups_.at(head->ticket).names)
            todo_.insert(other);
    }
    todo_.merge(moved_);
    moved_.clear();
}

// Removes what is not needed any more (S37).
void LockTable::tidy(const std::string& name) {
    auto slot = slot_of(name);
    if (slot.record == records_.end()) return;
    const bool waited = slot.queue != queues_.end() && !slot.queue->second.is_empty();
    if (waited) slot.queue->second.forget_overtakings();
    if (slot.queue != queues_.end() && !waited) queues_.erase(slot.queue);
    auto& record = slot.record->second;
    if (!record.has_writer() && !waited) record.turn = Turn::writers;
    const bool is_empty = record.holders().empty() && !waited && extras_of(name) == nullptr;
    if (is_empty) records_.erase(slot.record);
}

// Lets in every waiter that may enter, until nothing changes. Names are taken in byte order, so
// that the result is the same everywhere.
void LockTable::settle(const NameList& names, Grants& grants) {
    todo_.insert(names.begin(), names.end());
    while (!todo_.empty()) {
        const auto name = *todo_.begin();
        changes_.insert(name);
        if (step(name, grants)) {
            moved_.insert(name);
            look_behind_moved();
        } else {
            tidy(name);
            todo_.erase(name);
        }
    }
}

}  // namespace mortise::core
