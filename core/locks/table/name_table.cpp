#include "core/locks/table/name_table.hpp"

#include <utility>

#include "core/base/check.hpp"

namespace mortise::core {

NameTable::Slot NameTable::slot_of(const std::string& name) {
    return {records_.find(name), queues_.find(name)};
}

const LockRecord* NameTable::find(std::string_view name) const {
    const auto found = records_.find(name);
    return found == records_.end() ? nullptr : &found->second;
}

const WaitQueue* NameTable::queue_of(std::string_view name) const {
    const auto found = queues_.find(name);
    return found == queues_.end() ? nullptr : &found->second;
}

WaitQueue& NameTable::queue(const std::string& name) {
    const auto found = queues_.find(name);
    MORTISE_CHECK(found != queues_.end());
    return found->second;
}

const std::string* NameTable::next_waited(std::string_view after) const {
    const auto next = queues_.upper_bound(after);
    return next == queues_.end() ? nullptr : &next->first;
}

LockRecord& NameTable::ensure(const std::string& name, QueuePolicy policy, Previous last,
                              std::uint64_t endings) {
    const auto [place, is_new] = records_.try_emplace(name, policy);
    auto& record = place->second;
    if (!is_new) return record;
    record.swept_at = endings;
    record.previous = std::move(last);
    return record;
}

WaitQueue& NameTable::ensure_queue(const std::string& name) {
    return queues_.try_emplace(name, record(name).policy()).first->second;
}

void NameTable::drop_empty_queue(const Slot& slot) {
    if (slot.queue->second.is_empty()) queues_.erase(slot.queue);
}

// Only these waiters may get others in front of them: readers, which wait for one writer at a turn;
// those that an overtaken waiter passes when it moves up a class; and those that a waiter with a
// priority passes when a barrier leaves. All others wait for those in front as long as these are
// there.
void NameTable::note_turn(const std::string& name) {
    const auto* queue = queue_of(name);
    if (queue == nullptr) return;
    const bool is_in_order =
        !queue->has_readers() && !queue->has_priorities() && queue->overtakers().empty();
    if (!is_in_order) turned_.insert(name);
}

void NameTable::restore(const std::string& name, LockRecord record, WaitQueue queue) {
    if (!queue.is_empty()) queues_.emplace(name, std::move(queue));
    records_.emplace(name, std::move(record));
}

}  // namespace mortise::core
