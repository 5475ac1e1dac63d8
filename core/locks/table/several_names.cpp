// How requests for several names at once are granted (S32).
//
// A request for all of them waits in each queue as a barrier, and waits only for older requests, in
// every queue. So no two such requests wait for each other, and none holds a name while it waits.
#include <algorithm>
#include <utility>

#include "core/locks/table/admission.hpp"

namespace mortise::core {

bool QueueAdmission::is_at_head(const Waiter& barrier, std::string_view name) const {
    const auto* queue = names_.queue_of(name);
    if (queue == nullptr) return false;
    return !queue->conversion() && queue->head()->ticket == barrier.ticket;
}

// Removes the traces of ended sessions from its names. Returns true if there were any.
bool QueueAdmission::clear_for(const Waiter& barrier) {
    bool cleared = false;
    for (const auto& [name, mode] : groups_.at(barrier.ticket).names) {
        const auto record = names_.record(name);
        if (!remove_traces(record)) continue;
        moved_.push_back(record.get());
        cleared = true;
    }
    return cleared;
}

// Grants all names, with a token for each, or nothing.
bool QueueAdmission::serve_barrier(const Waiter& barrier) {
    const auto ticket = barrier.ticket;
    const auto& group = groups_.at(ticket);
    const bool ready = std::ranges::all_of(group.names, [&](const auto& one) {
        return is_at_head(barrier, one.first) && names_.find(one.first)->admits(one.second);
    });
    if (!ready) return false;
    Answered given{group.operation, {AnswerKind::granted, {}, {}}};
    for (const auto& [name, mode] : group.names) {
        const auto record = names_.record(name);
        const auto waiter = names_.queue(record).remove(ticket);
        auto previous = record->previous();
        const auto token = holds_.grant(name, *record, waiter);
        given.answer.names.push_back({name, token, std::move(previous), {}});
        moved_.push_back(record.get());
    }
    grants_.push_back(std::move(given));
    groups_.forget(ticket);
    return true;
}

// Called when a request for any of several names was granted one of them.
void QueueAdmission::leave_other_queues(const Waiter& entering, std::string_view name) {
    const auto group = groups_.take(entering.ticket);
    for (const auto& [other, mode] : group.names) {
        if (other == name) continue;
        const auto record = names_.record(other);
        names_.queue(record).remove(entering.ticket);
        names_.note_reordered(*record);
        moved_.push_back(record.get());
    }
}

}  // namespace mortise::core
