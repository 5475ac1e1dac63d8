// The first violation of a run. Judges report it and return: they are called from within a step,
// where they must not throw. The simulation checks for it after each event and stops.
#pragma once

#include <optional>
#include <string>

#include "core/base/ids.hpp"
#include "tests/sim/base/event_heap.hpp"

namespace mortise::sim {

struct Violation {
    std::string what;
    core::NodeId node;  // not set if no single node is responsible
    SimTime time = 0;
    std::uint64_t step = 0;
};

class Violations {
public:
    void report(core::NodeId node, std::string what) {
        if (!first_) first_ = Violation{std::move(what), node, time_, step_};
    }
    // The position of the simulation, for later reports.
    void at(SimTime time, std::uint64_t step) {
        time_ = time;
        step_ = step;
    }
    [[nodiscard]] const std::optional<Violation>& first() const { return first_; }

private:
    SimTime time_ = 0;
    std::uint64_t step_ = 0;
    std::optional<Violation> first_;
};

}  // namespace mortise::sim
