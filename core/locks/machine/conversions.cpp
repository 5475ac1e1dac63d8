// Conversions of holds (S27, S28): the effect on a name, and the outcomes for a session.
#include <utility>

#include "core/base/check.hpp"
#include "core/locks/machine/lock_machine.hpp"
#include "core/locks/table/lock_table.hpp"

namespace mortise::core {

// --- on a name ----------------------------------------------------------------------------------

std::optional<FencingToken> LockTable::downgrade(const std::string& name, OperationId hold,
                                                 LockMode mode, Grants& grants) {
    auto slot = names_.slot_of(name);
    auto& record = slot.record->second;
    const auto* held = record.find(hold);
    MORTISE_CHECK(held != nullptr);
    if (!covers(held->mode, mode) || waiting_upgrade(slot, hold) != nullptr) return std::nullopt;
    const auto token = held->token;
    record.convert(hold, mode, token);
    settle({name}, grants);
    return token;
}

LockTable::Upgraded LockTable::upgrade(const std::string& name, const Conversion& conversion,
                                       bool wait) {
    auto slot = names_.slot_of(name);
    auto& record = slot.record->second;
    const OperationId hold{conversion.operation.session, conversion.hold};
    const auto mode = record.find(hold)->mode;
    const bool legal = mode == LockMode::shared || mode == LockMode::update;
    if (!legal || waiting_upgrade(slot, hold) != nullptr) return Upgraded::invalid;
    names_.changed(name);
    if (record.holders().size() == 1) {
        holds_.convert(record, hold);
        return Upgraded::at_once;
    }
    if (!wait) return Upgraded::busy;
    // Two readers that waited for each other would wait for ever.
    if (mode == LockMode::shared) return Upgraded::deadlock;
    names_.ensure_queue(name).add(conversion);
    return Upgraded::queued;
}

const Conversion* LockTable::waiting_upgrade(const Slot& slot, OperationId hold) const {
    if (!names_.has_queue(slot) || !slot.queue->second.conversion()) return nullptr;
    const auto& conversion = *slot.queue->second.conversion();
    const bool same = conversion.operation.session == hold.session && conversion.hold == hold.seq;
    return same ? &conversion : nullptr;
}

std::optional<Conversion> LockTable::cancel_upgrade(const std::string& name, OperationId hold) {
    const auto slot = names_.slot_of(name);
    if (waiting_upgrade(slot, hold) == nullptr) return std::nullopt;
    auto gone = slot.queue->second.remove_conversion();
    names_.note_turn(name);
    names_.drop_empty_queue(slot);
    return gone;
}

void LockTable::withdraw_upgrade(const std::string& name, Grants& grants) {
    names_.queue(name).remove_conversion();
    names_.note_turn(name);
    settle({name}, grants);
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
