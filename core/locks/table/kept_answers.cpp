#include "core/locks/table/kept_answers.hpp"

#include <algorithm>
#include <utility>

#include "core/base/check.hpp"

namespace mortise::core {

const Answer* KeptAnswers::find(Seq seq) const {
    const auto* place = places_.find(seq);
    return place == nullptr ? nullptr : &kept_[*place - forgotten_].answer;
}

void KeptAnswers::keep(LogIndex at, Seq seq, Answer answer) {
    MORTISE_CHECK(at >= newest());
    places_.insert(seq, forgotten_ + kept_.size());
    kept_.push_back({at, seq, std::move(answer)});
    most_ = std::max(most_, kept_.size());
}

void KeptAnswers::acknowledge(LogIndex received) {
    while (!kept_.empty() && kept_.front().at <= received) {
        places_.take(kept_.front().seq);
        kept_.pop_front();
        ++forgotten_;
    }
    // A table does not shrink by itself, and there may be many sessions that were busy once.
    constexpr std::size_t small = 64;
    if (!kept_.empty() || most_ <= small) return;
    places_ = {};
    most_ = 0;
}

}  // namespace mortise::core
