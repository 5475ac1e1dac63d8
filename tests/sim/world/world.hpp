// The state that everything in one simulation shares.
#pragma once

#include <functional>

#include "core/base/checksum.hpp"
#include "tests/sim/base/event_heap.hpp"
#include "tests/sim/base/swarm.hpp"
#include "tests/sim/base/tally.hpp"
#include "tests/sim/base/timeline.hpp"
#include "tests/sim/base/violations.hpp"
#include "tests/sim/base/workload.hpp"
#include "tests/sim/judges/checker.hpp"
#include "tests/sim/judges/observations.hpp"
#include "tests/sim/judges/streams.hpp"

namespace mortise::sim {

struct World {
    // With `watched`, the timeline is printed there.
    explicit World(std::uint64_t seed, std::FILE* watched = nullptr, const Faults& without = {},
                   std::uint64_t other_walls = 0)
        : prng{seed},
          walls{core::Prng{seed ^ other_walls}.next()},
          swarm{draw_swarm(prng)},
          timeline{heap, watched},
          checker{swarm.nodes, violations, tally},
          streams{violations, tally, swarm.window},
          observations{violations, tally, seed, swarm.nodes} {
        swarm.switch_off(without);
    }
    // Uses the given parameters; only the events are drawn from the seed.
    World(std::uint64_t seed, const Swarm& given)
        : prng{seed},
          swarm{given},
          timeline{heap},
          checker{given.nodes, violations, tally},
          streams{violations, tally, given.window},
          observations{violations, tally, seed, given.nodes} {}
    World(const World&) = delete;
    World& operator=(const World&) = delete;

    void count_step() {
        ++steps;
        violations.at(heap.now(), steps);
    }

    EventHeap heap;
    core::Prng prng;
    // What the wall clocks show is drawn from this alone, because nothing may depend on it.
    std::uint64_t walls = 0;
    Swarm swarm;
    Tally tally;
    Timeline timeline;
    Violations violations;
    Checker checker;
    Streams streams;
    Observations observations;
    Workload* workload = nullptr;  // set before the first node starts
    core::Checksum trace;          // over every step: two runs of a seed must have the same
    std::uint64_t steps = 0;
    // Called when a node campaigns or leads, which is the best moment for a fault.
    std::function<void()> turmoil;
    bool flushes_off = false;  // the state on disk stays as it is while possible: little is purged
    core::NodeId never_flushes;
};

}  // namespace mortise::sim
