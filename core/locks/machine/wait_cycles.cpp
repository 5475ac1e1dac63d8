// Deadlocks between lockers (S33): when to look for a wait cycle, and which request fails then.
//
// A command can complete a cycle only if it makes a locker wait for which others wait, or puts
// somebody in front of others; if it gives more to a locker that waits elsewhere; or if it passes
// the turn on. Most commands do none of this, and cost nothing.
#include <algorithm>
#include <utility>

#include "core/locks/deadlock/deadlocks.hpp"
#include "core/locks/limits.hpp"
#include "core/locks/machine/lock_machine.hpp"

namespace mortise::core {

namespace {

constexpr std::size_t waiters_per_step = 32;
// For a locker with more names, it is not checked whether anybody waits for one of them.
constexpr std::size_t holds_looked_at = 1'024;

}  // namespace

// Only at the end of a command is it known whether its request waits.
void LockMachine::end_command() {
    const auto asked = std::exchange(asked_, {});
    if (lockers_.is_anybody_tied()) refuse_deadlocks(asked);
    let_in_.clear();
    table_.forget_turned();
    const auto* operation = asked.seq.is_set() ? operation_of(asked) : nullptr;
    if (operation != nullptr && !operation->held) outcomes_->push_back(Queued{asked});
}

// Readers behind the waiters of an ended session wait for another writer from now on, although
// these waiters are removed later. If the session has too many of them, they are examined when they
// are removed.
void LockMachine::note_turns(const std::map<Seq, Operation>& ended) {
    std::size_t looked_at = 0;
    for (const auto& [seq, operation] : ended) {
        if (++looked_at > holds_looked_at) return;
        if (operation.held) continue;
        for (const auto& name : operation.names)
            table_.note_turn(name);
    }
}

// One after the other, because each refusal may let others in.
void LockMachine::refuse_deadlocks(OperationId asked) {
    std::size_t steps = 0;
    for (;;) {
        const WaitFinder waits{table_, sessions_, lockers_};
        DeadlockSearch search{waits, steps};
        add_suspects(search, asked, steps);
        const auto victim = search.victim();
        if (!victim) return;
        refuse(*victim, search.circle(*victim));
    }
}

void LockMachine::add_suspects(DeadlockSearch& search, OperationId asked,
                               std::size_t& steps) const {
    if (asked.seq.is_set() && may_close_a_circle(asked)) {
        search.add(asked);
        // Those behind it wait for its locker as well, which may wait elsewhere.
        add_requests_of({asked.session, operation_of(asked)->locker}, search);
    }
    for (const auto locker : let_in_)
        add_requests_of(locker, search);
    for (const auto& name : table_.turned()) {
        if (!search.may_go_on()) return;
        add_suspects_on(name, search, steps);
    }
}

void LockMachine::add_requests_of(LockerId locker, DeadlockSearch& search) const {
    const auto* tied = lockers_.find_tied(locker);
    if (tied == nullptr) return;
    for (const auto seq : tied->waiting)
        search.add({locker.session, seq});
}

// Requests on this name that may be part of a cycle: those of a tied locker, and those that wait on
// another name as well.
void LockMachine::add_suspects_on(const std::string& name, DeadlockSearch& search,
                                  std::size_t& steps) const {
    const auto* queue = table_.queue_of(name);
    if (queue == nullptr) return;
    steps += 1 + queue->size() / waiters_per_step;
    for (const auto* waiter : queue->in_order()) {
        const LockerId locker{waiter->operation.session, waiter->locker.number};
        const bool leads_here =
            waiter->part != Part::alone || lockers_.find_tied(locker) != nullptr;
        if (leads_here && is_live(waiter->operation)) search.add(waiter->operation);
    }
}

// True if others wait for the request or for its locker.
bool LockMachine::may_close_a_circle(OperationId asked) const {
    const auto* operation = operation_of(asked);
    if (operation == nullptr || operation->held) return false;
    if (is_wanted({asked.session, operation->locker})) return true;
    return std::ranges::any_of(operation->names, [&](const std::string& name) {
        const auto& queue = *table_.queue_of(name);
        const auto* waiter = queue.find(operation->ticket);
        return waiter == nullptr || queue.has_behind(*waiter);
    });
}

bool LockMachine::is_wanted(LockerId locker) const {
    const auto* tied = lockers_.find_tied(locker);
    if (tied == nullptr) return false;
    if (tied->waiting.size() > 1 || tied->held.size() > holds_looked_at) return true;
    const auto& operations = sessions_.find(locker.session)->operations;
    return std::ranges::any_of(tied->held, [&](Seq seq) {
        return std::ranges::any_of(operations.at(seq).names, [&](const std::string& name) {
            return table_.queue_of(name) != nullptr;
        });
    });
}

void LockMachine::refuse(OperationId victim, std::vector<CircleStep> circle) {
    auto& session = *sessions_.change(victim.session);
    const auto operation = session.operations.at(victim.seq);
    end_operation(session, victim.seq);
    auto grants = withdraw(operation);
    answer(session, victim.seq, {AnswerKind::deadlock, {}, {}, {}, std::move(circle)});
    publish(std::move(grants));
}

}  // namespace mortise::core
