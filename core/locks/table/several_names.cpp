// Requests for several names at once (S32): the places of one in several queues, and how it leaves
// them.
//
// A request for all of them waits in each queue as a barrier: everything that it waits for is
// older, in every queue. So no two of them wait for each other, and nobody holds while waiting.
#include <algorithm>
#include <limits>
#include <utility>

#include "core/base/check.hpp"
#include "core/locks/table/lock_table.hpp"

namespace mortise::core {

// --- asking -------------------------------------------------------------------------------------

// It overtakes nobody: it enters at once only where nobody waits.
LockTable::Result LockTable::acquire_all(Waiter& waiter, const Acquire& request, LastHolders& last,
                                         Grants& grants) {
    const bool is_free = std::ranges::all_of(request.names, [&](const NamedMode& one) {
        const auto* record = find(one.name);
        return record == nullptr || (queue_of(one.name) == nullptr && record->admits(one.mode));
    });
    if (!is_free && !request.wait) return Result::busy;
    for (std::size_t at = 0; at < request.names.size(); ++at) {
        const auto& one = request.names[at];
        ensure(one.name, request.policy, std::move(last[at]));
        queue_up(waiter, one);
    }
    return settle_newcomer(names_of(request), waiter.operation, grants);
}

// A request for all of several names that leads this queue may be let in by the sweep of its other
// names, and then others here.
bool LockTable::may_spread(std::string_view name) const {
    const auto* queue = queue_of(name);
    return ended_ != nullptr && queue != nullptr && queue->has_barrier();
}

bool LockTable::join_group(const std::string& name, const Waiter& waiter) {
    auto& group =
        groups_.try_emplace(waiter.ticket, Group{waiter.operation, waiter.part, {}}).first->second;
    const bool same = group.operation == waiter.operation && group.part == waiter.part;
    return same && group.names.emplace(name, waiter.mode).second;
}

std::size_t LockTable::names_waited_for(Ticket ticket) const {
    const auto group = groups_.find(ticket);
    return group == groups_.end() ? 0 : group->second.names.size();
}

void LockTable::leave_group(const std::string& name, Ticket ticket) {
    const auto group = groups_.find(ticket);
    MORTISE_CHECK(group != groups_.end());
    group->second.names.erase(name);
    if (group->second.names.empty()) groups_.erase(group);
}

// --- being let in -------------------------------------------------------------------------------

bool LockTable::is_at_head(const Waiter& barrier, const std::string& name) const {
    const auto* queue = queue_of(name);
    if (queue == nullptr) return false;
    return !queue->conversion() && queue->head()->ticket == barrier.ticket;
}

// Removes what ended sessions have on its names. True if there was something.
bool LockTable::clear_for(const Waiter& barrier) {
    bool cleared = false;
    for (const auto& [name, mode] : groups_.at(barrier.ticket).names) {
        auto dead = remove_dead(name, std::numeric_limits<std::size_t>::max());
        if (dead.gone.empty()) continue;
        gone_.emplace_back(name, std::move(dead.gone));
        moved_.insert(name);
        cleared = true;
    }
    return cleared;
}

// One grant and one token for each name, or nothing.
bool LockTable::serve_barrier(const Waiter& barrier, Grants& grants) {
    const auto ticket = barrier.ticket;
    const auto& group = groups_.at(ticket);
    const bool ready = std::ranges::all_of(group.names, [&](const auto& one) {
        return is_at_head(barrier, one.first) && find(one.first)->admits(one.second);
    });
    if (!ready) return false;
    Answered given{group.operation, {AnswerKind::granted, {}, {}}};
    for (const auto& [name, mode] : group.names) {
        auto& record = records_.at(name);
        const auto waiter = queues_.at(name).remove(ticket);
        auto previous = record.previous;
        given.answer.names.push_back({name, grant(name, record, waiter), std::move(previous)});
        moved_.insert(name);
    }
    grants.push_back(std::move(given));
    groups_.erase(ticket);
    return true;
}

// A request for any of several names has got one.
void LockTable::leave_other_queues(const Waiter& entering, const std::string& name) {
    auto group = groups_.extract(entering.ticket);
    MORTISE_CHECK(!group.empty());
    for (const auto& [other, mode] : group.mapped().names) {
        if (other == name) continue;
        queues_.at(other).remove(entering.ticket);
        note_turn(other);
        moved_.insert(other);
    }
}

}  // namespace mortise::core
