// Of every peer one life counts: the newest of its directory, as long as it knows what those before
// it have promised (storage/README.md, "What only others can find").
#include <algorithm>

#include "core/base/mutant.hpp"
#include "core/node/node_core.hpp"

namespace mortise::core {

void NodeCore::on(const PeerUp& event, Now now) {
    const auto peer = event.hello.node;
    const auto incarnation = event.hello.incarnation;
    switch (memory_.hear(event.hello, machine_.sessions().newest_epoch(incarnation))) {
        case PeerMemory::Verdict::outlived:
            // Whatever was connected before is not: this took its place.
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
    if (memory_.has_forgotten(incarnation)) return refuse_life(peer, event.hello);
    if (!event.hello.is_empty()) return;
    unfounded_.insert(peer);
    offer_formation(peer);
}

void NodeCore::refuse_life(NodeId peer, const Hello& hello) {
    raft_.note_forgotten(peer);
    tell_superseded(peer, hello);
}

// Again whenever it speaks: nothing here need arrive, and it stays out until it knows.
void NodeCore::tell_superseded(NodeId peer, const Hello& hello) {
    effects_.send.push_back({peer, Superseded{hello.incarnation, hello.boot_epoch, hello.life}});
}

bool NodeCore::is_believed(NodeId from, const RaftMessage& message) {
    const auto& hello = connected_.at(from);
    const bool was_sound = !memory_.has_forgotten(hello.incarnation);
    if (memory_.believe(hello.incarnation, message)) return true;
    if (was_sound) {
        refuse_life(from, hello);
    } else if (!planted(Mutant::superseded_told_once)) {
        tell_superseded(from, hello);
    }
    return false;
}

// Peers that restarted since know of later starts by the sessions they have applied, which may be
// none yet when this one says hello, and a connection is judged when it begins. What they learn
// later this node learns too.
void NodeCore::judge_own_life() {
    const auto newest = machine_.sessions().newest_epoch(options_.incarnation);
    const bool outlived = newest > options_.boot_epoch && !planted(Mutant::outlived_by_the_state);
    if (outlived) effects_.superseded = true;
}

// Only what nobody may take back: what was acknowledged and is not committed may yet be truncated.
void NodeCore::remember_acknowledged(NodeId from) {
    const auto* progress = raft_.progress_of(from);
    if (progress == nullptr) return;
    const auto index = std::min(progress->match, raft_.commit_index());
    const auto term = raft_.log().term_at(index);
    if (term) memory_.acknowledged(progress->incarnation, {*term, index});
}

// Believed of anybody of this cluster: it is a fact, and a directory may be so old that none of the
// present members is one by it.
void NodeCore::receive(NodeId from, const Superseded& message, Now /*now*/) {
    const bool is_meant = message.incarnation == options_.incarnation &&
                          message.boot_epoch == options_.boot_epoch &&
                          message.life == options_.life;
    const auto& sender = connected_.at(from);
    const bool is_ours = !sender.is_empty() && is_of_cluster(sender);
    if (is_meant && (is_ours || is_trusted(from))) {
        effects_.superseded = true;
    } else {
        ++refused_messages_;
    }
}

}  // namespace mortise::core
