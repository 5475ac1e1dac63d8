// The break of a lock (S24), and the ends of quorum timers. A broken hold blocks its name until its
// node has confirmed the loss, or until a quorum has counted down the time for which the last
// renewal before the break made it valid: nobody gets the name while the former holder may still
// rely on it (P3). table_breaks.cpp has the effect on a name.
#include <utility>

#include "core/base/check.hpp"
#include "core/locks/machine/lock_machine.hpp"
#include "core/locks/origin.hpp"
#include "core/locks/table/lock_table.hpp"

namespace mortise::core {

void LockMachine::on(Session& session, Seq seq, const BreakLock& request) {
    touch(request.name);
    const auto holds = table_.holders_under(request.name, request.expected);
    // a former holder only keeps the name closed
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

// The session may be the one that asks.
void LockMachine::on(Session& session, Seq seq, const EvictSession& request) {
    auto* evicted = sessions_.change(request.session);
    if (evicted == nullptr) return answer(session, seq, {AnswerKind::not_held, {}, {}});
    answer(session, seq, {AnswerKind::broken, {}, {}});
    outcomes_->push_back(SessionEvicted{{session.id, seq},
                                        request.session,
                                        evicted->opened.node,
                                        request.reason,
                                        request.immediate,
                                        request.asked_by});
    evicted->renewal_number = last_renewal;
    if (request.immediate) end_session(request.session, SessionEnd::expired);
}

// Asking for a release changes nothing.
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
        cancel_upgrade(owner, table_.names().record(request.name), hold);
        table_.set_label_if_none(request.name, hold, default_label(owner.opened.origin));
        if (!request.immediate) table_.close(request.name, hold, owner.renewed_at, owner.opened);
    }
    if (!holds.empty() && !request.immediate) table_.look_again(request.name, grants);
}

// The upgrade ends with its hold (S27).
void LockMachine::cancel_upgrade(Session& owner, const RecordRef& record, OperationId hold) {
    const auto upgrade = table_.cancel_upgrade(record, hold);
    if (!upgrade) return;
    end_operation(owner, upgrade->operation.seq);
    answer(owner, upgrade->operation.seq, {AnswerKind::cancelled, {}, {}});
}

// Removes a name from an operation, whose session is alive.
void LockMachine::lose_name(OperationId hold, std::string_view name) {
    auto& owner = *sessions_.change(hold.session);
    auto& operation = owner.operations.at(hold.seq);
    const bool erased = operation.remove_name(name);
    MORTISE_CHECK(erased);
    --owner.names;
    if (operation.names().empty()) end_operation(owner, hold.seq);
}

// Here the time has ended; the node may not know yet that its hold is gone. It is told with every
// renewal until it has confirmed the loss.
void LockMachine::on(const EndClosure& command) {
    if (end_era_closing(command.closure)) return;
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
        case Closure::Kind::era: break;  // of no name
    }
    publish(std::move(grants));
}

}  // namespace mortise::core
