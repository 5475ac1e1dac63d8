#include "tests/sim/world/cluster.hpp"

#include <algorithm>
#include <utility>

#include "core/raft/quorum.hpp"

namespace mortise::sim {

namespace {

constexpr std::int64_t clock_bound_ppm = 10'000;

}  // namespace

Cluster::Cluster(World& world)
    : world_{world},
      network_{world.swarm.nodes, world.heap, world.tally, *this, world.prng.next()},
      started_at_(world.swarm.nodes) {
    network_.configure(world.swarm.network);
    std::vector<core::Member> voters;
    for (std::uint64_t raw = 1; raw <= world.swarm.nodes; ++raw) {
        ids_.push_back(core::NodeId{raw});
        const bool founds = raw <= world.swarm.nodes - world.swarm.spares;
        if (founds) voters.push_back({core::NodeId{raw}, {}, "node" + std::to_string(raw)});
    }
    for (const auto id : ids_) {
        nodes_.push_back(std::make_unique<SimNode>(id, voters, world, *this));
    }
}

void Cluster::start_all() {
    for (const auto id : ids_) {
        const auto wait = world_.prng.between(0, world_.swarm.restart_after);
        world_.heap.after(wait, [this, id] { start(id); });
    }
}

void Cluster::start(core::NodeId node) {
    if (is_running(node)) return;
    started_at_[static_cast<std::size_t>(node.raw() - 1)] = world_.heap.now();
    at(node).start();
    if (is_running(node) && world_.checker.is_rolled_back(node)) {
        if (has_forgetful() && forgetful_->node == node) {
            forgetful_started();
        } else {
            lives_.rolled_back(hello(node).generation.life);
        }
    }
    network_.connect_what_can_be();
}

void Cluster::carry(core::NodeId from, core::NodeId to, core::PeerMessage&& message) {
    network_.send(from, to, std::move(message));
}

void Cluster::died(core::NodeId node) {
    ran_ += world_.heap.now() - started_at_[static_cast<std::size_t>(node.raw() - 1)];
    lives_.forgot(node);
    if (has_forgetful() && forgetful_->witness == node) lose_witness();
    network_.node_stopped(node);
    if (!restart_crashed_) return;
    const auto wait = world_.prng.between(1, 2 * world_.swarm.restart_after);
    world_.heap.after(wait, [this, node] {
        if (restart_crashed_) start(node);
    });
}

// The same process continues, so the restart of crashed nodes does not apply.
void Cluster::begins_anew(core::NodeId node) {
    world_.heap.after(world_.prng.between(1, sim_second / 10), [this, node] { start(node); });
}

void Cluster::restart(core::NodeId node) {
    crash(node);
    if (!restart_crashed_) begins_anew(node);
}

void Cluster::resume(core::NodeId node) {
    if (is_running(node) && at(node).is_paused()) world_.workload->wakes(node);
    at(node).resume();
    network_.connect_what_can_be();
}

core::NodeId Cluster::leader() const {
    core::NodeId found;
    core::Term term;
    for (const auto& node : nodes_) {
        if (!node->is_running() || !node->raft().is_leader() || node->raft().term() < term)
            continue;
        found = node->id();
        term = node->raft().term();
    }
    return found;
}

bool Cluster::is_founded() const {
    for (const auto& node : nodes_) {
        if (node->disk().platter().knows_cluster()) return true;
    }
    return false;
}

std::vector<core::Configuration> Cluster::configurations() const {
    const auto& committed = world_.checker.configuration();
    std::vector<core::Configuration> all{committed};
    for (const auto& node : nodes_) {
        if (committed.find(node->id()) == nullptr || !node->disk().platter().knows_cluster())
            continue;
        if (world_.checker.is_rolled_back(node->id())) continue;
        all.push_back(node->disk().platter().newest_configuration());
        if (node->is_running()) all.push_back(node->raft().configuration());
    }
    return all;
}

bool Cluster::is_quorum(const std::set<core::NodeId>& nodes) const {
    return std::ranges::all_of(configurations(), [&](const core::Configuration& each) {
        return core::has_quorum(each, [&](core::NodeId id) {
            const auto& disk = at(id).disk();
            const bool is_lost = world_.checker.is_lost(id, each) || disk.may_be_damaged() ||
                                 disk.platter().unsynced == core::Unsynced::forgotten;
            return nodes.contains(id) && !is_lost && !is_liar(id);
        });
    });
}

// Some vote for nobody: a node that was told of its forgetting, and does not know yet that it
// counts again; and a founder that has not received the first entry.
bool Cluster::is_complete(const std::set<core::NodeId>& nodes) const {
    return !has_forgetful() && std::ranges::all_of(configurations(), [&](const auto& each) {
        const auto is_there = [&](const core::Member& member) {
            const auto& its = at(member.id);
            const auto& platter = its.disk().platter();
            const bool is_lost = platter.incarnation != member.incarnation ||
                                 !each.is_current(member) ||
                                 world_.checker.is_rolled_back(member.id) ||
                                 its.disk().may_be_damaged() || is_liar(member.id);
            const bool is_doubted = its.is_running() && its.raft().is_doubted();
            return nodes.contains(member.id) && platter.knows_cluster() && !is_lost && !is_doubted;
        };
        return std::ranges::all_of(each.voters, is_there) &&
               std::ranges::all_of(each.outgoing, is_there);
    });
}

PowerLoss Cluster::power_loss_of(core::NodeId node) const {
    auto others = std::set(ids_.begin(), ids_.end());
    // A change in progress may leave fewer voters.
    const auto all = configurations();
    const auto changes = [&](const auto& each) { return each.voters != all.front().voters; };
    if (std::ranges::any_of(all, changes)) return PowerLoss::never;
    const bool can_begin_era = is_complete(others);
    others.erase(node);
    if (is_quorum(others)) return PowerLoss::of_entries;
    return can_begin_era ? PowerLoss::of_nothing : PowerLoss::never;
}

bool Cluster::clocks_out_of_bounds(core::NodeId holder) const {
    return at(holder).slowest_ppm() < -clock_bound_ppm || clocks_too_fast();
}

bool Cluster::clocks_too_fast() const {
    std::size_t fast = 0;
    for (const auto& node : nodes_) {
        if (node->fastest_ppm() > clock_bound_ppm) ++fast;
    }
    // A few fast nodes may soon be a majority if the members change.
    if (fast != 0 && world_.swarm.members_change()) return true;
    return 2 * fast > nodes_.size();
}

SimTime Cluster::running_time() const {
    auto total = ran_;
    for (const auto id : ids_) {
        const auto since = started_at_[static_cast<std::size_t>(id.raw() - 1)];
        if (is_running(id)) total += world_.heap.now() - since;
    }
    return total;
}

bool Cluster::is_running(core::NodeId node) const {
    return at(node).is_running();
}

bool Cluster::can_answer(core::NodeId node) const {
    return at(node).is_running() && !at(node).is_paused();
}

core::Hello Cluster::hello(core::NodeId node) const {
    auto hello = at(node).driver().hello();
    hello.access = world_.swarm.access_of(node);  // as its peers read it from the certificate
    return hello;
}

core::Generation Cluster::start_of(core::NodeId node) const {
    const auto& platter = at(node).disk().platter();
    return {platter.incarnation, platter.boot_epoch};
}

void Cluster::deliver(core::NodeId node, core::Event event) {
    if (const auto* up = std::get_if<core::PeerUp>(&event)) {
        if (!may_meet(node, up->hello)) return count_as_lost(up->hello);
        lives_.heard(node, up->hello);
    }
    at(node).handle(std::move(event));
}

bool Cluster::may_meet(core::NodeId node, const core::Hello& hello) {
    const auto life = hello.generation.life;
    if (!is_running(node) || !lives_.is_rolled_back(life)) return true;
    const auto& sessions = at(node).driver().core().machine().sessions();
    const auto newest = sessions.newest_start(hello.generation.incarnation);
    if (lives_.knows_better(node, hello, newest.boot_epoch)) return true;
    if (!will_know_better(hello)) return false;
    world_.tally.probe("rolled back member met who learned of it later");
    in_doubt_.insert(life);
    return true;
}

// Some member has told it, so it takes no part in elections; and the state that all will have shows
// a later start (docs/decisions/0061).
bool Cluster::will_know_better(const core::Hello& hello) const {
    const bool is_meant =
        is_running(hello.node) && this->hello(hello.node).generation == hello.generation;
    if (!is_meant || !at(hello.node).raft().is_doubted()) return false;
    return std::ranges::any_of(nodes_, [&](const auto& node) {
        if (!node->is_running()) return false;
        const auto& sessions = node->driver().core().machine().sessions();
        const auto newest = sessions.newest_start(hello.generation.incarnation);
        return hello.generation.is_earlier_than(newest);
    });
}

// Two members of its own configuration have to say that it was rolled back (docs/decisions/0029),
// and its directory is so old that it does not know who is a member now.
bool Cluster::needs_a_person(core::NodeId node, const std::set<core::NodeId>& present) const {
    if (!is_running(node) || !will_know_better(hello(node))) return false;
    const auto& raft = at(node).raft();
    auto known = raft.configuration_at(raft.commit_index()).all();
    std::erase(known, node);
    const auto others =
        std::ranges::count_if(known, [&](core::NodeId id) { return present.contains(id); });
    return others < std::min<std::ptrdiff_t>(2, std::ssize(known));
}

// Nobody repeated the doubt for so long that it ended, or the cluster has accepted the run
// (docs/decisions/0064): such a node may vote again.
void Cluster::stepped(core::NodeId node) {
    if (has_forgetful()) look_after_forgetful(node);
    if (in_doubt_.empty() || at(node).raft().is_doubted()) return;
    const auto said = hello(node);
    if (in_doubt_.erase(said.generation.life) == 0) return;
    world_.heap.after(1, [this, said] { count_as_lost(said); });
}

// Decision 0013 does not promise that such a node is detected.
void Cluster::count_as_lost(const core::Hello& rolled_back) {
    if (!is_running(rolled_back.node) ||
        hello(rolled_back.node).generation != rolled_back.generation)
        return;
    world_.tally.probe("rolled back where nobody knew better");
    at(rolled_back.node).begin_anew();
}

}  // namespace mortise::sim
