// What went wrong first. Checkers report and go on: they are called from within a step, which is
// no place to throw; the simulation looks here after each event and stops.
#pragma once

#include <optional>
#include <string>

#include "core/base/ids.hpp"
#include "tests/sim/base/event_heap.hpp"

namespace mortise::sim {

struct Violation {
    std::string what;
    core::NodeId node;  // not set when it is nobody's alone
    SimTime time = 0;
    std::uint64_t step = 0;
};

class Violations {
public:
    void report(core::NodeId node, std::string what) {
        if (!first_) first_ = Violation{std::move(what), node, time_, step_};
    }
    // Where the simulation is, for those to come.
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
