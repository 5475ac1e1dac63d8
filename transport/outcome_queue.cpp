#include "transport/outcome_queue.hpp"

#include <algorithm>
#include <iterator>
#include <utility>

#include "transport/wire_size.hpp"

namespace mortise::transport {

namespace {

std::size_t bytes_of(const core::Outcome& outcome) {
    return wire_words(outcome) * word_bytes;
}

}  // namespace

bool OutcomeQueue::push(core::LogIndex applied, std::vector<OutcomeBatch> batches) {
    for (auto& batch : batches) {
        if (batch.outcomes.empty()) continue;
        for (const auto& outcome : batch.outcomes)
            bytes_ += bytes_of(outcome);
        waiting_.push_back(std::move(batch));
    }
    applied_ = std::max(applied_, applied);
    return bytes_ <= limits_.bytes_max;
}

std::optional<OutcomeQueue::Call> OutcomeQueue::take() {
    if (waiting_.empty() && told_ == applied_) return std::nullopt;
    Call call;
    auto room = limits_.call_bytes_max;
    while (!waiting_.empty() && room > 0 && call.batches.size() < batch_messages_max)
        take_from_front(call.batches, room);
    told_ = waiting_.empty() ? applied_ : std::max(told_, waiting_.front().index.previous());
    call.applied = told_;
    return call;
}

// The whole batch, or as much of it as there is room for; then there is no more room.
void OutcomeQueue::take_from_front(std::vector<OutcomeBatch>& batches, std::size_t& room) {
    auto& front = waiting_.front();
    auto cut = front.outcomes.begin();
    while (cut != front.outcomes.end()) {
        const auto bytes = bytes_of(*cut);
        const bool first = batches.empty() && cut == front.outcomes.begin();
        if (bytes > room && !first) break;
        room -= std::min(room, bytes);
        bytes_ -= bytes;
        ++cut;
    }
    if (cut == front.outcomes.end()) {
        batches.push_back(std::move(front));
        waiting_.pop_front();
        return;
    }
    room = 0;
    if (cut == front.outcomes.begin()) return;
    batches.push_back(
        {front.index,
         {std::make_move_iterator(front.outcomes.begin()), std::make_move_iterator(cut)}});
    front.outcomes.erase(front.outcomes.begin(), cut);
}

}  // namespace mortise::transport
