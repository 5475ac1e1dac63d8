// Conversions of holds (S27, S28): the effect on a name, and the outcomes for a session.
#include <utility>

#include "core/base/check.hpp"
#include "core/locks/machine/lock_machine.hpp"
#include "core/locks/table/lock_table.hpp"

namespace mortise::core {

// --- on a name ----------------------------------------------------------------------------------

std::optional<FencingToken> LockTable::downgrade(const std::string& name, OperationId hold,
                                                 LockMode mode, Grants& grants) {
    auto slot = slot_of(name);
    auto& record = slot.record->second;
    const auto* held = record.find(hold);
    MORTISE_CHECK(held != nullptr);
    if (!covers(held->mode, mode) || waiting_upgrade(slot, hold) != nullptr) return std::nullopt;
    const auto token = held->token;
    record.convert(hold, mode, token);
    settle({name}, grants);
    return token;
}

// A conversion does not turn the phase: readers that are alone and upgrade, one after the other,
// would each let a batch in before a waiting writer, without end (P9).
FencingToken LockTable::convert(LockRecord& record, OperationId hold) {
    const auto token = record.take_token(LockMode::exclusive, newest_token_);
    record.convert(hold, LockMode::exclusive, token);
    return token;
}

LockTable::Upgraded LockTable::upgrade(const std::string& name, const Conversion& conversion,
                                       bool wait) {
    auto slot = slot_of(name);
    auto& record = slot.record->second;
    const OperationId hold{conversion.operation.session, conversion.hold};
    const auto mode = record.find(hold)->mode;
    const bool legal = mode == LockMode::shared || mode == LockMode::update;
    if (!legal || waiting_upgrade(slot, hold) != nullptr) return Upgraded::invalid;
    changes_.insert(name);
    if (record.holders().size() == 1) {
        convert(record, hold);
        return Upgraded::at_once;
    }
    if (!wait) return Upgraded::busy;
    // Two readers that waited for each other would wait for ever.
    if (mode == LockMode::shared) return Upgraded::deadlock;
    queues_.try_emplace(name, record.policy()).first->second.add(conversion);
    return Upgraded::queued;
}

const Conversion* LockTable::waiting_upgrade(const Slot& slot, OperationId hold) const {
    if (slot.queue == queues_.end() || !slot.queue->second.conversion()) return nullptr;
    const auto& conversion = *slot.queue->second.conversion();
    const bool same = conversion.operation.session == hold.session && conversion.hold == hold.seq;
    return same ? &conversion : nullptr;
}

std::optional<Conversion> LockTable::cancel_upgrade(const std::string& name, OperationId hold) {
    const auto slot = slot_of(name);
    if (waiting_upgrade(slot, hold) == nullptr) return std::nullopt;
    auto gone = slot.queue->second.remove_conversion();
    note_turn(name);
    if (slot.queue->second.is_empty()) queues_.erase(slot.queue);
    return gone;
}

void LockTable::withdraw_upgrade(const std::string& name, Grants& grants) {
    const auto queue = queues_.find(name);
    MORTISE_CHECK(queue != queues_.end());
    queue->second.remove_conversion();
    note_turn(name);
    settle({name}, grants);
}

bool LockTable::serve_conversion(Slot& slot, Grants& grants) {
    auto& record = slot.record->second;
    if (record.holders().size() > 1) return false;
    const auto conversion = slot.queue->second.remove_conversion();
    note_turn(slot.record->first);
    const OperationId hold{conversion.operation.session, conversion.hold};
    grants.push_back({conversion.operation, {AnswerKind::converted, convert(record, hold), {}}});
    return true;
}

// --- for a session ------------------------------------------------------------------------------

// What ended sessions left on the name is removed before, so it is in nobody's way.
const Operation* LockMachine::held_operation(const Session& session, Seq seq) {
    const auto found = session.operations.find(seq);
    if (found == session.operations.end()) return nullptr;
    touch_all(found->second.names);
    const auto again = session.operations.find(seq);
    const bool held = again != session.operations.end() && again->second.held;
    return held && !session.broken.contains(seq) ? &again->second : nullptr;
}

void LockMachine::on(Session& session, Seq seq, const Downgrade& downgrade) {
    const auto* hold = held_operation(session, downgrade.operation);
    if (hold == nullptr) return answer(session, seq, {AnswerKind::not_held, {}, {}});
    if (hold->names.size() > 1) return answer(session, seq, {AnswerKind::invalid_argument, {}, {}});
    LockTable::Grants grants;
    const auto token = table_.downgrade(hold->names.front(), {session.id, downgrade.operation},
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
    if (hold->names.size() > 1) return answer(session, seq, {AnswerKind::invalid_argument, {}, {}});
    const auto name = hold->names.front();
    const auto locker = hold->locker;
    switch (table_.upgrade(name, {ticket, id, upgrade.operation}, upgrade.wait)) {
        case at_once: {
            const auto* grant = table_.find(name)->find({session.id, upgrade.operation});
            deadlocks_.let_in({session.id, locker});
            return answer(session, seq, {AnswerKind::converted, grant->token, {}});
        }
        case queued:
            take_place(session, seq, LockTable::Result::queued,
                       {{name}, ticket, false, upgrade.operation, locker});
            deadlocks_.queued(id);
            return;
        case busy: return answer(session, seq, {AnswerKind::busy, {}, {}});
        case deadlock: return answer(session, seq, {AnswerKind::deadlock, {}, {}});
        case invalid: return answer(session, seq, {AnswerKind::invalid_argument, {}, {}});
    }
}

}  // namespace mortise::core
