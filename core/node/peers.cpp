#include "core/node/peers.hpp"

#include <algorithm>

#include "core/raft/quorum.hpp"

namespace mortise::core {

namespace {

// The lower limit, whatever a peer is configured with.
constexpr Nanoseconds heartbeat_min = std::chrono::milliseconds{1};

const Hello* find_in(const std::map<NodeId, Hello>& hellos, NodeId peer) {
    const auto found = hellos.find(peer);
    return found == hellos.end() ? nullptr : &found->second;
}

}  // namespace

// --- connected peers ----------------------------------------------------------------------------

// What the former run acknowledged may have been committed after its last message.
PeerMemory::Verdict Peers::hear(const Hello& hello, const Generation& newest_session) {
    remember_acknowledged(hello.node);
    const auto verdict = memory_.hear(hello, newest_session);
    gone(hello.node);
    auto& hellos = verdict == PeerMemory::Verdict::outlived ? outlived_ : connected_;
    hellos[hello.node] = hello;
    return verdict;
}

std::vector<NodeId> Peers::drop_outlived(const SessionTable& sessions) {
    std::vector<NodeId> dropped;
    for (const auto& [peer, hello] : connected_) {
        const auto newest = sessions.newest_start(hello.generation.incarnation);
        if (hello.generation.is_earlier_than(newest)) dropped.push_back(peer);
    }
    for (const auto peer : dropped)
        outlived_.insert(connected_.extract(peer));
    return dropped;
}

void Peers::gone(NodeId peer) {
    connected_.erase(peer);
    outlived_.erase(peer);
}

const Hello* Peers::find(NodeId peer) const {
    return find_in(connected_, peer);
}

const Hello* Peers::find_outlived(NodeId peer) const {
    return find_in(outlived_, peer);
}

// The shortest interval of all connected peers. Timings differ while an operator changes the
// configuration of one node after the other, and then no peer deposes a leader only because the
// leader's own interval is longer.
Nanoseconds Peers::pace() const {
    auto heartbeat = options_.heartbeat;
    for (const auto& [peer, hello] : connected_) {
        const auto theirs = hello.timing.heartbeat;
        if (theirs > Nanoseconds{})
            heartbeat = std::min(heartbeat, std::max(theirs, heartbeat_min));
    }
    return heartbeat;
}

// --- peers whose statements count ---------------------------------------------------------------

bool Peers::is_of_cluster(const Hello& hello) const {
    return hello.is_empty() || hello.cluster == raft_.configuration().cluster;
}

bool Peers::is_trusted(NodeId peer) const {
    const auto* hello = find(peer);
    return hello != nullptr && is_of_cluster(*hello) &&
           raft_.configuration().has(peer, hello->generation.incarnation) && !has_forgotten(*hello);
}

bool Peers::is_stranger(NodeId peer) const {
    const auto* hello = find(peer);
    return raft_.configuration().is_formed() && hello != nullptr && !hello->is_empty() &&
           is_of_cluster(*hello) && !raft_.configuration().has(peer, hello->generation.incarnation);
}

bool Peers::has_forgotten(const Hello& hello) const {
    return memory_.has_forgotten(hello.generation.incarnation);
}

PeerMemory::Belief Peers::believe(NodeId from, const RaftMessage& message, Instant now) {
    return memory_.believe(at(from).generation.incarnation, message, now);
}

bool Peers::is_only_witness_against(NodeId peer, Instant now) const {
    return memory_.is_only_witness(at(peer).generation.incarnation, now);
}

void Peers::counts_again(NodeId peer) {
    memory_.counts(at(peer).generation.incarnation, raft_.term());
    remember_acknowledged(peer);
}

// Only committed entries: others that were acknowledged may yet be truncated.
void Peers::remember_acknowledged(NodeId from) {
    const auto* progress = raft_.progress_of(from);
    if (progress == nullptr) return;
    const auto index = std::min(progress->match, raft_.commit_index());
    const auto term = raft_.log().term_at(index);
    if (term) memory_.acknowledged(progress->incarnation, {*term, index});
}

// If a leader says that every member has something, each member has it: so nodes other than the
// leader can detect a node that has lost it. The statement concerns the members of the leader's own
// configuration. The peers that this node knows are the same once the statement covers the
// configuration here, and removed peers are forgotten.
void Peers::remember_replicated() {
    const auto index = raft_.replicated_index();
    if (raft_.is_leader() || index <= replicated_known_ || !raft_.is_configuration_committed())
        return;
    replicated_known_ = index;
    const auto& members = raft_.configuration();
    memory_.forget_attested_but(members);
    const auto term = raft_.log().term_at(index);
    if (!term || !concerns_present_members(index)) return;
    for (const auto id : members.all())
        memory_.attested(members.find(id)->incarnation, {*term, index});
}

bool Peers::concerns_present_members(LogIndex replicated) const {
    return raft_.is_configuration_committed() && !raft_.configuration().is_joint() &&
           replicated >= raft_.configuration_id().index;
}

// The leader counted the present run when it opened its session. If every member has an entry of
// this leader that is newer, then so has a majority without that member. So neither a vote nor an
// entry of its former runs matters any more.
std::vector<NodeId> Peers::drop_former_runs(const SessionTable& sessions, LogIndex applied) {
    std::vector<NodeId> back;
    const auto index = raft_.unwanted_index();
    if (raft_.is_leader() || !concerns_present_members(index)) return back;
    const auto& members = raft_.configuration();
    for (const auto id : members.all()) {
        const auto incarnation = members.find(id)->incarnation;
        const auto newer =
            memory_.newer_than_run(incarnation, sessions.newest_start(incarnation), applied);
        if (!newer || index < *newer || raft_.log().term_at(index) != raft_.term()) continue;
        const auto others = [&](NodeId other) { return other != id; };
        if (has_quorum(members, others) && memory_.counts(incarnation, raft_.term()))
            back.push_back(id);
    }
    return back;
}

// --- certificates -------------------------------------------------------------------------------

bool Peers::is_voters_certificate(NodeId peer) const {
    if (peer == options_.self) return options_.access.has(AccessRole::voter);
    const auto* hello = find(peer);
    return hello != nullptr && hello->access.has(AccessRole::voter);
}

bool Peers::is_members_certificate(NodeId peer) const {
    const auto* hello = find(peer);
    const bool learns = hello != nullptr && hello->access.has(AccessRole::learner);
    return learns || is_voters_certificate(peer);
}

}  // namespace mortise::core
