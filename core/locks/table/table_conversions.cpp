// The effects of conversions on a name (S27). QueueAdmission::let_in in admission.cpp decides that
// a waiting conversion is granted before all other waiters (S28).
#include <algorithm>

#include "core/base/check.hpp"
#include "core/locks/table/lock_table.hpp"

namespace mortise::core {

std::optional<FencingToken> LockTable::downgrade(const RecordRef& record, OperationId hold,
                                                 LockMode mode, Grants& grants) {
    const auto* held = record->find(hold);
    MORTISE_CHECK(held != nullptr);
    if (record->as<Semaphore>() != nullptr) return std::nullopt;  // permits are not shared
    if (!covers(held->mode, mode) || waiting_upgrade(*record, hold) != nullptr) return std::nullopt;
    const auto token = held->token;
    holds_.lower(record->name(), *record, hold, mode);
    settle(record, grants);
    return token;
}

LockTable::Upgraded LockTable::upgrade(const RecordRef& record, const Conversion& conversion,
                                       bool wait) {
    const OperationId hold{conversion.operation.session, conversion.hold};
    const auto mode = record->find(hold)->mode;
    const bool legal = mode == LockMode::shared || mode == LockMode::update;
    if (!legal || waiting_upgrade(*record, hold) != nullptr) return Upgraded::invalid;
    names_.changed(record);
    if (record->holders().size() == 1) {
        holds_.convert(record->name(), *record, hold);
        return Upgraded::at_once;
    }
    // S43: other readers whose grants are cached may be gone when they are recalled.
    const auto gives_way = [&](const Holder& other) {
        return other.operation == hold || (other.is_held() && other.is_cached());
    };
    const bool is_first = record->queue() == nullptr || !record->queue()->conversion();
    const bool recalls = is_first && std::ranges::all_of(record->holders(), gives_way);
    if (!wait) return Upgraded::busy;
    // Two readers that waited for each other would wait for ever.
    if (mode == LockMode::shared && !recalls) return Upgraded::deadlock;
    names_.ensure_queue(record).add(conversion);
    return Upgraded::queued;
}

const Conversion* waiting_upgrade(const LockRecord& record, OperationId hold) {
    const auto* queue = record.queue();
    if (queue == nullptr || !queue->conversion()) return nullptr;
    const auto& conversion = *queue->conversion();
    const bool same = conversion.operation.session == hold.session && conversion.hold == hold.seq;
    return same ? &conversion : nullptr;
}

const Conversion* reader_that_upgrades(const LockRecord& record) {
    const auto* queue = record.queue();
    if (queue == nullptr || !queue->conversion()) return nullptr;
    const auto& conversion = *queue->conversion();
    const auto* hold = record.find({conversion.operation.session, conversion.hold});
    return hold->mode == LockMode::shared ? &conversion : nullptr;
}

std::optional<Conversion> LockTable::cancel_upgrade(const RecordRef& record, OperationId hold) {
    if (waiting_upgrade(*record, hold) == nullptr) return std::nullopt;
    auto gone = record->queue()->remove_conversion();
    names_.note_reordered(*record);
    names_.drop_empty_queue(record);
    return gone;
}

void LockTable::withdraw_upgrade(const RecordRef& record, Grants& grants) {
    names_.queue(record).remove_conversion();
    names_.note_reordered(*record);
    settle(record, grants);
}

}  // namespace mortise::core
