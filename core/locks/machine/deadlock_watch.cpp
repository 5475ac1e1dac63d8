#include "core/locks/machine/deadlock_watch.hpp"

#include <algorithm>

namespace mortise::core {

namespace {

constexpr std::size_t waiters_per_step = 32;

void add_requests_of(const WaitFinder& waits, LockerId locker, DeadlockSearch& search) {
    const auto* tied = waits.lockers().find_tied(locker);
    if (tied == nullptr) return;
    for (const auto seq : tied->waiting)
        search.add({locker.session, seq});
}

// Adds the requests on this name that may be part of a cycle: those of a tied locker, and those
// that wait on another name as well.
void add_suspects_on(const WaitFinder& waits, std::string_view name, DeadlockSearch& search,
                     std::size_t& steps) {
    const auto* queue = waits.table().queue_of(name);
    if (queue == nullptr) return;
    steps += 1 + queue->size() / waiters_per_step;
    for (const auto* waiter : queue->in_order()) {
        const LockerId locker{waiter->operation.session, waiter->locker.number};
        const bool leads_here =
            waiter->part != Part::alone || waits.lockers().find_tied(locker) != nullptr;
        const bool is_live = waits.sessions().find(waiter->operation.session) != nullptr;
        if (leads_here && is_live) search.add(waiter->operation);
    }
}

bool is_wanted(const WaitFinder& waits, LockerId locker) {
    const auto* tied = waits.lockers().find_tied(locker);
    if (tied == nullptr) return false;
    if (tied->waiting.size() > 1 || tied->held.size() > operations_looked_at) return true;
    const auto& operations = waits.sessions().find(locker.session)->operations;
    return std::ranges::any_of(tied->held, [&](Seq seq) {
        return std::ranges::any_of(operations.find(seq)->names(), [&](const RecordRef& record) {
            return record->queue() != nullptr;
        });
    });
}

// True if others wait for the request or for its locker.
bool may_close_a_cycle(const WaitFinder& waits, OperationId asked) {
    const auto* operation = waits.operation(asked);
    if (operation == nullptr || operation->held()) return false;
    if (is_wanted(waits, {asked.session, operation->locker()})) return true;
    return std::ranges::any_of(operation->names(), [&](const RecordRef& record) {
        const auto& queue = *record->queue();
        const auto* waiter = queue.find(operation->ticket());
        return waiter == nullptr || queue.has_behind(*waiter);
    });
}

}  // namespace

void DeadlockWatch::forget() {
    asked_ = {};
    let_in_.clear();
}

std::optional<DeadlockWatch::Deadlock> DeadlockWatch::find(const WaitFinder& waits,
                                                           std::size_t& steps) const {
    DeadlockSearch search{waits, steps};
    add_suspects(waits, search, steps);
    const auto victim = search.victim();
    if (!victim) return std::nullopt;
    return Deadlock{*victim, search.cycle(*victim)};
}

void DeadlockWatch::add_suspects(const WaitFinder& waits, DeadlockSearch& search,
                                 std::size_t& steps) const {
    if (asked_.seq.is_set() && may_close_a_cycle(waits, asked_)) {
        search.add(asked_);
        // The requests behind it wait for its locker as well, which may wait elsewhere.
        add_requests_of(waits, {asked_.session, waits.operation(asked_)->locker()}, search);
    }
    for (const auto locker : let_in_)
        add_requests_of(waits, locker, search);
    for (const auto& name : waits.table().names().reordered()) {
        if (!search.may_go_on()) return;
        add_suspects_on(waits, name, search, steps);
    }
}

}  // namespace mortise::core
