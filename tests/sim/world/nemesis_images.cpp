// Images of disks that are taken while their nodes run.
#include <algorithm>

#include "tests/sim/world/nemesis.hpp"

namespace mortise::sim {

void Nemesis::take_image() {
    const auto node = draw_node();
    constexpr int tries = 32;
    cluster_.at(node).disk().take_image_in_life();
    set_back_later(node, tries);
}

// As soon as the leader knows that the node has acknowledged more, and mostly before the others do:
// if two know it, the directory is given up.
void Nemesis::set_back_later(core::NodeId node, int tries) {
    const auto pace = world_.swarm.heartbeat.count() / 4;
    world_.heap.after(prng_.between(1, pace), [this, node, tries] {
        auto& disk = cluster_.at(node).disk();
        const auto* image = disk.image_in_life();
        const auto leader = cluster_.leader();
        if (stopped_ || image == nullptr || !may_forget(node, leader)) return;
        const auto last = image->last().index;
        const bool is_wanted = !do_others_know(node, last) || prng_.one_in(8);
        if (is_wanted && has_acknowledged_more(node, leader, last)) {
            world_.tally.fault(Fault::disk_set_back);
            cluster_.set_back(node, leader);
            return wait_for_leader();
        }
        if (!is_wanted) disk.take_image_in_life();
        if (tries > 0) set_back_later(node, tries - 1);
    });
}

// It counts the node again eight election timeouts after it has told it, unless it fails before.
void Nemesis::wait_for_leader() {
    constexpr SimTime timeouts = 14;
    if (prng_.one_in(4)) return;
    calm_until_ = world_.heap.now() + timeouts * world_.swarm.election_timeout.count();
}

bool Nemesis::has_acknowledged_more(core::NodeId node, core::NodeId leader,
                                    core::LogIndex last) const {
    const auto& raft = cluster_.at(leader).raft();
    const auto* progress = raft.progress_of(node);
    return progress != nullptr && std::min(progress->match, raft.commit_index()) > last;
}

bool Nemesis::do_others_know(core::NodeId node, core::LogIndex last) const {
    return std::ranges::any_of(cluster_.ids(), [&](core::NodeId id) {
        if (id == node || !cluster_.is_running(id)) return false;
        const auto& raft = cluster_.at(id).raft();
        return !raft.is_leader() && raft.replicated_index() > last;
    });
}

// One voter at a time, and the others keep everything that was committed.
bool Nemesis::may_forget(core::NodeId node, core::NodeId witness) const {
    const auto is_lost = [&](core::NodeId each) { return world_.checker.is_lost(each); };
    return witness.is_set() && node != witness && cluster_.is_running(node) &&
           cluster_.is_founded() && world_.checker.configuration().is_voter(node) &&
           std::ranges::none_of(cluster_.ids(), is_lost) && can_be_missed(node);
}

}  // namespace mortise::sim
