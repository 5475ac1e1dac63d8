#include "core/locks/table/trace_remover.hpp"

#include <optional>

namespace mortise::core {

TraceRemover::Cleared TraceRemover::remove(std::string_view name, std::size_t max,
                                           TableState from) const {
    Cleared cleared;
    auto slot = from.names.slot_of(name);
    const bool is_known = from.names.is_known(slot) && is_needed();
    if (!is_known || slot.record->swept_at == endings_) return cleared;
    const auto left = [&](OperationId operation) {
        auto how = (*ended_)(operation);
        if (!how) return how;
        cleared.is_done = cleared.is_done && cleared.gone.size() < max;
        if (!cleared.is_done) return std::optional<Predecessor>{};
        cleared.gone.push_back(operation);
        return how;
    };
    // Waiters are removed first, so that between two parts of the work every waiter still waits for
    // a holder.
    if (from.names.has_queue(slot)) {
        auto& queue = slot.queue->second;
        if (queue.conversion() && left(queue.conversion()->operation)) queue.remove_conversion();
        queue.remove_if([&](const Waiter& one) {
            const bool leaves = left(one.operation).has_value();
            if (leaves && one.part != Part::alone) from.groups.leave(name, one.ticket);
            return leaves;
        });
        from.names.drop_empty_queue(slot);
    }
    auto& record = *slot.record;
    from.holds.release_if(name, record, left);
    if (!cleared.gone.empty()) {
        from.names.changed(slot.record);
        from.names.note_reordered(name);
    }
    if (!cleared.is_done) return cleared;
    record.swept_at = endings_;
    cleared.last = record.previous();
    return cleared;
}

}  // namespace mortise::core
