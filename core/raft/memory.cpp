// What a loss of power may take from this node, and how it recovers (docs/decisions/0095).
#include <algorithm>

#include "core/raft/raft.hpp"

namespace mortise::core {

// The mark is durable, so the next start knows what may be missing.
bool Raft::may_lack_syncs() const {
    return configuration().durability == Durability::replicated && is_configuration_committed() &&
           writes_.unsynced() != Unsynced::nothing && unsynced_ != Unsynced::nothing;
}

bool Raft::is_to_be_synced(const Write& write) const {
    const bool only_appends =
        !write.reset && !write.hard_state && !write.truncate_from && !write.unsynced;
    return !only_appends || !may_lack_syncs() ||
           std::ranges::any_of(write.append, is_sealed, &Entry::kind);
}

// Each answer is enough. A later one has a larger index, which a node that catches up under load
// would follow for long.
void Raft::recover_at(LogIndex index) {
    if (is_forgetful()) recovers_at_ = std::min(recovers_at_.value_or(index), index);
}

// All voters agreed to the log that an era began with, so none of them has committed anything else.
// A learner may have.
bool Raft::may_be_left_behind() const {
    return configuration().durability == Durability::replicated &&
           !configuration().is_voter(self());
}

bool Raft::leaves_behind(LogId shown) {
    if (shown.index > commit_ || !may_be_left_behind()) return false;
    const auto ours = log_.term_at(shown.index);
    if (!ours || *ours == shown.term) return false;
    is_left_behind_ = true;
    return true;
}

// A write with a mark is synced, and so is everything before it: after the return to `synced`, what
// is committed then was synced by a majority (is_to_be_synced), and what this node has acknowledged
// is synced with the mark.
void Raft::update_mark() {
    auto mark = unsynced_;
    const bool is_complete = recovers_at_ && std::min(commit_, writes_.durable()) >= *recovers_at_;
    if (mark == Unsynced::forgotten && !is_complete) return;
    if (is_configuration_committed() && configuration().is_formed())
        mark = configuration().durability == Durability::replicated ? Unsynced::entries
                                                                    : Unsynced::nothing;
    else if (is_complete)
        mark = Unsynced::entries;
    if (mark == unsynced_) return;
    if (std::exchange(recovers_at_, std::nullopt)) note(Note::Kind::recovered);
    unsynced_ = mark;
    pending_.unsynced = mark;
}

}  // namespace mortise::core
