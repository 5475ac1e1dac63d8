// Circles of waits between lockers (S33): who cannot go on unless somebody gives up.
//
// A locker goes on when none of its requests is stuck, and then lets go of what it has. A request
// goes on when all that it waits for go on; one for any of several names when that is so on one of
// them. What never goes on is stuck, and among the stuck is a circle.
//
// The search begins at requests from which a new circle could be reached, and costs what can be
// reached from there, up to deadlock_steps_max, and deadlock_command_steps_max for all searches of
// one command: it searches again after each that is refused. Beyond that everybody counts as going
// on: a circle may be missed then, and nobody is refused without one.
#pragma once

#include <algorithm>
#include <cstddef>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "core/locks/components.hpp"
#include "core/locks/limits.hpp"
#include "core/locks/waits_for.hpp"

namespace mortise::core {

// Valid until the state changes.
class DeadlockSearch {
public:
    // Counts its steps from `steps` on, which are those of the command.
    DeadlockSearch(const WaitFinder& waits, std::size_t& steps)
        : waits_{waits},
          steps_{steps},
          steps_max_{std::min(steps + deadlock_steps_max, deadlock_command_steps_max)} {}

    // It has not come to its bound.
    [[nodiscard]] bool may_go_on() const { return steps_ < steps_max_; }

    // Adds a request that waits, and whatever it waits for, directly or not.
    void add(OperationId request);
    // Who is to be refused so that a circle opens: the youngest request that is in one that waits
    // for no other. When a request closed it by coming, that is the one. Empty when there is none.
    [[nodiscard]] std::optional<OperationId> victim();
    // Requires a victim: the shortest circle that it is in, and among those the one of the oldest
    // requests, the next one first. Of one that is too far to find, the first step.
    [[nodiscard]] std::vector<CircleStep> circle(OperationId victim);

private:
    using Index = std::size_t;
    using Extent = WaitFinder::Extent;
    using Places = std::vector<std::vector<Index>>;
    // A request; or a locker, which stands for all its requests where others wait for it.
    struct Subject {
        OperationId id;
        const Operation* operation = nullptr;  // of a request that is not over
        LockerId locker;
    };
    struct Node : Subject {
        Places waits_for;         // by name; of a locker, its requests
        bool is_known = false;    // what it waits for
        std::size_t blocked = 0;  // names where it waits for somebody
        bool is_stuck = false;
    };
    struct Hop {
        Index node = 0;
        std::string name;  // where the one before waits for it; of a circle, where it waits itself
    };

    Index index_of(OperationId request);
    Index index_of(LockerId locker);
    void explore();
    [[nodiscard]] Places places_of(OperationId request, const Operation& operation);
    [[nodiscard]] std::vector<Index> requests_of(LockerId locker, std::size_t& steps);
    [[nodiscard]] std::vector<Index> successors(const WaitsFor& waits, std::size_t& steps);
    [[nodiscard]] std::vector<Index> requests_among(const std::vector<Index>& nodes,
                                                    std::size_t& steps);
    [[nodiscard]] bool takes_any(const Node& node) const;
    void find_stuck();
    [[nodiscard]] bool goes_on(const Node& node) const;
    [[nodiscard]] Graph waits_of_the_stuck() const;
    [[nodiscard]] static bool is_before(const Node& one, const Node& other);
    [[nodiscard]] std::vector<Hop> hops(Index from, Extent extent, std::size_t& steps);
    [[nodiscard]] std::vector<Hop> shortest_circle(Index from, Extent extent);
    [[nodiscard]] CircleStep step(Index node, const std::string& name) const;

    const WaitFinder& waits_;
    std::size_t& steps_;
    const std::size_t steps_max_;
    std::vector<Node> nodes_;
    std::map<OperationId, Index> indexes_;
    std::map<LockerId, Index> lockers_;
    Index unexplored_ = 0;
};

}  // namespace mortise::core
