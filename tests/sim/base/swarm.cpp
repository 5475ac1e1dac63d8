#include "tests/sim/base/swarm.hpp"

#include <algorithm>
#include <bit>

namespace mortise::sim {

namespace {

// Each power of two is equally likely, because delays matter by their order of magnitude.
SimTime draw_scale(core::Prng& prng, SimTime low, SimTime high) {
    const auto ratio = static_cast<std::uint64_t>(std::max<SimTime>(high / low, 1));
    const auto doublings = static_cast<unsigned>(std::bit_width(ratio) - 1);
    const auto base = low << prng.below(doublings + 1);
    return std::min(high, prng.between(base, 2 * base));
}

bool percent(core::Prng& prng, std::uint64_t chance) {
    return prng.below(100) < chance;
}

void draw_faults(core::Prng& prng, Swarm& swarm) {
    if (prng.one_in(12)) return;  // a calm run
    constexpr std::uint64_t chances[] = {15, 35, 60};
    const auto chance = chances[prng.below(3)];
    for (std::size_t i = 0; i < fault_count; ++i) {
        // See draw_liar() and draw_images().
        const auto fault = static_cast<Fault>(i);
        if (fault == Fault::member_lies || fault == Fault::disk_set_back) continue;
        if (percent(prng, chance)) swarm.fault_weight[i] = 1 + prng.below(10);
    }
    // Members that are added are also removed.
    const auto weight_of = [&](Fault fault) -> std::uint64_t& {
        return swarm.fault_weight[static_cast<std::size_t>(fault)];
    };
    const auto churn = percent(prng, 25) ? 2 + prng.below(10) : 0;
    weight_of(Fault::member_added) = churn;
    weight_of(Fault::member_promoted) = churn;
    weight_of(Fault::member_removed) = (churn + 1) / 2;
    // Rare faults: nothing else can happen after a power cut, and a lost disk takes time to
    // replace.
    for (const auto rare : {Fault::power_cut, Fault::disk_wiped, Fault::disk_damaged,
                            Fault::disk_rolled_back, Fault::bit_flip}) {
        auto& weight = swarm.fault_weight[static_cast<std::size_t>(rare)];
        weight = std::min<std::uint64_t>(weight, 1);
    }
}

// The bootstrap takes a moment of each run; here all faults that can disturb it happen in that
// moment.
void draw_stormy_start(Swarm& swarm) {
    swarm.stormy_start = true;
    for (const auto fault : {Fault::crash, Fault::crash_in_step, Fault::disk_wiped,
                             Fault::message_overtaken, Fault::message_late, Fault::pause}) {
        swarm.fault_weight[static_cast<std::size_t>(fault)] = 5;
    }
}

// Tests what a lease guarantees, without other faults: either a holder receives late and its
// messages are lost, or the leader's clock is fast; and the other nodes contend for the holder's
// names.
void draw_lease_trial(core::Prng& prng, Swarm& swarm) {
    swarm.lease_trial = true;
    swarm.nodes = std::max<std::size_t>(swarm.nodes - swarm.spares, 3);
    swarm.spares = 0;
    swarm.fault_weight = {};
    const auto set = [&](Fault fault, std::uint64_t weight) {
        swarm.fault_weight[static_cast<std::size_t>(fault)] = weight;
    };
    set(Fault::cut_mute, 4);
    set(Fault::clock_rate_wild, 4);
    for (const auto also : {Fault::pause, Fault::suspend, Fault::crash, Fault::message_overtaken}) {
        if (percent(prng, 25)) set(also, 1);
    }
}

NetworkOptions draw_network(core::Prng& prng, const Swarm& swarm) {
    const auto timeout = swarm.election_timeout.count();
    NetworkOptions network;
    network.delay_min = draw_scale(prng, 20 * sim_microsecond, timeout / 50);
    const auto slowest = prng.one_in(8) ? timeout / 2 : timeout / 8;
    network.delay_max = network.delay_min + draw_scale(prng, 10 * sim_microsecond, slowest);
    const auto rate = [&](Fault fault, std::uint64_t most) {
        return swarm.is_on(fault) ? 1 + prng.below(most) : 0;
    };
    network.loss_ppm = rate(Fault::message_lost, prng.one_in(3) ? 300'000 : 20'000);
    network.repeat_ppm = rate(Fault::message_repeated, prng.one_in(3) ? 300'000 : 20'000);
    network.overtake_ppm = rate(Fault::message_overtaken, prng.one_in(3) ? 300'000 : 20'000);
    network.overtake_max = draw_scale(prng, sim_millisecond, 2 * timeout);
    network.late_messages = swarm.is_on(Fault::message_late);
    network.connect_max = draw_scale(prng, sim_millisecond, timeout / 2);
    network.silence_max = draw_scale(prng, timeout / 2, 5 * timeout);
    return network;
}

DiskOptions draw_disk(core::Prng& prng, SimTime timeout) {
    DiskOptions disk;
    disk.latency_min = draw_scale(prng, 10 * sim_microsecond, timeout / 50);
    const auto slowest = prng.one_in(8) ? timeout / 2 : timeout / 10;
    disk.latency_max = disk.latency_min + draw_scale(prng, 10 * sim_microsecond, slowest);
    if (prng.one_in(4)) disk.at_once_ppm = prng.below(1'000'000);
    return disk;
}

WorkloadOptions draw_workload(core::Prng& prng, SimTime timeout) {
    WorkloadOptions workload;
    workload.pace = draw_scale(prng, timeout / 200, timeout);
    workload.read_percent = prng.below(60);
    workload.transfer_permille = prng.one_in(3) ? prng.below(40) : 2;
    workload.names = 1 + prng.below(5);
    // More than are ever in progress together.
    if (prng.one_in(16)) {
        workload.names = 3'000 + prng.below(3'000);
        workload.burst = 32 + prng.below(64);
    }
    return workload;
}

// Conversions, several names, priorities and policies: some runs have none of them, so that the
// other features are exercised more deeply.
void draw_features(core::Prng& prng, WorkloadOptions& workload) {
    if (workload.burst != 0 || prng.one_in(4)) return;
    if (prng.one_in(2)) workload.conversion_percent = 10 + prng.below(80);
    if (prng.one_in(2)) workload.several_percent = 5 + prng.below(50);
    if (prng.one_in(3)) workload.priority_percent = 5 + prng.below(90);
    if (prng.one_in(2)) workload.policy = queue_policies[prng.below(queue_policies.size())];
}

// Lockers, holds that outlive their lease, values, and breaks.
void draw_ties(core::Prng& own, Swarm& swarm) {
    auto& workload = swarm.workload;
    if (workload.burst != 0) return;
    if (own.one_in(5)) {
        workload.locker_percent = 10 + own.below(90);
        // The specification examines every waiter for each command.
        workload.pace = std::max<SimTime>(workload.pace, swarm.election_timeout.count() / 20);
    }
    // Lease trials cause suspensions.
    if (own.one_in(swarm.lease_trial ? 2 : 5)) workload.suspend_percent = 10 + own.below(90);
    if (own.one_in(5)) workload.write_percent = 10 + own.below(90);
    // The search of tests/check does not support breaks.
    const bool breaks = own.one_in(swarm.lease_trial ? 2 : 5) && !swarm.judged_from_outside;
    if (breaks) workload.break_percent = 5 + own.below(60);
}

// In reality the buffer counts bytes: a few large messages fill it like hundreds of small ones.
void draw_buffers(core::Prng& own, NetworkOptions& network) {
    if (own.one_in(2)) network.unread_max = static_cast<std::size_t>(draw_scale(own, 8, 256));
}

// The time limits of holds. The search of tests/check does not support them.
void draw_terms(core::Prng& own, Swarm& swarm) {
    auto& workload = swarm.workload;
    if (workload.burst != 0 || swarm.judged_from_outside) return;
    if (own.one_in(swarm.lease_trial ? 2 : 5)) workload.terms_percent = 5 + own.below(90);
}

// A try may find a name busy that an unreachable node has cached, which the search of tests/check
// does not know (S43).
void draw_caches(core::Prng& own, Swarm& swarm) {
    if (swarm.workload.burst != 0 || swarm.judged_from_outside) return;
    swarm.workload.caches = own.one_in(2);
    // With few others, most grants are unused for a while, also when their lease ends.
    if (swarm.workload.caches) swarm.workload.own_percent = own.one_in(2) ? 90 : 25;
}

// The search of tests/check does not know semaphores. Most nodes with restricted rights may use
// them.
void draw_semaphores(core::Prng& own, Swarm& swarm) {
    if (swarm.workload.burst != 0 || swarm.judged_from_outside || !own.one_in(3)) return;
    swarm.workload.semaphore_percent = 5 + own.below(70);
    for (auto& [node, access] : swarm.restricted) {
        if (!own.one_in(4)) access.rules.push_back({core::Right::acquire, "pool"});
    }
}

// The search of tests/check does not know latches and barriers either.
void draw_latches(core::Prng& own, Swarm& swarm) {
    if (swarm.workload.burst != 0 || swarm.judged_from_outside || !own.one_in(3)) return;
    swarm.workload.latch_percent = 5 + own.below(50);
    for (auto& [node, access] : swarm.restricted) {
        if (!own.one_in(4)) access.rules.push_back({core::Right::acquire, "latch"});
        if (!own.one_in(4)) access.rules.push_back({core::Right::acquire, "barrier"});
    }
}

// Nodes that are closed, and started again.
void draw_closings(core::Prng& own, Swarm& swarm) {
    const auto timeout = swarm.election_timeout.count();
    if (own.one_in(5)) swarm.workload.close_pace = draw_scale(own, 2 * timeout, 32 * timeout);
}

// A step applies one or a few entries, so that a node is many steps behind what is committed.
void draw_pieces(core::Prng& own, Swarm& swarm) {
    if (own.one_in(4)) swarm.apply_bytes_max = static_cast<std::size_t>(draw_scale(own, 64, 4'096));
}

// The search of tests/check relies on a refusal; a copy of the refused request may be in the log
// for a moment.
void draw_lag(core::Prng& own, Swarm& swarm) {
    const bool fits = !swarm.tiny_log && swarm.workload.burst == 0 && !swarm.judged_from_outside;
    if (!fits || !own.one_in(6)) return;
    swarm.state_lag_bytes_max = static_cast<std::size_t>(draw_scale(own, 2'000, 32'000));
    const auto timeout = swarm.election_timeout.count();
    swarm.flush_pace = std::min<SimTime>(swarm.flush_pace, timeout);
    swarm.state_interval = std::min<SimTime>(swarm.state_interval, timeout / 10);
    if (own.one_in(2)) swarm.standing_state_node = 1 + own.below(swarm.nodes);
}

void draw_installs(core::Prng& own, Swarm& swarm) {
    if (own.one_in(3))
        swarm.install_bytes_max = static_cast<std::size_t>(draw_scale(own, 16, 4'096));
}

// The search of tests/check does not support rights. At the end of a run each node requests every
// name that it may have. Every version that knows certificates reads the restrictions of a session.
void draw_rights(core::Prng& own, Swarm& swarm) {
    const auto& workload = swarm.workload;
    const bool has_none = workload.burst != 0 || swarm.judged_from_outside || swarm.upgrade;
    if (has_none || !own.one_in(5)) return;
    swarm.lies = own.one_in(2);
    for (std::uint64_t node = 1; node <= swarm.nodes; ++node) {
        if (own.one_in(2)) continue;
        auto& access = swarm.restricted[node];
        access.roles = {core::AccessRole::voter};
        for (std::uint64_t name = 0; name < workload.names; ++name) {
            const auto prefix = "name" + std::to_string(name);
            if (own.one_in(2)) access.rules.push_back({core::Right::acquire, prefix});
            if (own.one_in(2)) access.rules.push_back({core::Right::break_lock, prefix});
        }
        access.rules.push_back({core::Right::members, {}});
        if (own.one_in(2)) access.rules.push_back({core::Right::observe, {}});
    }
}

// The window is so small that requests wait for it, and that it is full when a fault happens. In a
// run with bursts dozens of calls come at once.
void draw_window(core::Prng& own, Swarm& swarm) {
    constexpr std::array<std::size_t, 3> windows{1, 2, 8};
    if (!own.one_in(2)) return;
    swarm.window = windows[own.below(windows.size())];
    if (swarm.workload.burst != 0) swarm.window = windows.back();
}

// Only if messages and disks are fast enough for the shortest timeouts.
void draw_timing(core::Prng& own, Swarm& swarm) {
    const auto timeout = swarm.election_timeout.count();
    const auto slowest = std::max(swarm.network.delay_max, swarm.disk.latency_max);
    if (slowest > timeout / 16 || !own.one_in(4)) return;
    swarm.mixed_timing = true;
    swarm.heartbeat = core::Nanoseconds{timeout / (impatience_max * heartbeats_min)};
}

// The search of tests/check knows nothing of clients. Their certificates have no rules, so members
// with rules do not serve them; those that lie would, and be refused by the leader.
void draw_clients(core::Prng& own, Swarm& swarm) {
    const bool is_fit = swarm.workload.burst == 0 && !swarm.judged_from_outside && !swarm.lies;
    if (!is_fit || !own.one_in(3)) return;
    swarm.clients = 1 + own.below(4);
}

void draw_liar(core::Prng& own, Swarm& swarm) {
    if (swarm.nodes - swarm.spares < 3 || !own.one_in(4)) return;
    swarm.liar = 1 + own.below(swarm.nodes);
    swarm.fault_weight[static_cast<std::size_t>(Fault::member_lies)] = 1 + own.below(20);
}

// Lease trials have no other faults, and a liar may be the only one who says that a member has
// forgotten something.
void draw_images(core::Prng& own, Swarm& swarm) {
    const bool is_fit = swarm.nodes - swarm.spares >= 3 && swarm.liar == 0 && !swarm.lease_trial &&
                        swarm.workload.burst == 0;
    if (!is_fit || !own.one_in(4)) return;
    swarm.fault_weight[static_cast<std::size_t>(Fault::disk_set_back)] = 3 + own.below(10);
}

// Nobody holds what it lacks against a member that may have lost power, so no leader can tell that
// its directory was set back.
void draw_durability(core::Prng& own, Swarm& swarm) {
    if (own.one_in(2) || swarm.is_on(Fault::disk_set_back)) return;
    swarm.durability = core::Durability::replicated;
    swarm.durability_changes = own.one_in(4);
}

}  // namespace

Faults Swarm::faults_on() const {
    Faults on;
    for (std::size_t i = 0; i < fault_count; ++i)
        on.set(i, fault_weight[i] != 0);
    return on;
}

void Swarm::switch_off(const Faults& faults) {
    for (std::size_t i = 0; i < fault_count; ++i) {
        if (faults.test(i)) fault_weight[i] = 0;
    }
    if (!is_on(Fault::message_lost)) network.loss_ppm = 0;
    if (!is_on(Fault::message_repeated)) network.repeat_ppm = 0;
    if (!is_on(Fault::message_overtaken)) network.overtake_ppm = 0;
    if (!is_on(Fault::message_late)) network.late_messages = false;
}

Swarm draw_swarm(core::Prng& prng) {
    Swarm swarm;
    const auto size = prng.below(100);
    swarm.nodes = size < 6 ? 1 : size < 60 ? 3 : 5;
    const auto timeout = draw_scale(prng, 100 * sim_millisecond, 2 * sim_second);
    swarm.election_timeout = core::Nanoseconds{timeout};
    swarm.heartbeat = core::Nanoseconds{timeout / prng.between(5, 12)};
    // At least five election timeouts, as the configuration demands.
    swarm.session_ttl_ms = static_cast<std::uint32_t>(
        prng.between(5, prng.one_in(3) ? 20 : 7) * timeout / sim_millisecond + 1);
    swarm.call_timeout = core::Nanoseconds{timeout * prng.between(2, 20)};
    draw_faults(prng, swarm);
    if (swarm.is_on(Fault::member_added)) {
        swarm.spares = 1 + prng.below(2);
        swarm.nodes += swarm.spares;
    }
    // Rows are divided in any case; but with chunks of a few bytes a snapshot would take longer
    // than the judge of leaders waits when a majority needs it.
    swarm.snapshot_bytes_max = prng.one_in(2) ? 64 + prng.below(400) : std::size_t{1} << 16U;
    swarm.compare_every = 4 + prng.below(100);
    swarm.spiteful = prng.one_in(3);
    if (prng.one_in(12)) {
        draw_stormy_start(swarm);
    } else if (prng.one_in(8)) {
        draw_lease_trial(prng, swarm);
    }
    if (prng.one_in(4)) {
        swarm.tiny_log = true;
        swarm.log_bytes_max = 200 + prng.below(6'000);
    }
    swarm.network = draw_network(prng, swarm);
    swarm.disk = draw_disk(prng, timeout);
    swarm.workload = draw_workload(prng, timeout);
    // With chunks of a few bytes such a large snapshot would take longer than a run.
    if (swarm.workload.burst != 0) swarm.snapshot_bytes_max = std::size_t{1} << 16U;
    swarm.wild_clock_node = prng.one_in(4) ? 0 : 1 + prng.below(64);
    swarm.timer_slack = prng.one_in(2) ? 0 : draw_scale(prng, 10 * sim_microsecond, timeout / 10);
    swarm.flush_pace = draw_scale(prng, timeout / 10, 20 * timeout);
    swarm.state_interval = draw_scale(prng, timeout / 100, 2 * timeout);
    swarm.fault_pace = draw_scale(prng, timeout / 4, 16 * timeout);
    swarm.fault_length = draw_scale(prng, timeout / 8, 16 * timeout);
    swarm.restart_after = draw_scale(prng, timeout / 20, 8 * timeout);
    if (swarm.lease_trial) {
        const auto ttl = swarm.session_ttl_ms * sim_millisecond;
        swarm.wild_clock_node = 1 + prng.below(64);
        swarm.fault_pace = ttl;
        swarm.fault_length = ttl / 2;
    }
    // True time tells the end of a lease only while the clocks keep their bounds.
    const bool in_bounds = !swarm.is_on(Fault::clock_rate_wild) &&
                           !swarm.is_on(Fault::clock_frozen) && !swarm.is_on(Fault::clock_jump);
    swarm.judged_from_outside = in_bounds && prng.one_in(12);
    swarm.upgrade = prng.one_in(4);
    if (prng.one_in(6)) swarm.steps_percent = prng.below(100);
    if (swarm.stormy_start) swarm.restart_after = swarm.network.connect_max;
    draw_features(prng, swarm.workload);
    // A separate random stream, so that runs without these draws stay the same.
    core::Prng own{core::Prng{prng}.next()};
    draw_ties(own, swarm);
    draw_buffers(own, swarm.network);
    draw_terms(own, swarm);
    draw_closings(own, swarm);
    draw_pieces(own, swarm);
    draw_lag(own, swarm);
    draw_installs(own, swarm);
    draw_rights(own, swarm);
    draw_timing(own, swarm);
    draw_window(own, swarm);
    draw_caches(own, swarm);
    draw_semaphores(own, swarm);
    draw_latches(own, swarm);
    draw_clients(own, swarm);
    draw_liar(own, swarm);
    draw_images(own, swarm);
    draw_durability(own, swarm);
    return swarm;
}

std::string describe(const Swarm& swarm) {
    const auto in_ms = [](SimTime time) {
        return std::to_string(time / sim_millisecond) + "." +
               std::to_string(time / (sim_millisecond / 10) % 10) + " ms";
    };
    auto text = std::to_string(swarm.nodes) + " nodes, election timeout " +
                in_ms(swarm.election_timeout.count()) + ", heartbeat " +
                in_ms(swarm.heartbeat.count()) + ", delay up to " + in_ms(swarm.network.delay_max) +
                ", disk up to " + in_ms(swarm.disk.latency_max) + ", a call every " +
                in_ms(swarm.workload.pace) + ", a fault every " + in_ms(swarm.fault_pace) +
                " for " + in_ms(swarm.fault_length) + (swarm.tiny_log ? ", tiny log" : "") +
                (swarm.spares != 0 ? ", " + std::to_string(swarm.spares) + " spare" : "") +
                (swarm.clients != 0 ? ", " + std::to_string(swarm.clients) + " clients" : "") +
                (swarm.stormy_start ? ", stormy start" : "") +
                (swarm.lease_trial ? ", lease trial" : "") +
                (swarm.durability == core::Durability::replicated ? ", in memory" : "") +
                (swarm.mixed_timing ? ", mixed timing" : "") + (swarm.upgrade ? ", upgrade" : "") +
                (swarm.workload.burst != 0 ? ", many names" : "") +
                (swarm.workload.conversion_percent != 0 ? ", conversions" : "") +
                (swarm.workload.several_percent != 0 ? ", several names" : "") +
                (swarm.workload.priority_percent != 0 ? ", priorities" : "") +
                (swarm.workload.policy != core::QueuePolicy::phase_fair ? ", policy" : "") +
                (swarm.workload.locker_percent != 0 ? ", lockers" : "") +
                (swarm.workload.suspend_percent != 0 ? ", suspensions" : "") +
                (swarm.network.unread_max < NetworkOptions{}.unread_max ? ", small buffers" : "") +
                (swarm.workload.write_percent != 0 ? ", values" : "") +
                (swarm.workload.break_percent != 0 ? ", breaks" : "") +
                (swarm.workload.terms_percent != 0 ? ", terms" : "") +
                (swarm.workload.semaphore_percent != 0 ? ", semaphores" : "") +
                (swarm.workload.latch_percent != 0 ? ", latches and barriers" : "") +
                (swarm.workload.caches ? ", cached grants" : "") +
                (swarm.workload.close_pace != 0 ? ", closings" : "") +
                (swarm.apply_bytes_max <= 4'096 ? ", small pieces" : "") +
                (swarm.is_lag_small() ? ", little room for a lag" : "") +
                (swarm.is_install_bounded() ? ", slow installs" : "") +
                (swarm.standing_state_node != 0 ? ", a state stands still" : "") +
                (swarm.is_window_small() ? ", a window of " + std::to_string(swarm.window) : "") +
                (!swarm.restricted.empty() ? ", rights" : "") + (swarm.lies ? ", lies" : "") +
                (swarm.spiteful ? ", spiteful" : "") + ", faults:";
    for (std::size_t i = 0; i < fault_count; ++i) {
        if (swarm.fault_weight[i] == 0) continue;
        text += " " + std::string{name_of(static_cast<Fault>(i))};
    }
    return text;
}

}  // namespace mortise::sim
