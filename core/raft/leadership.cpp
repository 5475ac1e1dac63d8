// The conditions for staying leader, and how a leader stops: check-quorum, a stalled disk,
// leadership transfer.
#include <algorithm>

#include "core/base/check.hpp"
#include "core/raft/quorum.hpp"
#include "core/raft/raft.hpp"

namespace mortise::core {

Instant Raft::quorum_contact(const Leader& leader, Instant now) const {
    return quorum_value(configuration(), [&](NodeId id) {
        if (id == self()) return now;
        const auto* progress = counted(id);
        return progress == nullptr ? leader.since : progress->heard;
    });
}

// This runs before every event of a leader, so that a leader that was paused or cut off, or whose
// disk is stalled, does nothing more (P7, P10, B-V16).
void Raft::check_leadership(Instant now) {
    auto& leader = std::get<Leader>(role_);
    if (now > last_event_ + options_.election_timeout) leader.contact_since = now;
    const auto stalled = writes_.waiting_since();
    const bool hangs = stalled && now > *stalled + options_.election_timeout;
    if (hangs) {
        step_down(Note::Kind::disk_stalled, now);
    } else if (now > quorum_contact(leader, now) + options_.election_timeout) {
        step_down(Note::Kind::lost_quorum, now);
    }
}

// The term stays. The next candidate uses a higher one.
void Raft::step_down(Note::Kind why, Instant now) {
    note(why);
    become_follower(std::nullopt, now);
}

Instant Raft::contact_since() const {
    const auto* leader = std::get_if<Leader>(&role_);
    return leader == nullptr ? Instant::never() : leader->contact_since;
}

bool Raft::is_transferring() const {
    const auto* leader = std::get_if<Leader>(&role_);
    return leader != nullptr && leader->transfer.has_value();
}

bool Raft::transfer_to(NodeId target, Instant now) {
    begin_event(now);
    auto* leader = std::get_if<Leader>(&role_);
    if (leader == nullptr || target == self() || !configuration().is_voter(target)) return false;
    begin_transfer(target, now);
    return true;
}

// The other voters leave their leader only for the one that it has named, so they have to know
// before they are asked.
void Raft::begin_transfer(NodeId target, Instant now) {
    auto& leader = std::get<Leader>(role_);
    leader.transfer = Transfer{target, now + options_.election_timeout};
    note(Note::Kind::transfer_started, target);
    for (auto& [peer, progress] : leader.peers) {
        if (peer != target && configuration().is_voter(peer)) send_append(peer, progress, {});
    }
    progress_transfer(now);
}

// Nothing is proposed during a transfer, so the target catches up. The transfer ends with a new
// term, or after a time limit.
void Raft::progress_transfer(Instant now) {
    auto* leader = std::get_if<Leader>(&role_);
    if (leader == nullptr || !leader->transfer) return;
    auto& transfer = *leader->transfer;
    if (now >= transfer.deadline) {
        note(Note::Kind::transfer_failed, transfer.target);
        leader->transfer.reset();
        // A removed leader steps down after this.
        if (!is_member()) become_follower(std::nullopt, now);
        return;
    }
    const auto* progress = progress_of(transfer.target);
    if (transfer.sent || progress == nullptr || progress->match != log_.last().index) return;
    send(transfer.target, TimeoutNow{term(), log_.last()});
    transfer.sent = true;
    // A removed leader has nothing to wait for.
    if (!is_member()) become_follower(std::nullopt, now);
}

}  // namespace mortise::core
