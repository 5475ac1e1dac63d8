#include "core/agent/pending_losses.hpp"

namespace mortise::core {

void PendingLosses::add(Seq hold, Loss loss) {
    by_time_.emplace(loss.until, hold);
    names_ += loss.names.size();
    losses_.emplace(hold, std::move(loss));
}

std::optional<PendingLosses::Loss> PendingLosses::take(Seq hold) {
    auto found = losses_.extract(hold);
    if (found.empty()) return std::nullopt;
    auto& loss = found.mapped();
    by_time_.erase({loss.until, hold});
    names_ -= loss.names.size();
    return std::move(loss);
}

std::vector<Seq> PendingLosses::all() const {
    std::vector<Seq> holds;
    holds.reserve(losses_.size());
    for (const auto& [hold, loss] : losses_)
        holds.push_back(hold);
    return holds;
}

}  // namespace mortise::core
