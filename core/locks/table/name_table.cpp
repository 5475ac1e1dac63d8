#include "core/locks/table/name_table.hpp"

#include <utility>

#include "core/base/check.hpp"

namespace mortise::core {

NameTable::Slot NameTable::slot_of(std::string_view name) {
    const auto* record = records_.find(name);
    return {record == nullptr ? RecordRef{} : *record, queues_.find(name)};
}

const LockRecord* NameTable::find(std::string_view name) const {
    const auto* found = records_.find(name);
    return found == nullptr ? nullptr : found->get();
}

const WaitQueue* NameTable::queue_of(std::string_view name) const {
    const auto found = queues_.find(name);
    return found == queues_.end() ? nullptr : &found->second;
}

const RecordRef& NameTable::record(std::string_view name) const {
    const auto* found = records_.find(name);
    MORTISE_CHECK(found != nullptr);
    return *found;
}

WaitQueue& NameTable::queue(std::string_view name) {
    const auto found = queues_.find(name);
    MORTISE_CHECK(found != queues_.end());
    list_queue(record(name));
    return found->second;
}

const std::string* NameTable::next_waited(std::string_view after) const {
    const auto next = queues_.upper_bound(after);
    return next == queues_.end() ? nullptr : &next->first;
}

// A name that was removed since the last reset may still have a row, and its new record gets that
// row.
RecordRef NameTable::ensure(std::string_view name, QueuePolicy policy, Previous last,
                            std::uint64_t endings) {
    if (const auto* known = records_.find(name)) return *known;
    auto record = RecordRef::make(name, LockRecord{policy});
    record->swept_at = endings;
    record->set_previous(std::move(last));
    if (auto* former = changes_.find(name)) {
        record->set_row_sum((*former)->row_sum());
        *former = record;
    }
    records_.insert(record);
    return record;
}

WaitQueue& NameTable::ensure_queue(std::string_view name) {
    const auto& of = record(name);
    of->set_waited(true);
    list_queue(of);
    const auto known = queues_.find(name);
    if (known != queues_.end()) return known->second;
    return queues_.try_emplace(std::string{name}, of->policy()).first->second;
}

void NameTable::drop_empty_queue(const Slot& slot) {
    list_queue(slot.record);
    if (slot.queue->second.is_empty()) queues_.erase(slot.queue);
}

void NameTable::changed(const RecordRef& record) {
    if (!changes_.contains(record->name())) changes_.insert(record);
    list_queue(record);
}

void NameTable::list_queue(const RecordRef& record) {
    if (!record->was_waited() || record->is_listed()) return;
    record->set_listed(true);
    changed_queues_.push_back(record);
}

void NameTable::forget_changed_queues() {
    for (const auto& record : changed_queues_) {
        record->set_listed(false);
        record->set_waited(queues_.contains(record->name()));
    }
    changed_queues_.clear();
}

RecordRef NameTable::take_change() {
    const auto first = *changes_.begin();
    return changes_.take(first->name());
}

void NameTable::forget(const RecordRef& record) {
    changed(record);
    (void)records_.take(record->name());
}

// Only these waiters may get others in front of them: readers, which wait for one writer at a turn;
// those that an overtaken waiter passes when it moves up a class; and those that a waiter with a
// priority passes when a barrier leaves. All others wait for those in front as long as these are
// there.
void NameTable::note_reordered(std::string_view name) {
    const auto* queue = queue_of(name);
    if (queue == nullptr) return;
    const bool is_in_order =
        !queue->has_readers() && !queue->has_priorities() && queue->overtakers().empty();
    if (!is_in_order) reordered_.emplace(name);
}

void NameTable::restore(std::string_view name, LockRecord record, WaitQueue queue) {
    auto restored = RecordRef::make(name, std::move(record));
    restored->set_waited(!queue.is_empty());
    if (!queue.is_empty()) queues_.emplace(name, std::move(queue));
    records_.insert(std::move(restored));
}

}  // namespace mortise::core
