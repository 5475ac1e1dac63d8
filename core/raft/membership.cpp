// Changes of the membership (thesis 4.2, 4.3). The leader begins a change, which is in force on
// append. The leader at the time when the joint configuration is committed finishes it.
#include <algorithm>
#include <utility>

#include "core/base/check.hpp"
#include "core/codec/configuration_codec.hpp"
#include "core/raft/quorum.hpp"
#include "core/raft/raft.hpp"

namespace mortise::core {

namespace {

// A learner that is this many entries behind would delay the next commits, but not stop them.
constexpr std::uint64_t caught_up_entries = 16;

}  // namespace

// --- beginning a change -------------------------------------------------------------------------

std::optional<MembershipRefusal> Raft::may_not_change() const {
    if (!is_leader()) return MembershipRefusal::not_leader;
    // Before its first commit a new leader may not know of a committed change (B-M1).
    if (!has_committed_own_term() || is_transferring() || !is_member()) {
        return MembershipRefusal::leader_not_ready;
    }
    if (!is_configuration_committed() || configuration().is_joint()) {
        return MembershipRefusal::change_in_progress;
    }
    return std::nullopt;
}

// A joint configuration that cannot be committed cannot be left either.
bool Raft::is_carried(const Configuration& next, Instant now) const {
    return has_quorum(next, [&](NodeId id) {
        if (id == self()) return true;
        const auto* progress = counted(id);
        return progress != nullptr && now <= progress->heard + options_.election_timeout;
    });
}

// Every configuration after the first one records the voters of the bootstrap.
LogIndex Raft::change_to(Configuration next) {
    next.founders = configuration().founding().voters;
    append_to_log(make_entry({term(), log_.last().index.next()}, EntryKind::configuration,
                             encode_configuration(next)));
    return log_.last().index;
}

ChangeResult Raft::add_learner(const Member& member, Instant now) {
    begin_event(now);
    if (const auto refusal = may_not_change()) return *refusal;
    const auto& present = configuration();
    if (present.is_current(member)) return MembershipRefusal::already_member;
    if (member.id == self()) return MembershipRefusal::already_member;
    if (present.voters.size() + present.learners.size() >= members_max) {
        return MembershipRefusal::too_many_members;
    }
    return change_to(with_learner(present, member));
}

ChangeResult Raft::promote(NodeId id, Instant now) {
    begin_event(now);
    if (const auto refusal = may_not_change()) return *refusal;
    if (configuration().find(id) == nullptr) return MembershipRefusal::unknown_member;
    if (!configuration().is_learner(id)) return MembershipRefusal::already_voter;
    if (!is_caught_up(id, now)) return MembershipRefusal::not_caught_up;
    const auto next = with_promoted(configuration(), id);
    if (next.voters.size() > voters_max) return MembershipRefusal::too_many_members;
    if (!is_carried(next, now)) return MembershipRefusal::would_lose_quorum;
    return change_to(next);
}

ChangeResult Raft::remove(NodeId id, Instant now) {
    begin_event(now);
    if (const auto refusal = may_not_change()) return *refusal;
    const auto& voters = configuration().voters;
    if (configuration().find(id) == nullptr) return MembershipRefusal::unknown_member;
    if (voters.size() == 1 && voters.front().id == id) return MembershipRefusal::last_voter;
    const auto next = without_member(configuration(), id);
    if (!is_carried(next, now)) return MembershipRefusal::would_lose_quorum;
    return change_to(next);
}

// The same voters decide before and after, so one step is enough.
ChangeResult Raft::move(NodeId id, const std::string& address, Instant now) {
    begin_event(now);
    if (const auto refusal = may_not_change()) return *refusal;
    if (configuration().find(id) == nullptr) return MembershipRefusal::unknown_member;
    return change_to(with_address(configuration(), id, address));
}

// The voters stay the same. Every member has to be ready for it, which its hello says.
ChangeResult Raft::set_durability(Durability durability, Instant now) {
    begin_event(now);
    if (const auto refusal = may_not_change()) return *refusal;
    auto next = configuration();
    next.durability = durability;
    return change_to(next);
}

// A log of sufficient length is not enough. It must also contain the configuration that has the
// learner, because a node whose own log does not show that it is a member takes part in no election
// (S47), and as a voter it could prevent a majority.
bool Raft::is_caught_up(NodeId peer, Instant now) const {
    const auto* progress = counted(peer);
    if (progress == nullptr || progress->state != Progress::State::replicate) return false;
    if (now > progress->heard + options_.election_timeout) return false;
    const bool knows_it = progress->match >= configuration_id().index;
    if (!knows_it) return false;
    return progress->match.raw() + caught_up_entries >= log_.last().index.raw();
}

// --- finishing a change -------------------------------------------------------------------------

// The leader at the time when the joint configuration is committed ends it, even if another leader
// began it (B-M5).
void Raft::finish_change() {
    if (!configuration().is_joint() || !is_configuration_committed() || is_transferring()) return;
    change_to(without_outgoing(configuration()));
}

// A removed leader leads until its removal is committed, without counting itself (thesis 4.2.2).
// Then it transfers leadership to the voter that has the most of its log. Nothing is proposed
// meanwhile, as in any transfer.
void Raft::resign_if_removed() {
    auto& leader = std::get<Leader>(role_);
    if (is_member() || !is_configuration_committed() || leader.transfer) return;
    const std::pair<const NodeId, Progress>* nearest = nullptr;
    for (const auto& peer : leader.peers) {
        if (!configuration().is_voter(peer.first) || peer.second.counts_from) continue;
        if (nearest == nullptr || peer.second.match > nearest->second.match) nearest = &peer;
    }
    // The configuration was made by another leader, and has no voter that this node sends to.
    if (nearest == nullptr) return;
    begin_transfer(nearest->first, last_event_);
}

// --- receivers of the log -----------------------------------------------------------------------

// A removed member still receives the entry that removes it, and learns that it is committed. A
// member that comes back with another directory begins with nothing.
void Raft::sync_progress_with_configuration(Leader& leader) {
    const auto members = configuration().all();
    for (auto& [peer, progress] : leader.peers) {
        if (std::ranges::binary_search(members, peer)) continue;
        if (!progress.leaves_at) progress.leaves_at = log_.last().index.next();
    }
    for (const auto id : members) {
        const auto incarnation = configuration().find(id)->incarnation;
        if (id == self()) continue;
        auto& progress = leader.peers[id];
        progress.leaves_at.reset();
        const bool same = progress.incarnation == incarnation && progress.next.is_set();
        if (same) continue;
        progress = {};
        progress.incarnation = incarnation;
        progress.next = log_.last().index.next();
        progress.named = log_.last().index;
        progress.heard = std::max(leader.since, last_event_);
    }
}

void Raft::on_peer_restarted(NodeId peer) {
    auto* leader = std::get_if<Leader>(&role_);
    if (leader == nullptr) return;
    const auto found = leader->peers.find(peer);
    if (found == leader->peers.end()) return;
    Progress anew;
    anew.incarnation = found->second.incarnation;
    anew.leaves_at = found->second.leaves_at;
    anew.heard = found->second.heard;
    anew.next = log_.last().index.next();
    anew.named = log_.last().index;
    if (found->second.counts_from) anew.counts_from = log_.last().index.next();
    found->second = std::move(anew);
}

// What the follower has forgotten does not matter any more once it has an entry of this term that
// was appended after its start, and a majority has it without this follower. Whoever got its vote
// in a later term campaigned before that start, with a log that lacks the entry. So no voter that
// has the entry votes for it, and a voter that did so earlier has not accepted the entry
// (docs/decisions/0077).
bool Raft::let_catch_up(NodeId from, RaftMessage message, Instant now) {
    auto* leader = std::get_if<Leader>(&role_);
    const bool reports = std::holds_alternative<AppendReply>(message) ||
                         std::holds_alternative<SnapshotReply>(message);
    if (leader == nullptr || !reports || term_of(message) < term()) return false;
    auto found = leader->peers.find(from);
    if (found == leader->peers.end()) return false;
    auto& counts_from = found->second.counts_from;
    if (!counts_from) counts_from = log_.last().index.next();
    take_message(from, std::move(message), now);
    // A higher term, or the end of a transfer, ends the leadership; and some followers leave with
    // their last answer.
    leader = std::get_if<Leader>(&role_);
    if (leader == nullptr) return false;
    found = leader->peers.find(from);
    if (found == leader->peers.end()) return false;
    auto& progress = found->second;
    if (std::min(progress.match, commit_) < *progress.counts_from) return false;
    progress.counts_from.reset();
    note(Note::Kind::peer_counts_again, from);
    return true;
}

void Raft::let_leavers_go(Leader& leader) {
    std::erase_if(leader.peers, [&](const auto& peer) {
        const auto& progress = peer.second;
        if (!progress.leaves_at || *progress.leaves_at > commit_) return false;
        const bool told =
            progress.match >= *progress.leaves_at && progress.commit_sent >= *progress.leaves_at;
        const bool silent = last_event_ > progress.heard + options_.election_timeout;
        return told || silent || progress.state == Progress::State::cut_off;
    });
}

// --- the member itself --------------------------------------------------------------------------

// One member may be wrong, so two have to say it to a voter, or the only other one. A learner asks
// its leader alone, and does not matter in elections. Only a configuration that is newer than ours
// counts: the sender may itself be behind.
void Raft::on(NodeId from, const NotAMember& message, Instant now) {
    if (message.configuration.index <= configurations_.newest().index) return;
    if (is_leader() || membership_.is_dismissed() || stands_by_leader(now))
        return;  // the leader knows better
    const bool votes = configuration().is_voter(self()) && configuration().all().size() > 2;
    const std::size_t enough = votes ? 2 : 1;
    if (!membership_.dismissed_by(from, enough)) return;
    note(Note::Kind::removed);
    become_follower(std::nullopt, now);
}

void Raft::dismiss(NodeId stranger) {
    if (!is_configuration_committed() || !is_term_durable()) return;
    send(stranger, NotAMember{term(), configuration_id()});
}

// The newest configuration in this node's log does not contain it. Either it was removed, or it was
// added and does not have that entry yet. If a majority of the voters do not know it, it was
// removed: otherwise a majority would have the entry that added it.
void Raft::on_unknown_to(NodeId voter) {
    const auto& present = configuration();
    if (!present.is_formed() || is_member() || is_removed() || leader()) return;
    if (!present.is_voter(voter)) return;
    if (membership_.unknown_to(voter, present)) note(Note::Kind::removed);
}

void Raft::note_membership() {
    const auto news =
        membership_.look(configurations_.newest().index, is_member(), is_configuration_committed());
    if (news.is_changed) note(Note::Kind::configuration_changed);
    if (news.is_removed) note(Note::Kind::removed);
}

}  // namespace mortise::core
