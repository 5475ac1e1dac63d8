#include "tests/sim/run/simulation.hpp"

#include "tests/sim/load/lock_workload.hpp"
#include "tests/sim/run/liveness.hpp"
#include "tests/sim/world/nemesis.hpp"

namespace mortise::sim {

namespace {

constexpr std::uint64_t steps_between_sweeps = 1'000;
constexpr SimTime longest_run = 3'600 * sim_second;

class Simulation {
public:
    explicit Simulation(const RunOptions& options)
        : options_{options},
          world_{options.seed, options.watched, options.without, options.walls},
          cluster_{world_},
          workload_{world_, cluster_},
          nemesis_{world_, cluster_},
          liveness_{world_, cluster_} {
        world_.workload = &workload_;
    }

    RunResult run();

private:
    void run_phases();
    [[nodiscard]] bool run_safety();
    [[nodiscard]] bool run_liveness();
    [[nodiscard]] bool run_idle();
    // False after a violation, and when there are no more events.
    bool advance();
    bool advance_until(SimTime time);

    RunOptions options_;
    World world_;
    Cluster cluster_;
    LockWorkload workload_;
    Nemesis nemesis_;
    Liveness liveness_;
    std::uint64_t swept_at_ = 0;
    double led_after_ = 0;
    double recovery_ = 0;
};

bool Simulation::advance() {
    world_.violations.at(world_.heap.next_time(), world_.steps);
    if (!world_.heap.run_next()) return false;
    if (world_.steps >= swept_at_ + steps_between_sweeps) {
        swept_at_ = world_.steps;
        world_.checker.sweep();
    }
    return !world_.violations.first();
}

bool Simulation::advance_until(SimTime time) {
    while (world_.heap.next_time() < time) {
        if (!advance()) return false;
    }
    return true;
}

bool Simulation::run_safety() {
    world_.never_flushes = core::NodeId{world_.swarm.standing_state_node};
    cluster_.start_all();
    workload_.start();
    nemesis_.start();
    const auto steps = options_.steps * world_.swarm.steps_percent / 100;
    while (world_.steps < steps && world_.heap.now() < longest_run) {
        if (!advance()) return false;
    }
    nemesis_.stop();
    return true;
}

bool Simulation::run_liveness() {
    if (!liveness_.begin()) {
        world_.tally.probe("liveness not owed");
        return false;
    }
    const auto began = world_.heap.now();
    // The check takes longer than an event, so it is made for every sixteenth event.
    constexpr std::uint64_t events_between_looks = 16;
    std::uint64_t events = 0;
    for (auto missing = liveness_.missing(); !missing.empty(); missing = liveness_.missing()) {
        const bool is_late = world_.heap.next_time() > liveness_.deadline();
        const bool looks = is_late || ++events % events_between_looks == 0;
        if (looks && liveness_.is_void()) return false;
        if (is_late) world_.violations.report({}, "no progress: " + missing);
        if (is_late || !advance()) return false;
        liveness_.look_for_a_leader();
    }
    const auto timeout = static_cast<double>(world_.swarm.election_timeout.count());
    led_after_ = static_cast<double>(liveness_.led_after().value_or(0)) / timeout;
    recovery_ = static_cast<double>(world_.heap.now() - began) / timeout;
    return !world_.violations.first();
}

bool Simulation::run_idle() {
    workload_.stop();
    if (!advance_until(liveness_.settle_until())) return false;
    liveness_.begin_idle();
    if (!advance_until(liveness_.idle_until())) return false;
    liveness_.end_idle();
    return !world_.violations.first();
}

void Simulation::run_phases() {
    if (!run_safety()) return;
    if (run_liveness() && !run_idle()) return;
    world_.checker.sweep();
    workload_.end();
}

RunResult Simulation::run() {
    try {
        run_phases();
    } catch (const std::exception& broken) {
        world_.violations.report({}, std::string{"exception: "} + broken.what());
    }
    RunResult result;
    result.violation = world_.violations.first();
    if (result.violation) result.last_lines = world_.timeline.last_lines();
    result.swarm = describe(world_.swarm);
    result.faults_on = world_.swarm.faults_on();
    result.tally = world_.tally;
    result.steps = world_.steps;
    result.trace = world_.trace.value();
    result.node_hours = static_cast<double>(cluster_.running_time()) / (3'600.0 * sim_second);
    result.led_after = led_after_;
    result.recovery = recovery_;
    return result;
}

}  // namespace

RunResult run_seed(const RunOptions& options) {
    return Simulation{options}.run();
}

}  // namespace mortise::sim
