// How a simulated node starts, dies, is suspended and resumes.
#include <algorithm>
#include <limits>
#include <utility>

#include "tests/sim/base/client_ids.hpp"
#include "tests/sim/base/formats.hpp"
#include "tests/sim/world/sim_node.hpp"

namespace mortise::sim {

SimNode::SimNode(core::NodeId id, std::vector<core::Member> voters, World& world, NodeOwner& owner)
    : id_{id},
      voters_{std::move(voters)},
      world_{world},
      owner_{owner},
      prng_{world.prng.next()},
      disk_{world.heap, world.tally, *this, prng_.next()},
      clock_{0, 0},
      walls_{world.walls ^ id.raw()} {
    disk_.configure(world.swarm.disk);
    disk_.wipe(core::Incarnation{prng_.next() | 1U});
    world_.checker.attach(id_, disk_.platter());
    reset_clock();
}

// Longer than any run, so that no clock reaches the limit.
constexpr std::int64_t limit_margin = 24 * 3'600 * sim_second;

void SimNode::reset_clock() {
    using Limits = std::numeric_limits<std::int64_t>;
    const auto rate = clock_.rate_ppm();
    auto steady = prng_.between(0, 1'000 * sim_second);
    auto boot = steady + prng_.between(0, 1'000 * sim_second);
    if (world_.swarm.is_on(Fault::clock_near_limit) && prng_.one_in(2)) {
        world_.tally.fault(Fault::clock_near_limit);
        steady = prng_.one_in(2) ? Limits::max() - limit_margin : Limits::min();
        boot = prng_.one_in(2) ? Limits::max() - limit_margin : 0;
    }
    clock_ = SimClock{steady, boot, world_.heap.now()};
    clock_.set_rate(world_.heap.now(), rate);
}

core::NodeOptions SimNode::draw_options() {
    core::NodeOptions options;
    options.self = id_;
    options.generation = {disk_.platter().incarnation, disk_.platter().boot_epoch};
    options.voters = voters_;
    options.election_timeout = world_.swarm.election_timeout;
    options.heartbeat = world_.swarm.heartbeat;
    if (world_.swarm.mixed_timing) {
        options.election_timeout /= prng_.between(1, impatience_max);
        options.heartbeat = options.election_timeout / heartbeats_min;
    }
    options.log_bytes_max = world_.swarm.log_bytes_max;
    options.apply_bytes_max = world_.swarm.apply_bytes_max;
    options.install_bytes_max = world_.swarm.install_bytes_max;
    options.state_lag_bytes_max = world_.swarm.state_lag_bytes_max;
    options.compare_every = world_.swarm.compare_every;
    options.snapshot_bytes_max = world_.swarm.snapshot_bytes_max;
    options.session_ttl_ms = world_.swarm.session_ttl_ms;
    options.window = world_.swarm.window;
    options.call_timeout = world_.swarm.call_timeout;
    options.state_interval = core::Nanoseconds{world_.swarm.state_interval};
    options.former_life_ended = life_ > 0 && !machine_restarted_;
    options.seed = prng_.next();
    if (options.seed % 2 == 0) options.changes_kept.changes = 16;
    options.generation.life = prng_.next();
    options.command_format = command_format_;
    options.origin.host = host_of(id_);
    const bool knows_it = command_format_ >= core::command_format_of_ceilings;
    options.durability = knows_it ? world_.swarm.durability : core::Durability::synced;
    if (world_.swarm.durability_changes && prng_.one_in(4))
        options.durability = core::Durability::synced;
    if (!world_.swarm.lies) options.access = world_.swarm.access_of(id_);
    return options;
}

void SimNode::start() {
    if (is_running()) return;
    dead_ = false;
    begins_anew_ = false;
    effects_left_ = 0;
    const bool restarts = life_ > 0 && (prng_.one_in(3) || power_was_cut_);
    machine_restarted_ = restarts && restart_machine();
    power_was_cut_ = false;
    if (disk_.may_be_damaged()) look_for_damage();
    if (world_.swarm.upgrade) upgrade_sometimes();
    const bool in_use = disk_.platter().knows_cluster() && !world_.checker.is_rolled_back(id_);
    if (in_use && world_.swarm.is_on(Fault::disk_rolled_back)) disk_.take_image();
    auto state = disk_.recover();
    if (!state) {
        world_.violations.report(id_, "recovery: the rows on disk make no machine");
        return;
    }
    say("starts, log to index {}, applied {}", disk_.platter().last().index.raw(),
        state->raft.applied.raw());
    try {
        driver_ = std::make_unique<Driver>(draw_options(), std::move(*state),
                                           DriverPorts{*this, *this, *this, *this}, read_clocks());
    } catch (const std::exception& broken) {
        world_.violations.report(id_, broken.what());
        return;
    }
    ++life_;
    newest_mark_ = {};
    driver_->check_every_step(true);
    check_recovered_state();
    world_.checker.started(id_, raft());
    world_.workload->node_started(id_);
    set_timer();
    schedule_flush();
}

bool SimNode::restart_machine() {
    const bool is_synced = disk_.platter().unsynced == core::Unsynced::nothing;
    const auto loss = is_synced ? PowerLoss::of_nothing : owner_.power_loss_of(id_);
    if (loss == PowerLoss::never) return false;
    reset_clock();
    disk_.lose_power(loss == PowerLoss::of_entries);
    world_.checker.lost_power(id_);
    return true;
}

void SimNode::look_for_damage() {
    disk_.has_looked();
    if (!disk_.is_damaged()) return;
    world_.tally.probe("damage found at a start");
    set_aside();
}

// Nodes are never downgraded.
void SimNode::upgrade_sometimes() {
    const bool is_first = life_ == 0;
    if (is_first ? prng_.one_in(4) : prng_.one_in(3)) command_format_ = later_format;
    // The earlier version knows no eras, so it does not join a cluster that may have begun one.
    const bool is_spare = id_.raw() > world_.swarm.nodes - world_.swarm.spares;
    const bool may_join_later = is_spare || !is_first;
    if (may_join_later && world_.swarm.durability == core::Durability::replicated)
        command_format_ = later_format;
    say("reads commands up to format {}", command_format_);
}

// Moves the whole content aside, and keeps only the cluster id.
void SimNode::set_aside() {
    wipe_disk(disk_.platter().newest_configuration().cluster);
}

void SimNode::roll_back() {
    disk_.roll_back();
    say("its disk goes back to log index {}", disk_.platter().last().index.raw());
    world_.checker.rolled_back(id_);
}

void SimNode::set_back() {
    disk_.set_back();
    say("its disk goes back within its life, to log index {}", disk_.platter().last().index.raw());
    world_.checker.rolled_back(id_);
}

void SimNode::begin_anew() {
    crash();
    set_aside();
    owner_.begins_anew(id_);
}

// A snapshot of the state would be sent with this configuration.
void SimNode::check_recovered_state() {
    const auto& platter = disk_.platter();
    if (!platter.applied.is_set()) return;
    if (raft().configuration_at(platter.applied) == platter.configuration_there) return;
    world_.violations.report(id_, "recovery: the state has another configuration than the log");
}

void SimNode::cut_power() {
    crash();
    power_was_cut_ = true;
}

void SimNode::crash() {
    if (!is_running()) return;
    if (raft().is_leader()) world_.tally.probe("leader crashed");
    say("crashes, {} writes in flight", disk_.in_flight());
    world_.trace.number(id_.raw() << 8U | 0xffU);
    resume_clock();
    world_.checker.stopped(id_);
    world_.streams.node_lost(id_);
    world_.observations.node_lost(id_);
    driver_.reset();
    disk_.crash();
    ++life_;
    ++timer_;
    timer_at_ = sim_never;
    paused_ = false;
    parked_.clear();
    unsynced_.clear();
    world_.workload->node_lost(id_);
    owner_.died(id_);
}

void SimNode::wipe_disk(core::ClusterId former) {
    say("gets an empty disk, lost log to index {}", disk_.platter().last().index.raw());
    disk_.wipe(core::Incarnation{prng_.next() | 1U}, former);
    world_.checker.wiped(id_);
}

void SimNode::set_clock_rate(std::int64_t ppm) {
    clock_.set_rate(world_.heap.now(), ppm);
    slowest_ppm_ = std::min(slowest_ppm_, ppm);
    fastest_ppm_ = std::max(fastest_ppm_, ppm);
    if (is_running() && !paused_) set_timer();
}

void SimNode::thaw_clock() {
    if (clock_.rate_ppm() == SimClock::frozen_ppm) set_clock_rate(0);
}

// Counts as a fast clock for that moment.
void SimNode::jump_clock(core::Nanoseconds forward) {
    constexpr std::int64_t rushes_ppm = 1'000'000;
    fastest_ppm_ = std::max(fastest_ppm_, rushes_ppm);
    clock_.jump(world_.heap.now(), forward);
    if (is_running() && !paused_) set_timer();
}

void SimNode::calm_down() {
    disk_.calm_down();
    effects_left_ = 0;
    set_clock_rate(prng_.between(-10'000, 10'000));
}

void SimNode::pause() {
    if (!is_running() || paused_) return;
    if (raft().is_leader()) world_.tally.probe("paused leader");
    say("is paused");
    paused_ = true;
}

void SimNode::suspend(SimTime until) {
    if (!is_running() || paused_) return;
    pause();
    suspended_ = true;
    clock_.suspend(world_.heap.now());
    disk_.stall_until(until);
}

void SimNode::resume_clock() {
    if (std::exchange(suspended_, false)) clock_.wake(world_.heap.now());
}

void SimNode::resume() {
    if (!is_running() || !paused_) return;
    say("goes on, {} events waiting", parked_.size());
    resume_clock();
    paused_ = false;
    catch_up();
    if (is_running()) set_timer();
}

// Reports that arrived during the suspend, writes above all, come before later events.
void SimNode::catch_up() {
    const auto life = life_;
    const bool late = driver_->deadline() <= clock_.at(world_.heap.now()).steady;
    catching_up_ = true;
    // After a suspend either the timer or the messages may come first in the host's loop.
    if (late && prng_.one_in(2)) step(core::TimerFired{});
    while (life == life_ && !parked_.empty()) {
        auto event = std::move(parked_.front());
        parked_.pop_front();
        step(std::move(event));
    }
    catching_up_ = false;
}

// --- the state on disk -------------------------------------------------------------------------

void SimNode::schedule_flush() {
    const auto pace = world_.swarm.flush_pace;
    world_.heap.after(prng_.between(pace / 2, pace * 3 / 2), [this, life = life_] {
        if (life != life_) return;
        if (!paused_) flush();
        schedule_flush();
    });
}

// A node that would soon accept nothing is flushed in any case.
bool SimNode::may_flush() const {
    if (world_.never_flushes == id_) return false;
    const auto lag = driver_->core().state_lag_bytes();
    return !world_.flushes_off || lag > world_.swarm.state_lag_bytes_max / 2;
}

// A node may die after the data is on the platter and before it is informed.
void SimNode::flush() {
    if (!may_flush()) return;
    const auto durable = disk_.flush_state();
    if (!durable) return;
    const auto latency = prng_.between(0, 4 * world_.swarm.disk.latency_max);
    world_.heap.after(latency, [this, index = *durable, life = life_] {
        if (life == life_ && may_flush()) handle(core::StateDurable{index});
    });
}

}  // namespace mortise::sim
