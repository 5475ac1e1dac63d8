// A peer has only one generation that counts: the newest of its directory, as long as it still has
// what earlier ones acknowledged (storage/README.md, "What only others can find").
#include <algorithm>

#include "core/node/node_core.hpp"

namespace mortise::core {

namespace {

// The limit, whatever a peer is configured with.
constexpr Nanoseconds heartbeat_min = std::chrono::milliseconds{1};

}  // namespace

void NodeCore::on(const PeerUp& event, Now now) {
    const auto peer = event.hello.node;
    const auto& generation = event.hello.generation;
    const bool is_somebody = peer.is_set() && generation.is_set() && peer != options_.self;
    if (!is_somebody) {
        ++refused_messages_;
        return;
    }
    doubts_.heard_hello(peer);
    switch (memory_.hear(event.hello, machine_.sessions().newest_start(generation.incarnation))) {
        case PeerMemory::Verdict::outlived:
            // This connection replaced the earlier one, which is down.
            on(PeerDown{peer}, now);
            raft_.on_peer_restarted(peer);
            ++refused_messages_;
            outlived_[peer] = event.hello;
            return refuse_life(peer, event.hello);
        case PeerMemory::Verdict::new_life: raft_.on_peer_restarted(peer); break;
        case PeerMemory::Verdict::same_life: break;
    }
    outlived_.erase(peer);
    connected_[peer] = event.hello;
    keep_pace();
    // What was said on the former connection may not have arrived, whether or not its end was
    // noticed.
    if (peer == leader_) agent_.on_leader(true, now);
    if (memory_.has_forgotten(generation.incarnation)) return refuse_life(peer, event.hello);
    if (!event.hello.is_empty()) return;
    unfounded_.insert(peer);
    offer_formation(peer);
}

// A leader sends heartbeats at the shortest interval of all its connected peers. Timings differ
// while an operator changes the configuration of one node after the other, and then no peer deposes
// a leader only because the leader's own interval is longer.
void NodeCore::keep_pace() {
    auto heartbeat = options_.heartbeat;
    for (const auto& [peer, hello] : connected_) {
        const auto theirs = hello.timing.heartbeat;
        if (theirs > Nanoseconds{})
            heartbeat = std::min(heartbeat, std::max(theirs, heartbeat_min));
    }
    raft_.set_pace(heartbeat);
}

void NodeCore::refuse_life(NodeId peer, const Hello& hello) {
    raft_.note_forgotten(peer);
    tell_superseded(peer, hello);
}

// Repeated whenever it speaks: the message may be lost, and the node stays out until it knows.
void NodeCore::tell_superseded(NodeId peer, const Hello& hello) {
    effects_.send.push_back({peer, Superseded{hello.generation}});
}

bool NodeCore::is_believed(NodeId from, const RaftMessage& message) {
    const auto& hello = connected_.at(from);
    const auto incarnation = hello.generation.incarnation;
    const bool was_sound = !memory_.has_forgotten(incarnation);
    if (memory_.believe(incarnation, message)) return true;
    if (was_sound) {
        refuse_life(from, hello);
    } else {
        tell_superseded(from, hello);
    }
    return false;
}

// If a leader says that every member has something, each member has it: so other nodes than the
// leader can detect a node that has lost it. This is the leader's word about the members of its own
// configuration. The peers that this node knows are the same once the word covers the configuration
// here, and removed peers are forgotten.
void NodeCore::remember_replicated() {
    const auto index = raft_.replicated_index();
    if (raft_.is_leader() || index <= replicated_known_ || !raft_.is_configuration_committed())
        return;
    replicated_known_ = index;
    const auto& members = raft_.configuration();
    memory_.forget_attested_but(members);
    const auto term = raft_.log().term_at(index);
    if (!term || members.is_joint() || index < raft_.configuration_id().index) return;
    for (const auto id : members.all())
        memory_.attested(members.find(id)->incarnation, {*term, index});
}

// Peers that have restarted know of later starts of this node from the sessions that they have
// applied. These may be missing when this node says hello, and a connection is judged when it
// begins. What they learn later, this node learns, too.
void NodeCore::judge_own_life(Now now) {
    const auto newest = machine_.sessions().newest_start(options_.generation.incarnation);
    if (options_.generation.is_earlier_than(newest)) effects_.superseded = true;
    doubts_.advance(now.steady);
    raft_.set_doubted(!doubts_.is_empty(), now.steady);
    if (doubts_.is_empty()) {
        doubts_ask_at_ = Instant::never();
        return;
    }
    // After a start it may be unknown what is committed.
    const auto& committed = raft_.configuration_at(raft_.commit_index());
    const auto& members = committed.is_formed() ? committed : raft_.configuration();
    switch (doubts_.judge(members, options_.self)) {
        case LifeDoubts::Verdict::unproven: return ask_about_own_life(now);
        case LifeDoubts::Verdict::outlived: effects_.superseded = true; return;
        case LifeDoubts::Verdict::copied: effects_.copied = true; return;
    }
}

// A node that is asked for a vote detects what the asker has lost, and says so.
void NodeCore::ask_about_own_life(Now now) {
    if (doubts_ask_at_ != Instant::never() && now.steady < doubts_ask_at_) return;
    doubts_ask_at_ = now.steady + options_.election_timeout;
    raft_.ask_without_asking();
}

void NodeCore::on(const LifeRefused& event, Now now) {
    if (!is_formed()) return;  // nothing was acknowledged yet, and there is nothing to give up
    if (doubts_.refused(event.by, event.as_copy, now.steady)) raft_.note_doubt(event.by);
}

// Only what nobody may undo: acknowledged entries that are not committed may yet be truncated.
void NodeCore::remember_acknowledged(NodeId from) {
    const auto* progress = raft_.progress_of(from);
    if (progress == nullptr) return;
    const auto index = std::min(progress->match, raft_.commit_index());
    const auto term = raft_.log().term_at(index);
    if (term) memory_.acknowledged(progress->incarnation, {*term, index});
}

// It counts from any node of this cluster, whatever its incarnation: a directory may be so old that
// it knows none of the present ones. If there is only one other member, it has to say it again
// after another hello.
void NodeCore::receive(NodeId from, const Superseded& message, Now now) {
    const bool is_meant = message.generation == options_.generation;
    const auto& sender = connected_.at(from);
    const bool is_ours = !sender.is_empty() && is_of_cluster(sender);
    if (!is_meant || !(is_ours || is_trusted(from))) {
        ++refused_messages_;
        return;
    }
    const bool is_news = doubts_.said(from, now.steady);
    if (is_news) raft_.note_doubt(from);
    const bool is_only_other = raft_.configuration().all().size() == 2;
    if (is_news && is_only_other) effects_.disconnect.push_back(from);
}

}  // namespace mortise::core
