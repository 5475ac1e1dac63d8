// The effects of conversions on a name (S27). QueueAdmission::let_in in admission.cpp decides that
// a waiting conversion is granted before all other waiters (S28).
#include <algorithm>

#include "core/base/check.hpp"
#include "core/locks/table/lock_table.hpp"

namespace mortise::core {

std::optional<FencingToken> LockTable::downgrade(std::string_view name, OperationId hold,
                                                 LockMode mode, Grants& grants) {
    auto slot = names_.slot_of(name);
    auto& record = *slot.record;
    const auto* held = record.find(hold);
    MORTISE_CHECK(held != nullptr);
    if (record.semaphore() != nullptr) return std::nullopt;  // permits are not shared
    if (!covers(held->mode, mode) || waiting_upgrade(slot, hold) != nullptr) return std::nullopt;
    const auto token = held->token;
    holds_.lower(name, record, hold, mode);
    settle(slot.record, grants);
    return token;
}

LockTable::Upgraded LockTable::upgrade(std::string_view name, const Conversion& conversion,
                                       bool wait) {
    auto slot = names_.slot_of(name);
    auto& record = *slot.record;
    const OperationId hold{conversion.operation.session, conversion.hold};
    const auto mode = record.find(hold)->mode;
    const bool legal = mode == LockMode::shared || mode == LockMode::update;
    if (!legal || waiting_upgrade(slot, hold) != nullptr) return Upgraded::invalid;
    names_.changed(slot.record);
    if (record.holders().size() == 1) {
        holds_.convert(name, record, hold);
        return Upgraded::at_once;
    }
    // S43: other readers whose grants are cached may be gone when they are recalled.
    const auto gives_way = [&](const Holder& other) {
        return other.operation == hold || (other.is_held() && other.is_cached());
    };
    const bool is_first = !names_.has_queue(slot) || !slot.queue->second.conversion();
    const bool recalls = is_first && std::ranges::all_of(record.holders(), gives_way);
    if (!wait) return Upgraded::busy;
    // Two readers that waited for each other would wait for ever.
    if (mode == LockMode::shared && !recalls) return Upgraded::deadlock;
    names_.ensure_queue(name).add(conversion);
    return Upgraded::queued;
}

const Conversion* LockTable::waiting_upgrade(const Slot& slot, OperationId hold) const {
    if (!names_.has_queue(slot) || !slot.queue->second.conversion()) return nullptr;
    const auto& conversion = *slot.queue->second.conversion();
    const bool same = conversion.operation.session == hold.session && conversion.hold == hold.seq;
    return same ? &conversion : nullptr;
}

const Conversion* LockTable::reader_that_upgrades(std::string_view name) const {
    const auto* queue = queue_of(name);
    if (queue == nullptr || !queue->conversion()) return nullptr;
    const auto& conversion = *queue->conversion();
    const auto* hold = find(name)->find({conversion.operation.session, conversion.hold});
    return hold->mode == LockMode::shared ? &conversion : nullptr;
}

std::optional<Conversion> LockTable::cancel_upgrade(std::string_view name, OperationId hold) {
    const auto slot = names_.slot_of(name);
    if (waiting_upgrade(slot, hold) == nullptr) return std::nullopt;
    auto gone = slot.queue->second.remove_conversion();
    names_.note_reordered(name);
    names_.drop_empty_queue(slot);
    return gone;
}

void LockTable::withdraw_upgrade(std::string_view name, Grants& grants) {
    names_.queue(name).remove_conversion();
    names_.note_reordered(name);
    settle(names_.record(name), grants);
}

}  // namespace mortise::core
