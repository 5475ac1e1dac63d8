#include "core/locks/table/kept_answers.hpp"

#include <algorithm>
#include <utility>

#include "core/base/check.hpp"

namespace mortise::core {

std::size_t bytes_of(const Answer& answer) {
    constexpr std::size_t part = 64;  // of an answer, of a name, of a step
    std::size_t bytes = part + answer.previous.label.size();
    for (const auto& one : answer.names) {
        const auto slots = one.slots.size() * sizeof(Slots::value_type);
        bytes += part + one.name.size() + one.previous.label.size() + slots;
    }
    for (const auto& one : answer.cycle)
        bytes += part + one.label.size() + one.waits_for.size();
    return bytes;
}

const Answer* KeptAnswers::find(Seq seq) const {
    for (placed_ = std::max(placed_, forgotten_); placed_ < forgotten_ + kept_.size(); ++placed_)
        places_.insert(kept_[placed_ - forgotten_].seq, placed_);
    const auto* place = places_.find(seq);
    return place == nullptr ? nullptr : &kept_[*place - forgotten_].answer;
}

void KeptAnswers::keep(LogIndex at, Seq seq, Answer answer) {
    MORTISE_CHECK(at >= newest());
    bytes_ += bytes_of(answer);
    kept_.emplace_back(at, seq, std::move(answer));
}

void KeptAnswers::acknowledge(LogIndex received) {
    for (; !kept_.empty() && kept_.front().at <= received; ++forgotten_) {
        if (forgotten_ < placed_) places_.take(kept_.front().seq);
        bytes_ -= bytes_of(kept_.front().answer);
        kept_.pop_front();
    }
    // A table does not shrink by itself, and there may be many sessions that were busy once.
    if (kept_.empty()) places_ = {};
}

}  // namespace mortise::core
