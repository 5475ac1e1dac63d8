// Locks that are taken away (S24). A hold that is broken stays in everybody's way until its node
// has said that it knows, or until a quorum has counted down what the last renewal before the break
// let it believe: nobody has the name while somebody may still trust in it (P3).
#include <algorithm>
#include <utility>

#include "core/base/check.hpp"
#include "core/base/mutant.hpp"
#include "core/locks/lock_machine.hpp"
#include "core/locks/lock_table.hpp"

namespace mortise::core {

// --- on a name ----------------------------------------------------------------------------------

std::vector<OperationId> LockTable::holders_under(std::string_view name, FencingToken token) const {
    std::vector<OperationId> holders;
    const auto* record = find(name);
    if (record == nullptr) return holders;
    for (const auto& grant : record->holders()) {
        if (grant.token == token) holders.push_back(grant.operation);
    }
    return holders;
}

void LockTable::close(const std::string& name, const Closure& closure) {
    auto& record = slot_of(name).record->second;
    if (holds_alone(name, closure.hold)) value_is_dirty(name);
    record.mark_broken(closure.hold);
    extras_[name].closures.push_back(closure);
    closures_[closure.id] = name;
    changes_.insert(name);
    note_turn(name);
}

void LockTable::break_off(const std::string& name, const std::vector<OperationId>& holds,
                          Grants& grants) {
    auto& record = slot_of(name).record->second;
    for (const auto hold : holds) {
        if (holds_alone(name, hold)) value_is_dirty(name);
        const bool removed = record.remove(hold, Predecessor::broken);
        MORTISE_CHECK(removed);
    }
    end_closures(name);
    note_turn(name);
    settle({name}, grants);
}

std::optional<LockTable::Closed> LockTable::find_closure(ClosureId id) const {
    const auto found = closures_.find(id);
    if (found == closures_.end()) return std::nullopt;
    const auto& all = extras_.at(found->second).closures;
    return Closed{found->second, std::ranges::find(all, id, &Closure::id)->hold};
}

// Those of holds that are gone, however they went.
void LockTable::end_closures(const std::string& name) {
    const auto extras = extras_.find(name);
    if (extras == extras_.end()) return;
    const auto* record = find(name);
    std::erase_if(extras->second.closures, [&](const Closure& closure) {
        if (record != nullptr && record->find(closure.hold) != nullptr) return false;
        closures_.erase(closure.id);
        ended_closures_.push_back(closure.id);
        return true;
    });
    forget_extras(name);
}

// --- for a session ------------------------------------------------------------------------------

void LockMachine::on(Session& session, Seq seq, const BreakLock& request) {
    touch(request.name);
    const auto holds = table_.holders_under(request.name, request.expected);
    if (holds.empty()) return answer(session, seq, {AnswerKind::not_held, {}, {}});
    answer(session, seq, {AnswerKind::broken, {}, {}});
    LockBroken told{{session.id, seq}, request.name,     request.expected, {},
                    request.reason,    request.immediate};
    for (const auto hold : holds) {
        if (!table_.find(request.name)->find(hold)->broken) told.holds.push_back(hold);
    }
    const auto fresh = told.holds;
    if (!fresh.empty()) outcomes_->push_back(std::move(told));
    LockTable::Grants grants;
    take_away(request, fresh, grants);
    if (request.immediate || planted(Mutant::broken_name_opens_at_once)) {
        for (const auto hold : holds)
            lose_name(hold, request.name);
        table_.break_off(request.name, holds, grants);
    }
    publish(std::move(grants));
}

// The polite way.
void LockMachine::on(Session& session, Seq seq, const AskRelease& request) {
    touch(request.name);
    ReleaseAsked asked{{session.id, seq}, request.name, {}, request.reason};
    if (const auto* record = table_.find(request.name)) {
        for (const auto& grant : record->holders()) {
            if (!grant.broken) asked.holds.push_back(grant.operation);
        }
    }
    if (asked.holds.empty()) return answer(session, seq, {AnswerKind::not_held, {}, {}});
    answer(session, seq, {AnswerKind::asked, {}, {}});
    outcomes_->push_back(std::move(asked));
}

// With each hold goes what waits to upgrade it (S27).
void LockMachine::take_away(const BreakLock& request, const std::vector<OperationId>& holds,
                            LockTable::Grants& grants) {
    for (const auto hold : holds) {
        auto& owner = *sessions_.change(hold.session);
        owner.broken.insert(hold.seq);
        if (const auto upgrade = table_.cancel_upgrade(request.name, hold)) {
            end_operation(owner, upgrade->operation.seq);
            answer(owner, upgrade->operation.seq, {AnswerKind::cancelled, {}, {}});
        }
        if (!request.immediate) begin_closure(request.name, hold);
    }
    if (!holds.empty() && !request.immediate) table_.look_again(request.name, grants);
}

void LockMachine::begin_closure(const std::string& name, OperationId hold) {
    const auto& owner = *sessions_.find(hold.session);
    newest_closure_ = newest_closure_.next();
    const Closure closure{newest_closure_, hold, owner.renewed_at, owner.opened.ttl_ms,
                          owner.opened.rho_ppm};
    table_.close(name, closure);
    outcomes_->push_back(
        ClosureBegun{closure.id, hold.session, closure.since, closure.time_ms, closure.rho_ppm});
}

// Its operation, of a live session, is less by this name.
void LockMachine::lose_name(OperationId hold, const std::string& name) {
    auto& owner = *sessions_.change(hold.session);
    const auto found = owner.operations.find(hold.seq);
    MORTISE_CHECK(found != owner.operations.end());
    const auto erased = std::erase(found->second.names, name);
    MORTISE_CHECK(erased == 1);
    --owner.names;
    if (found->second.names.empty()) end_operation(owner, hold.seq);
}

// The time is up for whoever had it. Whether its node knows is another matter: it is told with
// every renewal until it has said so.
void LockMachine::on(const EndClosure& command) {
    const auto known = table_.find_closure(command.closure);
    if (!known) return;
    touch(known->name);
    if (!table_.find_closure(command.closure)) return;  // it went with its session
    lose_name(known->hold, known->name);
    LockTable::Grants grants;
    table_.break_off(known->name, {known->hold}, grants);
    publish(std::move(grants));
}

}  // namespace mortise::core
