// The invariants of a lock table, which hold at every index.
#include <algorithm>

#include "core/base/check.hpp"
#include "core/locks/table/lock_table.hpp"

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

// (6)
void LockTable::check_closure(std::string_view name, const LockRecord& record,
                              const Closure& closure) const {
    using enum Closure::Kind;
    MORTISE_CHECK(closures_.at(closure.id) == name && closure.id <= newest_closure_);
    MORTISE_CHECK(!is_over(record.find(closure.hold), closure));
    const auto& hold = *record.find(closure.hold);
    if (closure.kind == broken) return MORTISE_CHECK(hold.broken);
    MORTISE_CHECK(hold.closures.is_set() && closure.id == closure_of(hold.closures, closure.kind));
    if (closure.kind == lock_delay) MORTISE_CHECK(hold.left == Predecessor::expired);
}

void LockTable::check_extras(std::string_view name, const LockRecord& record) const {
    const auto* extras = extras_of(name);
    std::set<OperationId> kept;
    if (extras != nullptr) {
        MORTISE_CHECK(!extras->is_empty());
        for (const auto& closure : extras->closures) {
            check_closure(name, record, closure);
            if (closure.kind != Closure::Kind::max_hold) kept.insert(closure.hold);
        }
    }
    for (const auto& hold : record.holders()) {
        MORTISE_CHECK(hold.is_held() || kept.contains(hold.operation));
        MORTISE_CHECK(!hold.broken || !hold.left);
        MORTISE_CHECK(hold.terms.is_set() == hold.closures.is_set());
        MORTISE_CHECK(hold.closures.raw() + closures_of_a_hold <= newest_closure_.raw() + 1 ||
                      !hold.closures.is_set());
    }
}

void LockTable::check_name(std::string_view name, bool is_unfinished) const {
    const auto& record = *find(name);
    const auto* queue = queue_of(name);
    const bool barrier_leads =
        queue != nullptr && !queue->is_empty() && queue->first() == nullptr && queue->has_barrier();
    const auto* extras = extras_of(name);
    const bool rests = extras != nullptr && extras->value && queue == nullptr;
    MORTISE_CHECK(!record.holders().empty() || barrier_leads || is_unfinished ||
                  rests);  // (2), (4)
    check_extras(name, record);
    MORTISE_CHECK(record.is_compatible());                  // (1)
    MORTISE_CHECK(record.newest_token() <= newest_token_);  // (3)
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

// No waiter for several names could have them all (2).
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
    std::size_t closures = 0;
    for (const auto& [name, extras] : extras_) {
        MORTISE_CHECK(records_.contains(name));
        closures += extras.closures.size();
    }
    MORTISE_CHECK(closures == closures_.size());
    check_groups(unfinished);
}

}  // namespace mortise::core
