#include "core/node/state_lag.hpp"

namespace mortise::core {

std::size_t weight(const StateDelta& delta) {
    auto bytes = sizeof(StateDelta) + delta.log_bytes;
    for (const auto& row : delta.rows)
        bytes += sizeof(Row) + row.key.size() + (row.value ? row.value->size() : 0);
    return bytes;
}

void StateLag::handed_over(const StateDelta& delta) {
    waiting_.push_back({delta.applied.index, weight(delta)});
    waiting_bytes_ += waiting_.back().bytes;
    log_bytes_ = 0;
}

void StateLag::durable(LogIndex index) {
    for (; !waiting_.empty() && waiting_.front().applied <= index; waiting_.pop_front())
        waiting_bytes_ -= waiting_.front().bytes;
}

}  // namespace mortise::core
