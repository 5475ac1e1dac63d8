// Requests that convert holds (S27, S28), and their answers. table_conversions.cpp has their effect
// on a name.
#include "core/locks/machine/lock_machine.hpp"
#include "core/locks/table/lock_table.hpp"

namespace mortise::core {

// First removes the traces of ended sessions from the names, so that they block nothing. Returns
// null if the operation is not a hold, or was broken.
const Operation* LockMachine::held_operation(const Session& session, Seq seq) {
    const auto* found = session.operations.find(seq);
    if (found != nullptr && touch_all(found->names())) found = session.operations.find(seq);
    const bool held = found != nullptr && found->held();
    return held && !session.broken.contains(seq) ? found : nullptr;
}

void LockMachine::on(Session& session, Seq seq, const Downgrade& downgrade) {
    const auto* hold = held_operation(session, downgrade.operation);
    if (hold == nullptr) return answer(session, seq, {AnswerKind::not_held, {}, {}});
    if (hold->names().size() > 1)
        return answer(session, seq, {AnswerKind::invalid_argument, {}, {}});
    LockTable::Grants grants;
    const auto token = table_.downgrade(hold->names().front(), {session.id, downgrade.operation},
                                        downgrade.mode, grants);
    const auto kind = token ? AnswerKind::converted : AnswerKind::invalid_argument;
    answer(session, seq, {kind, token.value_or(FencingToken{}), {}});
    publish(std::move(grants));
}

void LockMachine::on(Session& session, Seq seq, const Upgrade& upgrade) {
    using enum LockTable::Upgraded;
    const auto* hold = held_operation(session, upgrade.operation);
    if (hold == nullptr) return answer(session, seq, {AnswerKind::not_held, {}, {}});
    const Ticket ticket{index_, place_};
    const OperationId id{session.id, seq};
    if (hold->names().size() > 1)
        return answer(session, seq, {AnswerKind::invalid_argument, {}, {}});
    const auto record = hold->names().front();
    const auto locker = hold->locker();
    switch (table_.upgrade(record, {ticket, id, upgrade.operation}, upgrade.wait)) {
        case at_once: {
            const auto* grant = record->find({session.id, upgrade.operation});
            deadlocks_.let_in({session.id, locker});
            return answer(session, seq, {AnswerKind::converted, grant->token, {}});
        }
        case queued:
            add_operation(
                session, seq,
                {{record}, {.ticket = ticket, .upgrades = upgrade.operation, .locker = locker}});
            deadlocks_.queued(id);
            return;
        case busy: return answer(session, seq, {AnswerKind::busy, {}, {}});
        case deadlock: return answer(session, seq, {AnswerKind::deadlock, {}, {}});
        case invalid: return answer(session, seq, {AnswerKind::invalid_argument, {}, {}});
    }
}

}  // namespace mortise::core
