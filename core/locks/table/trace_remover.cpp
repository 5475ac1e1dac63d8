#include "core/locks/table/trace_remover.hpp"

#include <optional>

namespace mortise::core {

TraceRemover::Cleared TraceRemover::remove(const RecordRef& record, std::size_t max,
                                           TableState from) const {
    Cleared cleared;
    const bool may_have = is_needed() && record->is_known() && !record->is_swept_at(endings_);
    if (!may_have) return cleared;
    const auto name = record->name();
    const auto left = [&](OperationId operation) {
        const auto* how = (*ended_)(operation);
        if (how == nullptr) return how;
        cleared.is_done = cleared.is_done && cleared.gone.size() < max;
        if (!cleared.is_done) how = nullptr;
        if (how == nullptr) return how;
        cleared.gone.push_back(operation);
        return how;
    };
    // Waiters are removed first, so that between two parts of the work every waiter still waits for
    // a holder.
    auto* queue = record->queue();
    if (queue != nullptr) {
        if (queue->conversion() && left(queue->conversion()->operation) != nullptr)
            queue->remove_conversion();
        queue->remove_if([&](const Waiter& one) {
            const bool leaves = left(one.operation) != nullptr;
            if (leaves && one.part != Part::alone) from.groups.leave(name, one.ticket);
            return leaves;
        });
        from.names.drop_empty_queue(record);
    }
    from.holds.release_if(name, *record, left);
    if (!cleared.gone.empty()) {
        from.names.changed(record);
        from.names.note_reordered(*record);
    }
    if (!cleared.is_done) return cleared;
    record->set_swept_at(endings_);
    cleared.last = record->previous();
    return cleared;
}

}  // namespace mortise::core
