// The names that have holders, waiters or a value: a record for each, which has the queue of its
// waiters. It remembers which names have changed since they were last saved, and on which names a
// waiter may have other requests in front of it than before.
#pragma once

#include <cstdint>
#include <deque>
#include <functional>
#include <set>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "core/locks/table/name_index.hpp"
#include "core/locks/table/named_record.hpp"
#include "core/locks/table/names_in_order.hpp"
#include "core/locks/table/wait_queue.hpp"

namespace mortise::core {

class NameTable {
public:
    using Records = NamesInOrder::Sorted;

    // Null if it is unknown. The functions below take the record, so that a name is searched once.
    [[nodiscard]] RecordRef look_up(std::string_view name) const;
    [[nodiscard]] const LockRecord* find(std::string_view name) const;
    [[nodiscard]] const WaitQueue* queue_of(std::string_view name) const;
    // It must be known.
    [[nodiscard]] RecordRef record(std::string_view name) const;
    // For a change; there must be a queue.
    [[nodiscard]] WaitQueue& queue(const RecordRef& record);
    // The first name after `after` with waiters; empty if there is none.
    [[nodiscard]] std::string_view next_waited(std::string_view after) const;
    // The number of known names.
    [[nodiscard]] std::size_t size() const { return size_; }
    // By name.
    [[nodiscard]] const Records& records() const { return in_order_.all(); }
    // Those that have a queue, by name.
    [[nodiscard]] const Records& waited() const { return waited_; }

    // The name must be unknown. `endings`: how many sessions have ended so far. A new record has no
    // trace of them.
    RecordRef create(std::string_view name, QueuePolicy policy, std::uint64_t endings);
    WaitQueue& ensure_queue(const RecordRef& record);
    // Removes the queue if it is empty, and the record if it has no holder, does not stay and is
    // not needed (S37).
    template <class IsNeeded>
    void tidy(const RecordRef& record, const IsNeeded& is_needed);
    // Removes the queue, which must exist, if it has no waiters.
    void drop_empty_queue(const RecordRef& record);

    // The records that were written to, or removed, since they were last taken.
    void changed(const RecordRef& record);
    [[nodiscard]] const std::deque<RecordRef>& changes() const { return changes_; }
    // Takes so many of them, ascending by name: the first that were changed.
    [[nodiscard]] std::vector<RecordRef> take_changes(std::size_t max);
    // The names whose waiters may have changed since the last reset of this list.
    [[nodiscard]] std::span<const RecordRef> changed_queues() const { return changed_queues_; }
    void forget_changed_queues();

    // Names on which, since the last reset, a waiter may have got other requests in front of it
    // although none was granted: the turn changed, or a waiter in front left.
    using Names = std::set<std::string, std::less<>>;
    [[nodiscard]] const Names& reordered() const { return reordered_; }
    void forget_reordered() { reordered_.clear(); }
    // Called when a waiter in front left, or does not count any more although it is still queued.
    void note_reordered(const NamedRecord& record);

    // For loading. The name must be unknown.
    void restore(std::string_view name, LockRecord record, WaitQueue queue);

private:
    void make_known(const RecordRef& record);
    void forget(const RecordRef& record);
    // Its queue, if it has one or had one, may have changed.
    void list_queue(const RecordRef& record);

    NameIndex index_;  // also unknown ones whose change was not taken yet
    NamesInOrder in_order_;
    Records waited_;
    std::size_t size_ = 0;
    std::deque<RecordRef> changes_;
    std::vector<RecordRef> changed_queues_;
    Names reordered_;
};

template <class IsNeeded>
void NameTable::tidy(const RecordRef& record, const IsNeeded& is_needed) {
    if (!record->is_known()) return;
    auto* queue = record->queue();
    if (queue != nullptr) queue->forget_overtakings();
    if (queue != nullptr) drop_empty_queue(record);
    const bool waited = record->queue() != nullptr;
    if (!record->has_writer() && !waited) record->turn = Turn::writers;
    const bool rests = record->stays() || is_needed();
    const bool is_empty = record->holders().empty() && !waited && !rests;
    if (is_empty) forget(record);
}

}  // namespace mortise::core
