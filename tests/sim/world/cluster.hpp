// All nodes and the network between them, and the operations on them.
#pragma once

#include <memory>
#include <optional>
#include <set>
#include <vector>

#include "tests/sim/judges/later_lives.hpp"
#include "tests/sim/machine/sim_network.hpp"
#include "tests/sim/world/sim_node.hpp"

namespace mortise::sim {

class Cluster final : public NetworkHost, public NodeOwner {
public:
    // The world outlives the cluster. Everything is scheduled, nothing is started yet.
    explicit Cluster(World& world);

    void start_all();
    // While this is on, crashed nodes restart after a while.
    void restart_crashed(bool on) { restart_crashed_ = on; }
    void crash(core::NodeId node) { at(node).crash(); }
    void pause(core::NodeId node) { at(node).pause(); }
    void suspend(core::NodeId node, SimTime until) { at(node).suspend(until); }
    void resume(core::NodeId node);
    void start(core::NodeId node);
    // Its process has ended by itself. It is restarted even if crashed nodes are not.
    void restart(core::NodeId node);
    // The node's directory goes back to its image of the present run, and this leader remembers
    // what is missing in it (forgetful_member.cpp).
    void set_back(core::NodeId node, core::NodeId witness);
    // Such a directory exists, and its node does not count again.
    [[nodiscard]] bool has_forgetful() const;
    // Nobody is kept from the others any more.
    void let_everybody_meet();
    // One step of a node that its program triggers.
    void call(core::NodeId node, core::Event event) { at(node).handle(std::move(event)); }

    [[nodiscard]] std::size_t size() const { return nodes_.size(); }
    [[nodiscard]] const std::vector<core::NodeId>& ids() const { return ids_; }
    [[nodiscard]] std::vector<core::NodeId> founders() const {
        return {ids_.begin(), ids_.end() - static_cast<std::ptrdiff_t>(world_.swarm.spares)};
    }
    [[nodiscard]] SimNode& at(core::NodeId node) {
        return *nodes_[static_cast<std::size_t>(node.raw() - 1)];
    }
    [[nodiscard]] const SimNode& at(core::NodeId node) const {
        return *nodes_[static_cast<std::size_t>(node.raw() - 1)];
    }
    [[nodiscard]] SimNetwork& network() { return network_; }
    // The leader with the highest term, if any node leads.
    [[nodiscard]] core::NodeId leader() const;
    [[nodiscard]] bool is_founded() const;  // on some disk
    // The configurations that may come into force, on disk or in memory.
    [[nodiscard]] std::vector<core::Configuration> configurations() const;
    // Each of these configurations has a majority among the nodes, with the disks that are members.
    [[nodiscard]] bool is_quorum(const std::set<core::NodeId>& nodes) const;
    // All voters are among these nodes, with their disks, so they may begin an era.
    [[nodiscard]] bool is_complete(const std::set<core::NodeId>& nodes) const;
    // Its directory is too old to come back by itself beside those that are present.
    [[nodiscard]] bool needs_a_person(core::NodeId node,
                                      const std::set<core::NodeId>& present) const;
    [[nodiscard]] PowerLoss power_loss_of(core::NodeId node) const override;
    // Its peers may hold against it what it said, so it counts for no majority.
    [[nodiscard]] bool is_liar(core::NodeId node) const {
        return node == core::NodeId{world_.swarm.liar};
    }
    // This holder's clock was slow, or a majority's fast, beyond the bound: P3 is not promised.
    [[nodiscard]] bool clocks_out_of_bounds(core::NodeId holder) const;
    // The same for a time that a majority counts, whoever the holder is.
    [[nodiscard]] bool clocks_too_fast() const;
    // The total time that nodes have been running.
    [[nodiscard]] SimTime running_time() const;

    // --- NetworkHost ----------------------------------------------------------------------------
    [[nodiscard]] bool is_running(core::NodeId node) const override;
    [[nodiscard]] bool can_answer(core::NodeId node) const override;
    [[nodiscard]] core::Hello hello(core::NodeId node) const override;
    [[nodiscard]] core::Generation start_of(core::NodeId node) const override;
    [[nodiscard]] bool may_connect(core::NodeId a, core::NodeId b) const override;
    void deliver(core::NodeId node, core::Event event) override;
    // --- NodeOwner ------------------------------------------------------------------------------
    void carry(core::NodeId from, core::NodeId to, core::PeerMessage&& message) override;
    void notify(core::NodeId from, core::ClientId client, core::ClientNotice&& notice) override {
        world_.workload->notified(from, client, std::move(notice));
    }
    void hang_up(core::NodeId from, core::ClientId client) override {
        world_.workload->hung_up(from, client);
    }
    void died(core::NodeId node) override;
    void begins_anew(core::NodeId node) override;
    void disconnect(core::NodeId a, core::NodeId b) override { network_.reset(a, b); }
    void stepped(core::NodeId node) override;
    void counts_again(core::NodeId node, core::NodeId peer) override;

private:
    // False if the node cannot know that this hello comes from a directory that was rolled back.
    [[nodiscard]] bool may_meet(core::NodeId node, const core::Hello& hello);
    [[nodiscard]] bool will_know_better(const core::Hello& hello) const;
    void count_as_lost(const core::Hello& rolled_back);

    void forgetful_started();
    void look_after_forgetful(core::NodeId stepped);
    void lose_witness();

    World& world_;
    SimNetwork network_;
    std::vector<core::NodeId> ids_;
    std::vector<std::unique_ptr<SimNode>> nodes_;
    std::vector<SimTime> started_at_;
    LaterLives lives_;
    // Lives of directories that were rolled back, which met somebody who learns of that later.
    std::set<std::uint64_t> in_doubt_;
    // A member whose directory went back within its life. Only this leader can tell, so it meets
    // nobody else until its node was told (docs/decisions/0077).
    struct Forgetful {
        core::NodeId node;
        core::Incarnation incarnation;
        core::NodeId witness;
        core::Term term;  // which it leads
        bool told = false;
        std::uint64_t life = 0;  // the present run of the node
    };
    std::optional<Forgetful> forgetful_;
    SimTime ran_ = 0;  // of runs that have ended
    bool restart_crashed_ = true;
};

}  // namespace mortise::sim
