// Appending entries, the reply to that, and the commit index (thesis 3.5, 3.6, 10.2.1).
#include <algorithm>
#include <utility>

#include "core/base/check.hpp"
#include "core/codec/configuration_codec.hpp"
#include "core/raft/quorum.hpp"
#include "core/raft/raft.hpp"

namespace mortise::core {

// --- follower -----------------------------------------------------------------------------------

// Messages are never trusted: a peer may have any version, and a message may be old (B-D8, B-C10).
bool Raft::is_well_formed(const AppendRequest& request) {
    auto before = request.previous;
    for (const auto& entry : request.entries) {
        if (entry.id.index != before.index.next() || entry.id.term < before.term) return false;
        if (entry.id.term > request.term || !is_intact(entry)) return false;
        const bool configures = entry.kind == EntryKind::configuration;
        if (configures && !decode_configuration(entry.payload)) return false;
        before = entry.id;
    }
    return request.previous.term <= request.term;
}

void Raft::on(NodeId from, AppendRequest& request, Instant now) {
    if (request.term < term()) {
        // The sender was deposed, or our term is ahead of the others': either way it must learn our
        // term (B-V7).
        AppendReply refusal;
        refusal.term = term();
        refusal.rejected = true;
        if (is_term_durable()) send(from, refusal);
        return;
    }
    auto& follower = follow(from, now);
    follower.read_round = std::max(follower.read_round, request.read_round);
    follower.transfer_target = request.transfer_target;

    const auto shows_other = [&](const Entry& entry) { return leaves_behind(entry.id); };
    if (leaves_behind(request.previous) || std::ranges::any_of(request.entries, shows_other))
        return;
    if (is_installing() || (!has_capacity() && !log_.has(request.previous))) {
        // An append would change a state that is about to be replaced, or there is no capacity for
        // the missing entries. So the rejection says nothing about the log. The answer to a later
        // request does.
        auto& rejection = follower.rejection.emplace();
        rejection.term = term();
        rejection.rejected = true;
        return;
    }
    if (!log_.has(request.previous)) {
        const auto before =
            request.previous.index.is_set() ? request.previous.index.previous() : LogIndex{};
        const LogId limit{request.previous.term, before};
        auto& rejection = follower.rejection.emplace();
        rejection.term = term();
        rejection.rejected = true;
        rejection.previous = request.previous.index;
        rejection.hint = log_.newest_not_above(limit);
        return;
    }
    if (!has_capacity()) leave_out_what_is_new(request);
    take_entries(request);
}

// Without capacity the follower acknowledges only entries that it has, and commits only those.
void Raft::leave_out_what_is_new(AppendRequest& request) const {
    const auto first_new = std::ranges::find_if(
        request.entries, [&](const Entry& entry) { return !log_.has(entry.id); });
    request.entries.erase(first_new, request.entries.end());
}

Follower& Raft::follow(NodeId leader, Instant now) {
    membership_.heard_leader();
    const auto* known = std::get_if<Follower>(&role_);
    if (known == nullptr || known->leader != leader) become_follower(leader, now);
    auto& follower = std::get<Follower>(role_);
    succession_.heard(leader, term(), now);
    follower.leader_heard = now;
    if (can_campaign())
        follower.election_at = succession_.after_silence(configuration(), leader, now);
    return follower;
}

void Raft::take_entries(AppendRequest& request) {
    auto& follower = std::get<Follower>(role_);
    auto verified = request.previous.index;
    bool appended = false;
    for (auto& entry : request.entries) {
        verified = entry.id.index;
        if (log_.has(entry.id)) continue;
        // Only a real conflict truncates the log. An old message does not, if we have all its
        // entries.
        if (entry.id.index <= log_.last().index) truncate_log(entry.id.index);
        append_to_log(std::move(entry));
        appended = true;
    }
    follower.verified = std::max(follower.verified, verified);
    // Only entries that were checked against this leader are committed: beyond them our log may
    // differ from that of the leader (B-C1).
    commit_to(std::min(request.commit, follower.verified));
    unwanted_ = std::min(request.replicated, commit_);
    // A member that lacks such an entry later is taken for one that has lost it.
    if (is_elected(*follower.leader)) replicated_ = unwanted_index();
    // If entries were appended, the reply is sent when their write completes.
    if (!appended && !request.quiet) follower.reply_owed = true;
}

// A follower acknowledges what is durable *and* was checked against this term's leader. Otherwise
// it would acknowledge old entries at the end of its log that the leader never had (B-C1, B-C9).
void Raft::send_owed_replies() {
    auto* follower = std::get_if<Follower>(&role_);
    if (follower == nullptr || !follower->leader || !is_term_durable()) return;
    send_owed_snapshot_reply();
    if (follower->rejection) {
        follower->rejection->read_round = follower->read_round;
        send(*follower->leader, *std::exchange(follower->rejection, std::nullopt));
        follower->reply_owed = false;
        return;
    }
    if (!std::exchange(follower->reply_owed, false)) return;
    AppendReply reply;
    reply.term = term();
    reply.read_round = follower->read_round;
    reply.match = std::min(writes_.durable(), follower->verified);
    send(*follower->leader, reply);
}

void Raft::reply_early(Instant now) {
    auto* follower = std::get_if<Follower>(&role_);
    if (follower == nullptr || !follower->leader) return;
    if (now <= follower->leader_heard + 2 * options_.heartbeat) follower->reply_owed = true;
}

// --- leader -------------------------------------------------------------------------------------

void Raft::on(NodeId from, const AppendReply& reply, Instant now) {
    auto* leader = std::get_if<Leader>(&role_);
    if (leader == nullptr || reply.term != term()) return;
    const auto peer = leader->peers.find(from);
    if (peer == leader->peers.end()) return;
    auto& progress = peer->second;
    progress.heard = now;
    progress.read_round_confirmed = std::max(progress.read_round_confirmed, reply.read_round);
    if (reply.rejected) {
        on_rejected(from, progress, reply);
    } else {
        on_accepted(progress, reply);
        advance_everything(*leader);
    }
    grant_reads(std::get<Leader>(role_));
    progress_transfer(now);
}

void Raft::on_accepted(Progress& progress, const AppendReply& reply) {
    // Replies may be old or repeated. Each one has the whole progress, which only grows (B-C5).
    progress.match = std::max(progress.match, reply.match);
    progress.denials = 0;
    progress.next = std::max(progress.next, progress.match.next());
    while (!progress.in_flight.empty() && progress.in_flight.front() <= progress.match) {
        progress.in_flight.pop_front();
    }
    const bool found =
        progress.state == Progress::State::probe ||
        (progress.state == Progress::State::cut_off && progress.match >= log_.base().index);
    if (found) {
        // Any reply shows that the logs agree up to its match, but not that the rest of a probe
        // arrived. So the leader continues from there, or from the beginning of its log: entries
        // that the follower has, but not on disk yet, may be purged here already.
        progress.state = Progress::State::replicate;
        progress.in_flight.clear();
        progress.next = std::max(progress.match, log_.base().index).next();
        progress.sending.reset();
    }
    progress.probing = false;
}

void Raft::on_rejected(NodeId from, Progress& progress, const AppendReply& reply) {
    if (reply.previous <= progress.match) return on_denied(from, progress, reply);
    // This is an old or repeated reply: no request about entries from `next` on is open (B-C10).
    if (reply.previous >= progress.next) return;
    if (progress.state == Progress::State::cut_off) return;
    const auto agree = log_.newest_not_above(reply.hint).index;
    progress.state = Progress::State::probe;
    progress.probing = false;
    progress.in_flight.clear();
    progress.next = std::max(progress.match, std::min(agree, reply.previous.previous())).next();
    cut_off_if_purged(from, progress);
}

// The follower lacks entries that it reported to have. Usually this is an old reply (B-C10). If the
// follower repeats it, it may never have had them, and would never receive them. So it has to
// report anew what it has.
void Raft::on_denied(NodeId from, Progress& progress, const AppendReply& reply) {
    constexpr int denials_max = 3;
    if (!reply.previous.is_set() || ++progress.denials < denials_max) return;
    on_peer_restarted(from);
}

// If the entries that the follower needs are purged here, it needs a snapshot. Heartbeats continue,
// because it would campaign otherwise.
void Raft::cut_off_if_purged(NodeId peer, Progress& progress) {
    if (progress.next > log_.base().index) return;
    if (progress.state != Progress::State::cut_off) note(Note::Kind::peer_cut_off, peer);
    progress.state = Progress::State::cut_off;
    progress.in_flight.clear();
    progress.next = log_.base().index.next();
}

void Raft::advance_everything(Leader& leader) {
    advance_commit();
    advance_replicated(leader);
    let_leavers_go(leader);
}

void Raft::advance_commit() {
    const auto reached = [&](NodeId id) {
        if (id == self()) return writes_.durable();
        const auto* progress = counted(id);
        return progress == nullptr ? LogIndex{} : progress->match;
    };
    const auto agreed = quorum_value(configuration(), reached);
    if (agreed <= commit_) return;
    // An entry of an earlier term may be on a majority and still be replaced (thesis 3.6.2).
    if (log_.term_at(agreed) != term()) return;
    commit_to(agreed);
}

void Raft::advance_replicated(const Leader& leader) {
    auto everywhere = std::min(commit_, writes_.durable());
    for (const auto& [peer, progress] : leader.peers) {
        if (!progress.leaves_at) everywhere = std::min(everywhere, progress.match);
    }
    replicated_ = std::max(replicated_, everywhere);
}

void Raft::send_appends() {
    auto& leader = std::get<Leader>(role_);
    for (auto& [peer, progress] : leader.peers) {
        send_appends_to(peer, progress);
        send_snapshot_to(peer, progress);
    }
    leader.heartbeat_due = false;
}

void Raft::send_appends_to(NodeId peer, Progress& progress) {
    const auto& leader = std::get<Leader>(role_);
    bool sent = false;
    if (progress.state == Progress::State::probe && !progress.probing) {
        send_append(peer, progress, next_entries(progress));
        progress.probing = true;
        sent = true;
    }
    while (progress.state == Progress::State::replicate && progress.next <= log_.last().index &&
           progress.in_flight.size() < options_.appends_in_flight_max) {
        auto entries = next_entries(progress);
        const auto last = entries.back().id.index;
        send_append(peer, progress, std::move(entries));
        progress.next = last.next();
        progress.in_flight.push_back(last);
        sent = true;
    }
    const bool all = options_.tells_every_commit || progress.leaves_at;
    const auto due = all ? commit_ : std::min(commit_, progress.commit_due);
    // The commit index is sent at once, because a waiter on another node is woken when its node
    // applies: behind the entries, which the follower need not have acknowledged.
    const bool follows = progress.state == Progress::State::replicate;
    const auto shown = follows ? progress.next.previous() : progress.match;
    const bool news =
        progress.commit_sent < std::min(due, shown) || progress.read_round_sent < leader.read_round;
    if (!sent && (leader.heartbeat_due || news)) send_append(peer, progress, {});
}

void Raft::tell_commit(NodeId peer, LogIndex index) {
    auto* leader = std::get_if<Leader>(&role_);
    if (leader == nullptr) return;
    const auto found = leader->peers.find(peer);
    if (found == leader->peers.end()) return;
    found->second.commit_due = std::max(found->second.commit_due, index);
}

void Raft::tell_commit_to_all(LogIndex index) {
    auto* leader = std::get_if<Leader>(&role_);
    if (leader == nullptr) return;
    for (auto& [peer, progress] : leader->peers)
        progress.commit_due = std::max(progress.commit_due, index);
}

std::vector<Entry> Raft::next_entries(const Progress& progress) const {
    return log_.slice(progress.next, options_.append_bytes_max, append_entries_max);
}

void Raft::send_append(NodeId peer, Progress& progress, std::vector<Entry> entries) {
    const auto& leader = std::get<Leader>(role_);
    const auto previous = progress.next.previous();
    const auto term_before = log_.term_at(previous);
    MORTISE_CHECK(term_before.has_value());
    const auto last = entries.empty() ? previous : entries.back().id.index;
    const bool asks = leader.heartbeat_due || progress.read_round_sent < leader.read_round;
    const bool quiet = progress.state == Progress::State::replicate && entries.empty() && !asks;
    progress.named = std::max(progress.named, last);
    send(peer,
         AppendRequest{.term = term(),
                       .previous = {*term_before, previous},
                       .commit = commit_,
                       .replicated = replicated_,
                       .read_round = leader.read_round,
                       .entries = std::move(entries),
                       .quiet = quiet,
                       .transfer_target = leader.transfer ? leader.transfer->target : NodeId{}});
    progress.commit_sent = commit_;
    progress.read_round_sent = leader.read_round;
}

const Progress* Raft::progress_of(NodeId peer) const {
    const auto* leader = std::get_if<Leader>(&role_);
    if (leader == nullptr) return nullptr;
    const auto found = leader->peers.find(peer);
    return found == leader->peers.end() ? nullptr : &found->second;
}

const Progress* Raft::counted(NodeId peer) const {
    const auto* progress = progress_of(peer);
    return progress == nullptr || progress->counts_from ? nullptr : progress;
}

std::vector<Incarnation> Raft::followers() const {
    std::vector<Incarnation> found;
    if (const auto* leader = std::get_if<Leader>(&role_)) {
        for (const auto& [id, progress] : leader->peers)
            found.push_back(progress.incarnation);
    }
    return found;
}

bool Raft::has_committed_own_term() const {
    const auto* leader = std::get_if<Leader>(&role_);
    return leader != nullptr && commit_ >= leader->first_own;
}

bool Raft::has_handed_out_own_term() const {
    const auto* leader = std::get_if<Leader>(&role_);
    return leader != nullptr && handed_out_ >= leader->first_own;
}

}  // namespace mortise::core
