#include "core/locks/table/name_table.hpp"

#include <algorithm>
#include <iterator>
#include <utility>

#include "core/base/check.hpp"
#include "core/base/checksum.hpp"

namespace mortise::core {

RecordRef NameTable::look_up(std::string_view name) const {
    auto* record = index_.find(name, hash_of(name));
    return record == nullptr || !record->is_known() ? RecordRef{} : RecordRef{*record};
}

const LockRecord* NameTable::find(std::string_view name) const {
    const auto* record = index_.find(name, hash_of(name));
    return record == nullptr || !record->is_known() ? nullptr : record;
}

const WaitQueue* NameTable::queue_of(std::string_view name) const {
    const auto* record = find(name);
    return record == nullptr ? nullptr : record->queue();
}

RecordRef NameTable::record(std::string_view name) const {
    auto found = look_up(name);
    MORTISE_CHECK(found);
    return found;
}

WaitQueue& NameTable::queue(const RecordRef& record) {
    MORTISE_CHECK(record->queue() != nullptr);
    list_queue(record);
    return *record->queue();
}

std::string_view NameTable::next_waited(std::string_view after) const {
    const auto next = waited_.upper_bound(after);
    return next == waited_.end() ? std::string_view{} : (*next)->name();
}

// A name that was removed since its change was taken may still have a row. So its record begins
// anew and keeps the checksum of that.
RecordRef NameTable::create(std::string_view name, QueuePolicy policy, std::uint64_t endings) {
    const auto hash = hash_of(name);
    auto* former = index_.find(name, hash);
    MORTISE_CHECK(former == nullptr || !former->is_known());
    const auto record =
        former == nullptr ? RecordRef::make(name, LockRecord{policy}) : RecordRef{*former};
    if (former == nullptr) {
        index_.add(record, hash);
    } else {
        static_cast<LockRecord&>(*record) = LockRecord{policy};
    }
    record->set_swept_at(endings);
    make_known(record);
    return record;
}

void NameTable::make_known(const RecordRef& record) {
    record->is_known_ = 1;
    in_order_.add(record);
    ++size_;
}

WaitQueue& NameTable::ensure_queue(const RecordRef& record) {
    record->was_waited_ = 1;
    list_queue(record);
    if (record->queue() == nullptr) {
        record->set_queue(WaitQueue{record->policy()});
        waited_.insert(record);
    }
    return *record->queue();
}

void NameTable::drop_empty_queue(const RecordRef& record) {
    list_queue(record);
    if (!record->queue()->is_empty()) return;
    record->drop_queue();
    (void)waited_.take(record->name());
}

void NameTable::changed(const RecordRef& record) {
    list_queue(record);
    if (record->is_changed_ != 0) return;
    record->is_changed_ = 1;
    changes_.push_back(record);
}

void NameTable::list_queue(const RecordRef& record) {
    if (record->was_waited_ == 0 || record->is_listed_ != 0) return;
    record->is_listed_ = 1;
    changed_queues_.push_back(record);
}

void NameTable::forget_changed_queues() {
    for (const auto& record : changed_queues_) {
        record->is_listed_ = 0;
        record->was_waited_ = record->queue() != nullptr ? 1 : 0;
    }
    changed_queues_.clear();
}

// The oldest, since a name that changes all the time is the newest again and again.
std::vector<RecordRef> NameTable::take_changes(std::size_t max) {
    const auto count = std::min(max, changes_.size());
    const auto end = changes_.begin() + static_cast<std::ptrdiff_t>(count);
    std::vector<RecordRef> taken{std::move_iterator{changes_.begin()}, std::move_iterator{end}};
    changes_.erase(changes_.begin(), end);
    std::ranges::sort(taken, {}, NameOf{});
    for (const auto& record : taken) {
        record->is_changed_ = 0;
        if (!record->is_known()) index_.remove(*record);
    }
    return taken;
}

void NameTable::forget(const RecordRef& record) {
    changed(record);
    record->is_known_ = 0;
    in_order_.remove(*record);
    --size_;
}

// Only these waiters may get others in front of them: readers, which wait for one writer at a turn;
// those that an overtaken waiter passes when it moves up a class; and those that a waiter with a
// priority passes when a barrier leaves. All others wait for those in front as long as these are
// there.
void NameTable::note_reordered(const NamedRecord& record) {
    const auto* queue = record.queue();
    if (queue == nullptr) return;
    const bool is_in_order =
        !queue->has_readers() && !queue->has_priorities() && queue->overtakers().empty();
    if (!is_in_order) reordered_.emplace(record.name());
}

void NameTable::restore(std::string_view name, LockRecord record, WaitQueue queue) {
    const auto restored = RecordRef::make(name, std::move(record));
    index_.add(restored, hash_of(name));
    make_known(restored);
    if (queue.is_empty()) return;
    restored->set_queue(std::move(queue));
    restored->was_waited_ = 1;
    waited_.insert(restored);
}

}  // namespace mortise::core
