#include "tests/sim/world/nemesis.hpp"

#include <algorithm>
#include <limits>

#include "core/raft/quorum.hpp"

namespace mortise::sim {

namespace {

// The faults that this class injects; the others are part of a disk, a link or a clock.
constexpr Fault inflicted[] = {
    Fault::crash,           Fault::crash_in_step,    Fault::power_cut,
    Fault::pause,           Fault::suspend,          Fault::clock_rate,
    Fault::clock_rate_wild, Fault::disk_stall,       Fault::disk_slow,
    Fault::disk_error,      Fault::disk_wiped,       Fault::cut_split,
    Fault::clock_frozen,    Fault::clock_jump,       Fault::bit_flip,
    Fault::cut_isolate,     Fault::cut_one_way,      Fault::cut_bridge,
    Fault::cut_mute,        Fault::link_slow,        Fault::connection_reset,
    Fault::disk_damaged,    Fault::member_added,     Fault::member_promoted,
    Fault::member_removed,  Fault::disk_rolled_back, Fault::member_lies,
    Fault::disk_set_back,
};

}  // namespace

Nemesis::Nemesis(World& world, Cluster& cluster)
    : world_{world}, cluster_{cluster}, prng_{world.prng.next()} {}

// In half of the runs faults begin only when the cluster could have been formed.
void Nemesis::start() {
    const bool at_once = world_.swarm.stormy_start || prng_.one_in(2);
    const auto peace = at_once ? 0 : 10 * world_.swarm.election_timeout.count();
    world_.heap.after(peace, [this] { strike_later(); });
    if (world_.swarm.spiteful) world_.turmoil = [this] { strike_at_turmoil(); };
}

void Nemesis::stop() {
    stopped_ = true;
    cluster_.let_everybody_meet();
    world_.turmoil = nullptr;
}

// Strikes within the time that an election takes.
void Nemesis::strike_at_turmoil() {
    if (!prng_.one_in(3)) return;
    const auto soon = 2 * world_.swarm.network.delay_max + 2 * world_.swarm.disk.latency_max;
    world_.heap.after(prng_.between(0, soon), [this] {
        if (!stopped_) strike();
    });
}

void Nemesis::strike_later() {
    constexpr std::uint64_t storm_steps = 300;
    const bool storm = world_.swarm.stormy_start && world_.steps < storm_steps;
    const auto pace = storm ? world_.swarm.network.connect_max : world_.swarm.fault_pace;
    world_.heap.after(prng_.between(1, 2 * pace), [this] {
        if (stopped_) return;
        strike();
        strike_later();
    });
}

Fault Nemesis::draw_fault() {
    std::uint64_t total = 0;
    for (const auto fault : inflicted)
        total += world_.swarm.fault_weight[static_cast<std::size_t>(fault)];
    auto left = prng_.below(total);
    for (const auto fault : inflicted) {
        const auto weight = world_.swarm.fault_weight[static_cast<std::size_t>(fault)];
        if (total != 0 && left < weight) return fault;
        left -= weight;
    }
    return Fault::count;
}

core::NodeId Nemesis::draw_node() {
    const auto holder = world_.workload->holder({});
    if (holder.is_set() && prng_.one_in(4)) return holder;
    return cluster_.ids()[static_cast<std::size_t>(prng_.below(cluster_.size()))];
}

core::NodeId Nemesis::draw_running() {
    const auto leader = cluster_.leader();
    if (leader.is_set() && prng_.one_in(2)) return leader;
    return draw_node();
}

SimTime Nemesis::draw_length() {
    return prng_.between(1, 2 * world_.swarm.fault_length);
}

void Nemesis::strike() {
    if (world_.heap.now() < calm_until_) return;
    const auto fault = draw_fault();
    if (fault != Fault::count) inflict(fault);
}

void Nemesis::inflict(Fault fault) {
    switch (fault) {
        case Fault::crash:
        case Fault::crash_in_step: return crash(fault);
        case Fault::power_cut: return power_cut();
        case Fault::pause:
        case Fault::suspend: return pause(fault);
        case Fault::clock_rate:
        case Fault::clock_rate_wild: return change_rate(fault);
        case Fault::clock_frozen: return freeze_clock();
        case Fault::clock_jump: return jump_clock();
        case Fault::disk_stall:
        case Fault::disk_slow:
        case Fault::disk_error: return disturb_disk(fault);
        case Fault::disk_wiped:
        case Fault::disk_damaged: return wipe(fault);
        case Fault::disk_rolled_back: return roll_back();
        case Fault::disk_set_back: return take_image();
        case Fault::bit_flip: return flip_bit();
        case Fault::member_added:
        case Fault::member_promoted:
        case Fault::member_removed: return change_members(fault);
        case Fault::member_lies: return lie();
        case Fault::cut_split: return split();
        case Fault::cut_isolate: return isolate();
        case Fault::cut_one_way: return one_way();
        case Fault::cut_bridge: return bridge();
        case Fault::cut_mute: return mute();
        case Fault::link_slow: return slow_link();
        case Fault::connection_reset: return reset();
        default: return;
    }
}

void Nemesis::crash(Fault kind) {
    const auto node = draw_running();
    if (!cluster_.is_running(node)) return;
    world_.tally.fault(kind);
    if (kind == Fault::crash) {
        cluster_.crash(node);
        world_.workload->struck(node, kind);
    } else {
        cluster_.at(node).crash_in_step(prng_.below(8));
    }
}

void Nemesis::power_cut() {
    world_.tally.fault(Fault::power_cut);
    world_.timeline.say({}, "power cut");
    const bool is_of_machines =
        world_.swarm.durability == core::Durability::replicated && prng_.one_in(2);
    for (const auto node : cluster_.ids()) {
        if (is_of_machines)
            cluster_.at(node).cut_power();
        else
            cluster_.crash(node);
    }
}

void Nemesis::pause(Fault kind) {
    const auto node = draw_running();
    if (!cluster_.can_answer(node)) return;
    world_.tally.fault(kind);
    auto ends = world_.heap.now() + draw_length();
    // Grants that nobody uses are still there when their lease has ended.
    if (world_.swarm.workload.caches && prng_.one_in(2))
        ends += 2 * world_.swarm.session_ttl_ms * sim_millisecond;
    world_.workload->struck(node, kind);
    if (kind == Fault::pause) {
        cluster_.pause(node);
    } else {
        cluster_.suspend(node, ends);
    }
    // Some wake up cut off: messages that they received before are processed, and what they send is
    // lost.
    const bool alone = world_.swarm.is_on(Fault::cut_isolate) && prng_.one_in(2);
    world_.heap.at(ends, [this, node, alone] {
        if (stopped_) return;
        if (alone) isolate(node);
        cluster_.resume(node);
    });
}

// Mostly the same node has a wild clock: nothing is promised if a majority has.
core::NodeId Nemesis::draw_wild() {
    const auto one = world_.swarm.wild_clock_node;
    return one != 0 ? core::NodeId{1 + one % cluster_.size()} : draw_node();
}

void Nemesis::freeze_clock() {
    const auto node = draw_wild();
    world_.tally.fault(Fault::clock_frozen);
    world_.timeline.say(node, "its clocks stand still");
    cluster_.at(node).freeze_clock();
    world_.heap.after(draw_length(), [this, node] { cluster_.at(node).thaw_clock(); });
}

void Nemesis::jump_clock() {
    const auto node = draw_wild();
    world_.tally.fault(Fault::clock_jump);
    world_.timeline.say(node, "its clocks jump");
    const auto ttl = world_.swarm.session_ttl_ms * sim_millisecond;
    cluster_.at(node).jump_clock(core::Nanoseconds{prng_.between(1, 2 * ttl)});
}

void Nemesis::change_rate(Fault kind) {
    const bool wild = kind == Fault::clock_rate_wild;
    if (wild && is_on_trial()) return;
    const auto node = wild ? draw_wild() : draw_node();
    const auto bound = kind == Fault::clock_rate ? 10'000 : 600'000;
    // A fast clock is the one that might expire the sessions of others too early.
    const bool rushes = wild && (world_.swarm.lease_trial || prng_.one_in(2));
    const auto ppm = rushes ? prng_.between(300'000, 1'000'000) : prng_.between(-bound, bound);
    world_.tally.fault(kind);
    world_.timeline.say(node, "its clocks run at {} ppm",
                        static_cast<std::uint64_t>(1'000'000 + ppm));
    cluster_.at(node).set_clock_rate(ppm);
    if (rushes) tempt(node);
}

// A fast clock must not expire a session alone (S4). So the node with it leads, and the renewals of
// a holder are missing for about as long as a session lives.
void Nemesis::tempt(core::NodeId fast) {
    const auto leader = cluster_.leader();
    if (!leader.is_set() || !cluster_.can_answer(leader)) return;
    if (leader != fast) cluster_.call(leader, core::TransferLeadership{fast});
    const auto timeout = world_.swarm.election_timeout.count();
    const auto ttl = world_.swarm.session_ttl_ms * sim_millisecond;
    const auto length = prng_.between(ttl * 3 / 4, ttl * 3 / 2);
    trial_until_ = world_.heap.now() + 3 * timeout + length;
    world_.heap.after(prng_.between(timeout / 2, 2 * timeout), [this, fast, length] {
        const auto holder = world_.workload->holder(fast);
        if (stopped_ || !holder.is_set() || cluster_.leader() != fast) return;
        world_.workload->contest(holder, length);
        silence(holder, length);
    });
}

void Nemesis::disturb_disk(Fault kind) {
    const auto node = draw_running();
    auto& disk = cluster_.at(node).disk();
    if (kind == Fault::disk_error) {
        disk.fail_next_write();  // counted when it happens
        return;
    }
    world_.tally.fault(kind);
    const auto length = draw_length();
    if (kind == Fault::disk_stall) {
        world_.timeline.say(node, "its disk stalls");
        disk.stall_until(world_.heap.now() + length);
        world_.workload->struck(node, kind);
        return;
    }
    world_.timeline.say(node, "its disk is slow");
    auto slow = world_.swarm.disk;
    slow.latency_max += world_.swarm.election_timeout.count() / 2;
    disk.configure(slow);
    world_.heap.after(length,
                      [this, node] { cluster_.at(node).disk().configure(world_.swarm.disk); });
}

// Once there is a cluster, only so many disks are wiped at a time that a majority keeps what it
// has.
void Nemesis::wipe(Fault kind) {
    const auto node = draw_node();
    const bool founded = cluster_.is_founded();
    if (founded && !can_be_missed(node)) return;
    // An empty directory whose configuration names no other node would bootstrap, as configured;
    // and so would removed nodes that are empty together.
    const bool would_found =
        cluster_.founders().size() == 1 || world_.checker.configuration().find(node) == nullptr;
    const bool in_use = founded && cluster_.at(node).disk().platter().knows_cluster();
    const bool known = in_use && (kind == Fault::disk_damaged || would_found);
    if (founded && would_found && !known) return;
    if (founded && !known && !is_known_to_another_first_voter(node)) return;
    world_.tally.fault(kind);
    const auto former = known ? world_.checker.configuration().cluster : core::ClusterId{};
    cluster_.crash(node);
    cluster_.at(node).wipe_disk(former);
}

// If none of them knows the cluster, they bootstrap another one when they are not members any more:
// their disks do not show the first one (S47).
bool Nemesis::is_known_to_another_first_voter(core::NodeId than) const {
    const auto founders = cluster_.founders();
    return std::ranges::any_of(founders, [&](core::NodeId founder) {
        const auto& platter = cluster_.at(founder).disk().platter();
        return founder != than && (platter.knows_cluster() || platter.former_cluster.is_set());
    });
}

// True if the nodes that have everything they promised are a majority without it. One that was told
// that it forgot something, and does not know yet that it counts again, votes for nobody.
bool Nemesis::can_be_missed(core::NodeId node) const {
    auto others = std::set(cluster_.ids().begin(), cluster_.ids().end());
    std::erase_if(others, [&](core::NodeId id) {
        return id == node || (cluster_.is_running(id) && cluster_.at(id).raft().is_doubted());
    });
    return cluster_.is_quorum(others);
}

// Rolls back to an image with which the node cannot decide alone, because otherwise none could
// detect it.
void Nemesis::roll_back() {
    const auto node = draw_node();
    const auto* image = cluster_.at(node).disk().former_image();
    if (image == nullptr || !can_be_missed(node) || cluster_.has_forgetful()) return;
    const auto alone = [&](core::NodeId voter) { return voter == node; };
    if (core::has_quorum(image->newest_configuration(), alone)) return;
    world_.tally.fault(Fault::disk_rolled_back);
    cluster_.crash(node);
    cluster_.at(node).roll_back();
    // Another one forgets what it heard of the node, and has to learn it from the state.
    const auto another = draw_running();
    if (prng_.one_in(2) && another != node && cluster_.is_running(another)) cluster_.crash(another);
}

// On a disk whose loss would leave a majority. Some damaged data is read soon.
void Nemesis::flip_bit() {
    const auto node = draw_node();
    auto& disk = cluster_.at(node).disk();
    if (!cluster_.is_founded() || !can_be_missed(node)) return;
    if (!disk.platter().knows_cluster() || !disk.flip_bit()) return;
    world_.tally.fault(Fault::bit_flip);
    world_.timeline.say(node, "a bit of its disk flips");
    if (prng_.one_in(2)) cluster_.crash(node);
}

// Simulates two operators who do not coordinate.
void Nemesis::change_members(Fault kind) {
    const auto leader = cluster_.leader();
    if (!leader.is_set() || !cluster_.can_answer(leader)) return;
    const auto& present = cluster_.at(leader).raft().configuration();
    auto node = draw_node();
    if (kind == Fault::member_promoted && !present.learners.empty() && !prng_.one_in(4)) {
        node = present.learners[prng_.below(present.learners.size())].id;
    }
    if (kind == Fault::member_removed && present.voters.size() < 3 && !prng_.one_in(4)) return;
    // Without one that remembers, the others may need an era. A node that was told of its
    // forgetting votes for nobody until the leader tells it that it counts again, or for a minute.
    const auto gives_no_vote = [&](core::NodeId id) {
        const auto& its = cluster_.at(id);
        return its.disk().platter().unsynced == core::Unsynced::forgotten ||
               (its.is_running() && its.raft().is_doubted());
    };
    if (std::ranges::any_of(cluster_.ids(), gives_no_vote)) return;
    world_.tally.fault(kind);
    world_.timeline.say(leader, "is asked to change its members, node {}", node.raw());
    core::MembershipGoal goal{core::MembershipGoal::Kind::gone, node, {}};
    if (kind == Fault::member_added) {
        goal.kind = core::MembershipGoal::Kind::learner;
        goal.address = "node" + std::to_string(node.raw());
    } else if (kind == Fault::member_promoted) {
        goal.kind = core::MembershipGoal::Kind::voter;
    }
    // Its deadline has passed: it is done now or not at all. So no change begins after the faults
    // have ended.
    core::Calls once;
    constexpr core::Instant over{std::numeric_limits<std::int64_t>::min()};
    once.calls.push_back(core::ChangeCall{{}, std::move(goal), over});
    cluster_.call(leader, std::move(once));
}

}  // namespace mortise::sim
