// What is true of a lock table at every index.
#include "core/base/check.hpp"
#include "core/locks/lock_table.hpp"

namespace mortise::core {

void LockTable::check_waiters(const LockRecord& record, const WaitQueue& queue) {
    const auto admits = [&](LockMode mode) { return record.admits(mode); };
    MORTISE_CHECK(queue.first_unhindered(admits) == nullptr);  // (2)
}

void LockTable::check_conversion(const LockRecord& record, const Conversion& conversion,
                                 bool is_unfinished) {
    const auto* hold = record.find({conversion.operation.session, conversion.hold});
    MORTISE_CHECK(hold != nullptr && hold->mode == LockMode::update);  // (5)
    MORTISE_CHECK(is_unfinished || record.holders().size() > 1);       // (5)
}

void LockTable::check_name(std::string_view name, bool is_unfinished) const {
    const auto& record = *find(name);
    const auto* queue = queue_of(name);
    const bool barrier_leads =
        queue != nullptr && !queue->is_empty() && queue->first() == nullptr && queue->has_barrier();
    MORTISE_CHECK(!record.holders().empty() || barrier_leads || is_unfinished);  // (2), (4)
    MORTISE_CHECK(record.is_compatible());                                       // (1)
    MORTISE_CHECK(record.newest_token() <= newest_token_);                       // (3)
    MORTISE_CHECK(record.previous.token <= newest_token_);
    for (const auto& holder : record.holders()) {
        MORTISE_CHECK(holder.token <= record.newest_token() && holder.token.is_set());
    }
    if (queue == nullptr) return;
    MORTISE_CHECK(!queue->is_empty());
    if (queue->conversion()) {
        check_conversion(record, *queue->conversion(), is_unfinished);
    } else if (!is_unfinished) {
        check_waiters(record, *queue);
    }
}

// Nobody waits for several names who could have them all (2).
void LockTable::check_groups(const Views& unfinished) const {
    for (const auto& [ticket, group] : groups_) {
        bool ready = group.part == Part::all_of;
        for (const auto& [name, mode] : group.names) {
            const auto* queue = queue_of(name);
            MORTISE_CHECK(queue != nullptr);
            if (unfinished.contains(name) || !find(name)->admits(mode) || queue->conversion() ||
                queue->head()->ticket != ticket) {
                ready = false;
            }
        }
        MORTISE_CHECK(!ready);
    }
}

void LockTable::check_invariants(const Views& unfinished) const {
    for (const auto& [name, record] : records_)
        check_name(name, unfinished.contains(name));
    for (const auto& [name, queue] : queues_)
        MORTISE_CHECK(records_.contains(name));
    check_groups(unfinished);
}

}  // namespace mortise::core
