// A member whose directory went back within its life, so that one leader alone remembers what it
// acknowledged. Before its node is told, nothing protects the cluster from the votes that it has
// forgotten (docs/decisions/0061): so it meets that leader first. From then on the cluster has to
// bear it, until the leader counts it again (docs/decisions/0077).
#include "tests/sim/world/cluster.hpp"

namespace mortise::sim {

void Cluster::set_back(core::NodeId node, core::NodeId witness) {
    at(node).crash();
    at(node).set_back();
    const auto incarnation = at(node).disk().platter().incarnation;
    forgetful_ = Forgetful{node, incarnation, witness, at(witness).raft().term()};
}

// It may have been wiped since.
bool Cluster::has_forgetful() const {
    return forgetful_ && world_.checker.is_rolled_back(forgetful_->node) &&
           at(forgetful_->node).disk().platter().incarnation == forgetful_->incarnation;
}

bool Cluster::may_connect(core::NodeId a, core::NodeId b) const {
    if (!has_forgetful() || forgetful_->told) return true;
    const auto [node, witness] = std::pair{forgetful_->node, forgetful_->witness};
    if (a != node && b != node) return true;
    return a == witness || b == witness;
}

// A process forgets what it was told.
void Cluster::forgetful_started() {
    forgetful_->life = hello(forgetful_->node).generation.life;
    forgetful_->told = false;
}

void Cluster::look_after_forgetful(core::NodeId stepped) {
    const auto [node, witness] = std::pair{forgetful_->node, forgetful_->witness};
    if (forgetful_->told || !is_running(node)) return;
    if (stepped == witness) {
        const auto& raft = at(witness).raft();
        if (!raft.is_leader() || raft.term() != forgetful_->term) lose_witness();
        return;
    }
    if (stepped != node || !at(node).raft().is_doubted()) return;
    forgetful_->told = true;
    in_doubt_.insert(forgetful_->life);
    world_.checker.forgotten_before(node, witness);
    world_.tally.probe("set back member told by its leader");
    world_.heap.after(1, [this] { network_.connect_what_can_be(); });
}

// Who was told takes no part in elections all the same; stepped() sees when that ends.
void Cluster::lose_witness() {
    const auto lost = *forgetful_;
    forgetful_.reset();
    world_.checker.forgotten_before(lost.node, {});
    if (lost.told || !is_running(lost.node)) return;
    const auto said = hello(lost.node);
    lives_.rolled_back(said.generation.life);
    world_.heap.after(1, [this, said] { count_as_lost(said); });
}

void Cluster::let_everybody_meet() {
    if (has_forgetful() && !forgetful_->told) lose_witness();
}

void Cluster::counts_again(core::NodeId node, core::NodeId peer) {
    if (!has_forgetful() || node != forgetful_->witness || peer != forgetful_->node) return;
    world_.tally.probe("set back member counted again");
    world_.checker.counts_again(peer, node);
    in_doubt_.erase(forgetful_->life);
    forgetful_.reset();
    world_.heap.after(1, [this] { network_.connect_what_can_be(); });
}

}  // namespace mortise::sim
