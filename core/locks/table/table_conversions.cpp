// The effects of conversions on a name (S27). QueueAdmission::let_in in admission.cpp decides that
// a waiting conversion is granted before all other waiters (S28).
#include "core/base/check.hpp"
#include "core/locks/table/lock_table.hpp"

namespace mortise::core {

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

}  // namespace mortise::core
