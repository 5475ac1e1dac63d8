#include "core/node/state_lag.hpp"

#include <vector>

namespace mortise::core {

namespace {

std::size_t weight(const std::vector<Row>& rows) {
    std::size_t bytes = 0;
    for (const auto& row : rows)
        bytes += sizeof(Row) + row.key.size() + (row.value ? row.value->size() : 0);
    return bytes;
}

}  // namespace

std::size_t weight(const StateDelta& delta) {
    return sizeof(StateDelta) + delta.log_bytes + weight(delta.rows);
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

void InstallLag::handed_over(const InstallStep& step) {
    waiting_.push_back(sizeof(InstallStep) + weight(step.rows));
    bytes_ += waiting_.back();
}

void InstallLag::taken() {
    if (waiting_.empty()) return;
    bytes_ -= waiting_.front();
    waiting_.pop_front();
}

}  // namespace mortise::core
