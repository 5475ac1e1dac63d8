// Searches for wait cycles between lockers (S33): for requests that cannot go on unless another
// gives up.
//
// A locker goes on if none of its requests is stuck, and then it releases what it has. A request
// goes on if everything goes on that it waits for; a request for any of several names, if that is
// so on one of them. What never goes on is stuck, and the stuck ones contain a cycle.
//
// The search begins at requests from which a new cycle may be reachable. Its cost is what can be
// reached from there, up to deadlock_steps_max, and up to deadlock_command_steps_max for all
// searches of one command, which repeats the search after each refusal. Beyond that everything
// counts as going on: a cycle may be missed, but no request is refused without one.
#pragma once

#include <algorithm>
#include <cstddef>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "core/locks/deadlock/components.hpp"
#include "core/locks/deadlock/waits_for.hpp"
#include "core/locks/limits.hpp"

namespace mortise::core {

// Valid until the state changes.
class DeadlockSearch {
public:
    // Counts its steps from `steps` on, the number of steps of the command so far.
    DeadlockSearch(const WaitFinder& waits, std::size_t& steps)
        : waits_{waits},
          steps_{steps},
          steps_max_{std::min(steps + deadlock_steps_max, deadlock_command_steps_max)} {}

    // The limit is not reached yet.
    [[nodiscard]] bool may_go_on() const { return steps_ < steps_max_; }

    // Adds a waiting request, and everything that it waits for, directly or not.
    void add(OperationId request);
    // The request to refuse so that a cycle is broken: the youngest request in a cycle that waits
    // for no other cycle. If a request completed the cycle by waiting, it is that one. Empty if
    // there is no cycle.
    [[nodiscard]] std::optional<OperationId> victim();
    // Returns the shortest cycle that contains the victim, which must be one; among several the one
    // with the oldest requests, compared from the next request on. If the cycle is too long to be
    // found, only its first step.
    [[nodiscard]] std::vector<CycleStep> cycle(OperationId victim);

private:
    using Index = std::size_t;
    using Extent = WaitFinder::Extent;
    using Places = std::vector<std::vector<Index>>;
    // A request; or a locker, which represents all its requests where others wait for it.
    struct Subject {
        OperationId id;
        const Operation* operation = nullptr;  // of a request that is not over
        LockerId locker;
    };
    struct Node : Subject {
        Places waits_for;         // by name; for a locker, its requests
        bool is_known = false;    // what it waits for
        std::size_t blocked = 0;  // the number of names on which it waits
        bool is_stuck = false;
    };
    struct Hop {
        Index node = 0;
        std::string name;  // where the one before waits for it; in a cycle, where it waits itself
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
    [[nodiscard]] std::vector<Hop> shortest_cycle(Index from, Extent extent);
    [[nodiscard]] CycleStep step(Index node, const std::string& name) const;

    const WaitFinder& waits_;
    std::size_t& steps_;
    const std::size_t steps_max_;
    std::vector<Node> nodes_;
    std::map<OperationId, Index> indexes_;
    std::map<LockerId, Index> lockers_;
    Index unexplored_ = 0;
};

}  // namespace mortise::core
