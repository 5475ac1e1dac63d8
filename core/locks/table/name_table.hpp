// The names that have holders, waiters or a value: a record for each, and a queue for those that
// have waiters. It remembers which names have changed since they were last saved, and on which
// names a waiter may have other requests in front of it than before.
#pragma once

#include <cstdint>
#include <functional>
#include <map>
#include <set>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "core/base/paged_set.hpp"
#include "core/locks/table/named_record.hpp"
#include "core/locks/table/wait_queue.hpp"

namespace mortise::core {

class NameTable {
public:
    using Records = PagedSet<RecordRef, NameOf>;
    using Queues = std::map<std::string, WaitQueue, std::less<>>;
    // A name, if it is known; with its queue, if it has one.
    struct Slot {
        RecordRef record;
        Queues::iterator queue;
    };
    [[nodiscard]] Slot slot_of(std::string_view name);
    [[nodiscard]] bool is_known(const Slot& slot) const { return static_cast<bool>(slot.record); }
    [[nodiscard]] bool has_queue(const Slot& slot) const { return slot.queue != queues_.end(); }

    // Null if there is none.
    [[nodiscard]] const LockRecord* find(std::string_view name) const;
    [[nodiscard]] const WaitQueue* queue_of(std::string_view name) const;
    // The record, or the queue, must exist.
    [[nodiscard]] const RecordRef& record(std::string_view name) const;
    [[nodiscard]] WaitQueue& queue(std::string_view name);
    // The first name after `after` with waiters; null if there is none.
    [[nodiscard]] const std::string* next_waited(std::string_view after) const;
    [[nodiscard]] const Records& records() const { return records_; }
    [[nodiscard]] const Queues& queues() const { return queues_; }

    // `endings`: how many sessions have ended so far. A new record has no trace of them.
    RecordRef ensure(std::string_view name, QueuePolicy policy, Previous last,
                     std::uint64_t endings);
    // The name must be known.
    WaitQueue& ensure_queue(std::string_view name);
    // Removes the queue if it is empty, and the record if it has no holder, does not stay and is
    // not needed (S37).
    template <class IsNeeded>
    void tidy(std::string_view name, const IsNeeded& is_needed);
    // Removes the queue, which must exist, if it has no waiters.
    void drop_empty_queue(const Slot& slot);

    // The records that were written to, or removed, since the last reset, by name.
    void changed(const RecordRef& record);
    [[nodiscard]] const Records& changes() const { return changes_; }
    void forget_changes() { changes_.clear(); }
    // Forgets the first of them, which must exist.
    RecordRef take_change();
    // The names whose waiters may have changed since the last reset of this list. A name that was
    // removed and came again is listed twice.
    [[nodiscard]] std::span<const RecordRef> changed_queues() const { return changed_queues_; }
    void forget_changed_queues();
    // The checksum of the row that a loaded name has.
    void set_row_sum(std::string_view name, std::uint64_t sum) { record(name)->set_row_sum(sum); }

    // Names on which, since the last reset, a waiter may have got other requests in front of it
    // although none was granted: the turn changed, or a waiter in front left.
    using Names = std::set<std::string, std::less<>>;
    [[nodiscard]] const Names& reordered() const { return reordered_; }
    void forget_reordered() { reordered_.clear(); }
    // Called when a waiter in front left, or does not count any more although it is still queued.
    void note_reordered(std::string_view name);

    // For loading. The name must be unknown.
    void restore(std::string_view name, LockRecord record, WaitQueue queue);

private:
    void forget(const RecordRef& record);
    // Its queue, if it has one or had one, may have changed.
    void list_queue(const RecordRef& record);

    Records records_;
    Queues queues_;
    Records changes_;
    std::vector<RecordRef> changed_queues_;
    Names reordered_;
};

template <class IsNeeded>
void NameTable::tidy(std::string_view name, const IsNeeded& is_needed) {
    auto slot = slot_of(name);
    if (!is_known(slot)) return;
    const bool waited = has_queue(slot) && !slot.queue->second.is_empty();
    if (waited) slot.queue->second.forget_overtakings();
    if (has_queue(slot) && !waited) queues_.erase(slot.queue);
    auto& record = *slot.record;
    if (!record.has_writer() && !waited) record.turn = Turn::writers;
    const bool rests = record.stays() || is_needed();
    const bool is_empty = record.holders().empty() && !waited && !rests;
    if (is_empty) forget(slot.record);
}

}  // namespace mortise::core
