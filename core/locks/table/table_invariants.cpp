#include "core/locks/table/table_invariants.hpp"

#include <cstdint>
#include <variant>

#include "core/base/check.hpp"

namespace mortise::core {

namespace {

void check_conversion(const LockRecord& record, const Conversion& conversion, bool is_unfinished) {
    const auto* hold = record.find({conversion.operation.session, conversion.hold});
    MORTISE_CHECK(hold != nullptr);                                                   // (5)
    MORTISE_CHECK(hold->mode == LockMode::update || hold->mode == LockMode::shared);  // (5)
    MORTISE_CHECK(is_unfinished || record.holders().size() > 1);                      // (5)
}

// Those that wait are as the state of the name allows.
void check_state(const LockRecord& record, const WaitQueue* queue) {
    WaitingParties waiting;
    if (queue != nullptr) {
        for (const auto* waiter : queue->in_order())
            ++waiting[waiter->operation.session];
    }
    const auto is_sound = [&](const auto& state) {
        return state.is_sound() && state.fits(waiting);
    };
    MORTISE_CHECK(std::visit(is_sound, *record.state()));  // (2), (8)
}

void check_queue(const LockRecord& record, const WaitQueue& queue, bool is_unfinished) {
    MORTISE_CHECK(!queue.is_empty());
    if (queue.conversion()) return check_conversion(record, *queue.conversion(), is_unfinished);
    const auto* first = queue.first();
    if (record.kind() != RecordKind::lock) {
        MORTISE_CHECK(!queue.has_barrier() && !queue.has_readers() && first != nullptr);  // (7)
        if (record.as<Semaphore>() == nullptr) return;
        return MORTISE_CHECK(is_unfinished || !record.admits(first->mode, first->permits));  // (2)
    }
    const auto admits = [&](LockMode mode) { return record.admits(mode); };
    MORTISE_CHECK(is_unfinished || queue.first_unhindered(admits) == nullptr);  // (2)
}

}  // namespace

void check_name(const LockTable& table, std::string_view name, bool is_unfinished) {
    const auto& record = *table.find(name);
    const auto* queue = record.queue();
    const bool barrier_leads =
        queue != nullptr && !queue->is_empty() && queue->first() == nullptr && queue->has_barrier();
    const bool rests = (table.values().find(name) != nullptr || record.stays()) && queue == nullptr;
    const bool is_lock = record.kind() == RecordKind::lock;
    const bool asks_for_more = !is_lock && queue != nullptr;
    MORTISE_CHECK(!record.holders().empty() || barrier_leads || asks_for_more || is_unfinished ||
                  rests);                                            // (2), (4)
    MORTISE_CHECK(is_lock || table.values().find(name) == nullptr);  // (7)
    if (!is_lock) check_state(record, queue);
    MORTISE_CHECK(record.may_have_holders() || record.holders().empty());  // (7)
    table.closures().check_name(name, record);                             // (6)
    MORTISE_CHECK(record.is_compatible());                                 // (1)
    MORTISE_CHECK(record.newest_token() <= table.newest_token());          // (3)
    MORTISE_CHECK(record.previous().token <= table.newest_token());
    for (const auto& holder : record.holders())
        MORTISE_CHECK(holder.token <= record.newest_token() && holder.token.is_set());
    if (queue != nullptr) check_queue(record, *queue, is_unfinished);
}

// No waiting request for several names could be granted all of them (2).
void check_groups(const LockTable& table, const NameViews& unfinished) {
    for (const auto& [ticket, group] : table.groups().all()) {
        bool ready = group.part == Part::all_of;
        for (const auto& [name, mode] : group.names) {
            const auto* queue = table.queue_of(name);
            MORTISE_CHECK(queue != nullptr);
            if (unfinished.contains(name) || !table.find(name)->admits(mode) ||
                queue->conversion() || queue->head()->ticket != ticket) {
                ready = false;
            }
        }
        MORTISE_CHECK(!ready);
    }
}

void check_invariants(const LockTable& table, const NameViews& unfinished) {
    for (const auto& record : table.records())
        check_name(table, record->name(), unfinished.contains(record->name()));
    MORTISE_CHECK(table.records().size() == table.size());
    for (const auto& record : table.names().waited())
        MORTISE_CHECK(record->is_known() && record->queue() != nullptr);
    for (const auto& [name, value] : table.values().all())
        MORTISE_CHECK(table.find(name) != nullptr);
    for (const auto& [name, closures] : table.closures().all())
        MORTISE_CHECK(table.find(name) != nullptr);
    table.closures().check_invariants();
    check_groups(table, unfinished);
}

}  // namespace mortise::core
