// Breaking locks (S24). A broken hold stays in everybody's way until its node has confirmed the
// loss, or until a quorum has counted down the time for which the last renewal before the break
// made it valid: nobody gets the name while the former holder may still trust in it (P3).
#include <algorithm>
#include <utility>

#include "core/base/check.hpp"
#include "core/locks/machine/lock_machine.hpp"
#include "core/locks/table/lock_table.hpp"

namespace mortise::core {

// --- on a name ----------------------------------------------------------------------------------

std::vector<OperationId> LockTable::holders_under(std::string_view name, FencingToken token) const {
    std::vector<OperationId> holders;
    const auto* record = find(name);
    if (record == nullptr) return holders;
    for (const auto& grant : record->holders()) {
        if (grant.token == token && !grant.left) holders.push_back(grant.operation);
    }
    return holders;
}

void LockTable::close(const std::string& name, OperationId hold, LogIndex since,
                      const OpenSession& session) {
    holds_.mark_broken(name, names_.record(name), hold, since, session);
    names_.changed(name);
    names_.note_turn(name);
}

void LockTable::take_off(const std::string& name, const std::vector<OperationId>& holds,
                         Predecessor how, Grants& grants) {
    auto& record = names_.record(name);
    for (const auto hold : holds) {
        const bool removed = holds_.release(name, record, hold, how);
        MORTISE_CHECK(removed);
    }
    holds_.closures().end_over(name, &record);
    names_.note_turn(name);
    settle({name}, grants);
}

bool LockTable::open(const std::string& name, FencingToken token) {
    const auto slot = names_.slot_of(name);
    if (!names_.is_known(slot)) return false;
    if (!holds_.remove_left(name, slot.record->second, token)) return false;
    names_.note_turn(name);
    return true;
}

// --- for a session ------------------------------------------------------------------------------

void LockMachine::on(Session& session, Seq seq, const BreakLock& request) {
    touch(request.name);
    const auto holds = table_.holders_under(request.name, request.expected);
    // it only keeps the name closed
    const bool opens = table_.open(request.name, request.expected);
    if (holds.empty() && !opens) return answer(session, seq, {AnswerKind::not_held, {}, {}});
    answer(session, seq, {AnswerKind::broken, {}, {}});
    LockBroken told{{session.id, seq}, request.name,      request.expected, {},
                    request.reason,    request.immediate, request.asked_by};
    for (const auto hold : holds) {
        if (!table_.find(request.name)->find(hold)->broken) told.holds.push_back(hold);
    }
    const auto fresh = told.holds;
    if (opens || !fresh.empty() || request.immediate) outcomes_->push_back(std::move(told));
    LockTable::Grants grants;
    take_away(request, fresh, grants);
    if (!holds.empty() && request.immediate) {
        for (const auto hold : holds)
            lose_name(hold, request.name);
        table_.take_off(request.name, holds, Predecessor::broken, grants);
    }
    if (opens) table_.look_again(request.name, grants);
    publish(std::move(grants));
}

// A request to release, which changes nothing.
void LockMachine::on(Session& session, Seq seq, const AskRelease& request) {
    touch(request.name);
    ReleaseAsked asked{{session.id, seq}, request.name, {}, request.reason};
    if (const auto* record = table_.find(request.name)) {
        for (const auto& grant : record->holders()) {
            if (grant.is_held()) asked.holds.push_back(grant.operation);
        }
    }
    if (asked.holds.empty()) return answer(session, seq, {AnswerKind::not_held, {}, {}});
    answer(session, seq, {AnswerKind::asked, {}, {}});
    outcomes_->push_back(std::move(asked));
}

void LockMachine::take_away(const BreakLock& request, const std::vector<OperationId>& holds,
                            LockTable::Grants& grants) {
    for (const auto hold : holds) {
        auto& owner = *sessions_.change(hold.session);
        owner.broken.insert(hold.seq);
        cancel_upgrade(owner, request.name, hold);
        if (!request.immediate) table_.close(request.name, hold, owner.renewed_at, owner.opened);
    }
    if (!holds.empty() && !request.immediate) table_.look_again(request.name, grants);
}

// The upgrade ends with its hold (S27).
void LockMachine::cancel_upgrade(Session& owner, const std::string& name, OperationId hold) {
    const auto upgrade = table_.cancel_upgrade(name, hold);
    if (!upgrade) return;
    end_operation(owner, upgrade->operation.seq);
    answer(owner, upgrade->operation.seq, {AnswerKind::cancelled, {}, {}});
}

// The operation, of a live session, has one name less.
void LockMachine::lose_name(OperationId hold, const std::string& name) {
    auto& owner = *sessions_.change(hold.session);
    const auto found = owner.operations.find(hold.seq);
    MORTISE_CHECK(found != owner.operations.end());
    const auto erased = found->second.names.remove(name);
    MORTISE_CHECK(erased == 1);
    --owner.names;
    if (found->second.names.empty()) end_operation(owner, hold.seq);
}

// The time has ended. Whether the node knows that its hold is gone is a separate question: it is
// told with every renewal until it has confirmed.
void LockMachine::on(const EndClosure& command) {
    if (const auto known = table_.closures().find(command.closure)) touch(known->name);
    const auto over = table_.closures().find(command.closure);
    if (!over) return;  // it may have ended with its session
    LockTable::Grants grants;
    switch (over->closure.kind) {
        case Closure::Kind::broken:
            lose_name(over->closure.hold, over->name);
            table_.take_off(over->name, {over->closure.hold}, Predecessor::broken, grants);
            break;
        case Closure::Kind::max_hold: end_max_hold(*over, grants); break;
        case Closure::Kind::min_hold:
        case Closure::Kind::lock_delay:
            table_.end_closure(over->name, command.closure, grants);
            break;
    }
    publish(std::move(grants));
}

}  // namespace mortise::core
