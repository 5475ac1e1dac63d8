// The comparison of replicas: now and then the leader logs a checksum of its state as of some
// index, and every node that has been there compares its own. A node whose checksum differs has an
// error somewhere before that index, and stops (P5).
#include <algorithm>
#include <string>

#include "core/base/check.hpp"
#include "core/node/node_core.hpp"

namespace mortise::core {

namespace {

// More than are ever in progress: one is proposed when the next index of the kind is reached.
constexpr std::size_t sums_kept = 8;

}  // namespace

void NodeCore::remember_state_sum() {
    if (applied_.raw() % options_.compare_every != 0) return;
    hand_over_rows();
    sums_.push_back({applied_, machine_.rows_sum()});
    if (sums_.size() > sums_kept) sums_.pop_front();
}

// Each once in a term, after its first commit.
void NodeCore::propose_state_sum(Now now) {
    if (sums_.empty() || sums_.back().at <= sum_proposed_ || !can_propose()) return;
    if (!raft_.has_handed_out_own_term()) return;
    if (raft_.propose(EntryKind::state_sum, encode_state_sum(sums_.back()), now.steady)) {
        sum_proposed_ = sums_.back().at;
    }
}

void NodeCore::compare_state_sum(const Entry& entry) {
    const auto said = decode_state_sum(entry.payload);
    // The checksum of a later version, or of a later index, cannot be compared.
    if (!said || said->at > applied_) return;
    sum_proposed_ = std::max(sum_proposed_, said->at);
    const auto own = std::ranges::find(sums_, said->at, &StateSum::at);
    if (own == sums_.end() || *own == *said) return;
    throw InvariantBroken{"the state differs from that of the leader of term " +
                          std::to_string(entry.id.term.raw()) + " at index " +
                          std::to_string(said->at.raw())};
}

}  // namespace mortise::core
