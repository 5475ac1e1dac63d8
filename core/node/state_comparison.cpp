#include "core/node/state_comparison.hpp"

#include <algorithm>
#include <string>

#include "core/base/check.hpp"

namespace mortise::core {

namespace {

// More than are ever in progress: one is proposed when the next index of the kind is reached.
constexpr std::size_t sums_kept = 8;

}  // namespace

void StateComparison::keep(const StateSum& own) {
    sums_.push_back(own);
    if (sums_.size() > sums_kept) sums_.pop_front();
}

void StateComparison::compare(const Entry& entry, LogIndex applied) {
    const auto said = decode_state_sum(entry.payload);
    // The checksum of a later version, or of a later index, cannot be compared.
    if (!said || said->at > applied) return;
    proposed_ = std::max(proposed_, said->at);
    const auto own = std::ranges::find(sums_, said->at, &StateSum::at);
    if (own == sums_.end() || *own == *said) return;
    throw InvariantBroken{"the state differs from that of the leader of term " +
                          std::to_string(entry.id.term.raw()) + " at index " +
                          std::to_string(said->at.raw())};
}

const StateSum* StateComparison::to_propose() const {
    return sums_.empty() || sums_.back().at <= proposed_ ? nullptr : &sums_.back();
}

}  // namespace mortise::core
