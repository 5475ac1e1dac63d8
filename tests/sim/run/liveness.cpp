#include "tests/sim/run/liveness.hpp"

#include <algorithm>
#include <utility>

#include "core/raft/bounds.hpp"
#include "tests/sim/base/in_words.hpp"

namespace mortise::sim {

namespace {

constexpr SimTime timeouts_max = 10;  // until there must be a leader
constexpr SimTime idle_timeouts = 3;

bool is_in(const std::vector<core::Member>& members, core::NodeId id) {
    return std::ranges::find(members, id, &core::Member::id) != members.end();
}

}  // namespace

Liveness::Liveness(World& world, Cluster& cluster)
    : world_{world}, cluster_{cluster}, prng_{world.prng.next()} {}

// Nodes that are members whatever the result of changes in progress: a node that is being removed
// is gone soon. A node whose disk was replaced is among them: it returns, but does not count yet.
std::vector<core::NodeId> Liveness::able() const {
    if (!cluster_.is_founded()) return cluster_.founders();
    std::vector<core::NodeId> nodes;
    const auto configurations = cluster_.configurations();
    for (const auto id : cluster_.ids()) {
        const bool stays = std::ranges::all_of(configurations, [&](const auto& each) {
            return is_in(each.voters, id) || is_in(each.learners, id);
        });
        if (stays && !cluster_.is_liar(id)) nodes.push_back(id);
    }
    return nodes;
}

// A node that formed the cluster, sent the offer to none, and then lost its disk cannot know that
// no node accepted the offer: it cannot bootstrap until its directory is removed. And every voter
// is needed, so nothing is promised if one of them has lied: its peers remember what it said.
bool Liveness::can_be_founded() const {
    const auto founders = cluster_.founders();
    if (std::ranges::any_of(founders, [&](core::NodeId id) { return cluster_.is_liar(id); }))
        return false;
    return std::ranges::none_of(cluster_.founders(), [&](core::NodeId id) {
        return cluster_.at(id).disk().platter().former_cluster.is_set();
    });
}

bool Liveness::begin() {
    if (!cluster_.is_founded() && !can_be_founded()) return false;
    choose_core(able());
    if (core_.empty()) return false;
    leave_out_whose_state_stands();
    const auto everybody = cluster_.size();
    if (core_.size() < everybody) world_.tally.probe("liveness with a minority outside");
    if (!cluster_.is_founded()) world_.tally.probe("liveness formed the cluster");
    world_.tally.probe("liveness checked");
    std::uint64_t shown = 0;
    for (const auto id : core_)
        shown = shown * 10 + id.raw();
    world_.timeline.say({}, "faults are over for the nodes {}", shown);
    calm_network();
    cut_off_the_others();
    wake_core();
    world_.workload->begin_liveness(core_);
    began_ = world_.heap.now();
    led_by_ = began_ + timeouts_max * world_.swarm.election_timeout.count() + meeting_time();
    // Twice the time in which the session of a dead node expires (P8), since a node may die late.
    const auto ttl = world_.swarm.session_ttl_ms * sim_millisecond;
    deadline_ = led_by_ + 2 * ttl + transfer_time() + silence_time() + closed_time();
    return true;
}

// A node whose state stands still does not learn the outcome of its calls, and does not cancel a
// call for several names that follows others until it does. It keeps these names until it lets its
// session end.
SimTime Liveness::silence_time() const {
    if (!world_.never_flushes.is_set()) return 0;
    const auto renewed_every = world_.swarm.session_ttl_ms * sim_millisecond / 3;
    return core::renewals_unseen_max * renewed_every;
}

// No session opens until a quorum has counted the longest lease of those that an era ended.
SimTime Liveness::closed_time() const {
    if (!cluster_.is_founded() || cluster_.is_quorum({core_.begin(), core_.end()})) return 0;
    world_.tally.probe("liveness after an era");
    return 2 * world_.swarm.session_ttl_ms * sim_millisecond;
}

// A liar may have moved terms so far away that they meet in steps (docs/decisions/0064), at most
// four in an election timeout.
SimTime Liveness::meeting_time() const {
    const auto term = [&](core::NodeId id) {
        const auto durable = cluster_.at(id).disk().platter().hard_state.term;
        return cluster_.can_answer(id) ? std::max(durable, cluster_.at(id).raft().term()).raw()
                                       : durable.raw();
    };
    const auto [lowest, highest] = std::ranges::minmax(core_, {}, term);
    const auto steps = (term(highest) - term(lowest)) / core::term_step_max;
    if (steps != 0) world_.tally.probe("liveness with terms far apart");
    return static_cast<SimTime>((steps + 3) / 4) * world_.swarm.election_timeout.count();
}

// The time to transfer the largest state, chunk by chunk, to a node that has to begin anew: each
// chunk is requested when the previous one is on disk.
SimTime Liveness::transfer_time() const {
    std::size_t largest = 0;
    for (const auto id : core_) {
        std::size_t bytes = 0;
        for (const auto& [key, value] : cluster_.at(id).disk().platter().rows)
            bytes += key.size() + value.size();
        largest = std::max(largest, bytes);
    }
    const auto pieces = static_cast<SimTime>(largest / world_.swarm.snapshot_bytes_max + 1);
    const auto& disk = world_.swarm.disk;
    return pieces * (2 * world_.swarm.network.delay_max + 5 * disk.latency_max);
}

// The other founders learn of the cluster from one that formed it.
bool Liveness::can_go_on(const std::set<core::NodeId>& nodes) const {
    const bool is_formed = std::ranges::any_of(
        nodes, [&](core::NodeId id) { return cluster_.at(id).disk().platter().knows_cluster(); });
    return is_formed && (cluster_.is_quorum(nodes) || cluster_.is_complete(nodes));
}

void Liveness::choose_core(std::vector<core::NodeId> nodes) {
    // The bootstrap needs all voters.
    if (!cluster_.is_founded()) {
        core_ = nodes;
        return;
    }
    const auto is_enough = [&](const std::vector<core::NodeId>& some) {
        return can_go_on({some.begin(), some.end()});
    };
    if (!is_enough(nodes)) return;
    std::erase_if(nodes, [&, present = std::set(nodes.begin(), nodes.end())](core::NodeId id) {
        return cluster_.needs_a_person(id, present);
    });
    if (!is_enough(nodes)) return;
    auto to_leave = prng_.one_in(3) ? 0 : prng_.below(nodes.size());
    // A node that was told of its forgetting counts again when the leader that told it says so
    // (docs/decisions/0077), so nobody may be left out.
    const auto is_doubted = [&](core::NodeId id) {
        return cluster_.at(id).is_running() && cluster_.at(id).raft().is_doubted();
    };
    if (std::ranges::any_of(nodes, is_doubted)) to_leave = 0;
    for (; to_leave > 0; --to_leave) {
        auto fewer = nodes;
        fewer.erase(fewer.begin() + static_cast<std::ptrdiff_t>(prng_.below(fewer.size())));
        if (is_enough(fewer)) nodes = fewer;
    }
    core_ = nodes;
}

// The node continues, connected with all others, and must not delay them. If they are no majority
// without it, its disk works from now on.
void Liveness::leave_out_whose_state_stands() {
    const auto stands = std::exchange(world_.never_flushes, {});
    auto others = std::set(core_.begin(), core_.end());
    if (others.erase(stands) == 0 || !cluster_.is_founded() || !cluster_.is_quorum(others)) return;
    world_.never_flushes = stands;
    core_.assign(others.begin(), others.end());
    world_.tally.probe("liveness with a state that stands still");
}

void Liveness::calm_network() {
    const auto timeout = world_.swarm.election_timeout.count();
    auto calm = world_.swarm.network;
    calm.delay_max = std::min(calm.delay_max, timeout / 20);
    calm.delay_min = std::min(calm.delay_min, calm.delay_max);
    calm.connect_max = std::min(calm.connect_max, timeout / 4);
    calm.loss_ppm = 0;
    calm.repeat_ppm = 0;
    calm.overtake_ppm = 0;
    world_.swarm.network = calm;
    cluster_.network().configure(calm);
    auto& disk = world_.swarm.disk;
    disk.latency_max = std::min(disk.latency_max, timeout / 20);
    disk.latency_min = std::min(disk.latency_min, disk.latency_max);
    world_.swarm.timer_slack = std::min(world_.swarm.timer_slack, timeout / 20);
    world_.flushes_off = true;
    if (world_.swarm.is_lag_small()) {
        world_.swarm.flush_pace = std::min<SimTime>(world_.swarm.flush_pace, timeout / 8);
    }
}

bool Liveness::is_in_core(core::NodeId node) const {
    return std::ranges::find(core_, node) != core_.end();
}

// Running, paused or dead, they stay as they are; the core receives nothing from them, or at least
// they receive nothing from the core.
void Liveness::cut_off_the_others() {
    auto& network = cluster_.network();
    network.heal_all();
    const bool heard = prng_.one_in(4);
    for (const auto outside : cluster_.ids()) {
        if (is_in_core(outside) || outside == world_.never_flushes) continue;
        // otherwise it would continue to lead for an unknown time
        cluster_.at(outside).thaw_clock();
        for (const auto inside : core_) {
            if (!heard) network.cut(outside, inside, prng_.one_in(2));
            network.cut(inside, outside, prng_.one_in(2));
        }
    }
}

void Liveness::wake_core() {
    cluster_.restart_crashed(false);
    auto awake = core_;
    if (world_.never_flushes.is_set()) awake.push_back(world_.never_flushes);
    for (const auto id : awake) {
        auto& node = cluster_.at(id);
        node.disk().configure(world_.swarm.disk);
        node.calm_down();
        cluster_.resume(id);
        cluster_.start(id);
    }
}

bool Liveness::is_running_core() const {
    return std::ranges::all_of(core_, [&](core::NodeId id) { return cluster_.can_answer(id); });
}

bool Liveness::is_led() const {
    const auto leader = cluster_.leader();
    return leader.is_set() && (is_in_core(leader) || leader == world_.never_flushes) &&
           cluster_.at(leader).raft().has_committed_own_term();
}

// If states are installed slowly, a majority may have to wait for one.
void Liveness::look_for_a_leader() {
    if (led_after_) return;
    const auto now = world_.heap.now();
    const bool is_owed = !world_.swarm.is_install_bounded() && !is_void();
    if (is_led()) {
        led_after_ = now - began_;
    } else if (now > led_by_ && is_owed) {
        world_.violations.report({},
                                 "no progress: no leader that commits in ten election timeouts");
    }
}

bool Liveness::is_void() const {
    return cluster_.is_founded() && !can_go_on({core_.begin(), core_.end()});
}

std::string Liveness::missing() const {
    if (!is_running_core()) return "a node of the core is down";
    const auto leader = cluster_.leader();
    if (!leader.is_set()) return "no leader";
    if (!is_in_core(leader) && leader != world_.never_flushes)
        return "node " + in_words(leader) + " outside still leads";
    auto owed = world_.workload->still_owed();
    if (!owed.empty()) return owed;
    const auto& leading = cluster_.at(leader).raft();
    if (leading.configuration().is_joint() || !leading.is_configuration_committed()) {
        return "a change of the members is under way";
    }
    const auto commit = leading.commit_index();
    for (const auto id : core_) {
        const auto& raft = cluster_.at(id).raft();
        if (world_.checker.is_lost(id) || !raft.is_member()) {
            return "node " + in_words(id) + " is not back as a member";
        }
        const auto applied = cluster_.at(id).driver().core().applied_index();
        if (applied == commit && raft.term() == leading.term()) continue;
        return "node " + in_words(id) + " is at index " + in_words(applied) + ", the leader at " +
               in_words(commit);
    }
    return {};
}

// The oldest messages were duplicated, delayed and on a slow link.
SimTime Liveness::settle_until() const {
    const auto timeout = world_.swarm.election_timeout.count();
    return world_.heap.now() + 2 * timeout + 2 * world_.swarm.network.overtake_max;
}

void Liveness::begin_idle() {
    const auto length = idle_timeouts * world_.swarm.election_timeout.count();
    idle_until_ = world_.heap.now() + length;
    idle_leader_ = cluster_.leader();
    idle_term_ = cluster_.at(idle_leader_).raft().term();
    idle_messages_ = cluster_.network().messages_sent();
    if (prng_.one_in(2)) {
        let_the_others_talk();
    } else {
        cut_off_one();
    }
}

// Cuts these nodes off from all but the leader: they request an election that no other node needs.
void Liveness::let_the_others_talk() {
    for (const auto outside : cluster_.ids()) {
        if (is_in_core(outside)) continue;
        for (const auto inside : core_) {
            if (inside == idle_leader_) continue;
            cluster_.network().heal(outside, inside);
            cluster_.network().heal(inside, outside);
        }
        if (cluster_.can_answer(outside)) world_.tally.probe("outsider calls for an election");
    }
}

// Cuts a node off from the leader alone, if the leader has a majority without it: the other nodes
// have no reason to follow it.
void Liveness::cut_off_one() {
    for (const auto inside : core_) {
        auto others = std::set(core_.begin(), core_.end());
        others.erase(inside);
        if (inside == idle_leader_ || !cluster_.is_quorum(others)) continue;
        cluster_.network().cut(inside, idle_leader_, false);
        cluster_.network().cut(idle_leader_, inside, false);
        world_.tally.probe("member cut off from its leader alone");
        return;
    }
}

// A renewal may be an entry of its own: it is requested, appended and committed, and every node
// answers both messages.
std::uint64_t Liveness::renewal_messages(SimTime length) const {
    const auto renewed_every = world_.swarm.session_ttl_ms * sim_millisecond / 3;
    const auto renewals = static_cast<std::uint64_t>(length / renewed_every) + 1;
    const auto sessions = cluster_.size() + world_.swarm.clients;
    return sessions * renewals * (1 + 4 * (cluster_.size() - 1));
}

// Heartbeats and their answers, and twice that for messages in transit; and no node had a reason to
// request an election.
void Liveness::end_idle() {
    const auto said = cluster_.network().messages_sent() - idle_messages_;
    const auto length = idle_timeouts * world_.swarm.election_timeout.count();
    const auto beats = static_cast<std::uint64_t>(length / world_.swarm.heartbeat.count()) + 2;
    if (said > 4 * cluster_.size() * beats + renewal_messages(length)) {
        world_.violations.report({}, "message flood: " + std::to_string(said) + " messages in " +
                                         std::to_string(beats) + " idle heartbeats");
    }
    // A leader whose state stands still leads only until it has no capacity.
    const bool may_end = idle_leader_ == world_.never_flushes;
    if (!may_end && !cluster_.at(idle_leader_).raft().is_leader()) {
        world_.violations.report(idle_leader_, "unrest: the leader changed while all was well");
    }
    for (const auto inside : core_) {
        if (may_end || cluster_.at(inside).raft().term() == idle_term_) continue;
        world_.violations.report(inside, "unrest: a new term while all was well");
    }
    for (const auto outside : cluster_.ids()) {
        if (is_in_core(outside) || !cluster_.can_answer(outside)) continue;
        if (outside == world_.never_flushes || !cluster_.at(outside).raft().is_leader()) continue;
        world_.violations.report(outside, "check-quorum: leads on without hearing from anybody");
    }
}

}  // namespace mortise::sim
