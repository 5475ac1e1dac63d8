// Which requests overtake which in the queues of a run, and whether as rarely as the rules demand
// (P9, S29, S31, S32). It is informed of everything in the order of the log.
#pragma once

#include <functional>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <vector>

#include "core/locks/command.hpp"
#include "tests/sim/base/tally.hpp"
#include "tests/sim/base/violations.hpp"
#include "tests/spec/overtaken.hpp"

namespace mortise::sim {

class Fairness {
public:
    Fairness(Violations& violations, Tally& tally) : violations_{violations}, tally_{tally} {}

    // A request for one name.
    struct Wish {
        core::OperationId operation;
        core::LockMode mode = core::LockMode::exclusive;
        core::Priority priority = 0;
        bool is_barrier = false;  // part of a request for all of several names
    };
    // The request waits; a repetition has no effect.
    void queued(const std::string& name, const Wish& wish);
    // The request is granted, from the queue or at once. With the last of its names it leaves.
    void granted(const std::string& name, const Wish& wish, core::LogIndex at);
    // The request does not wait any more.
    void left(core::OperationId operation);
    void ended(core::SessionId session);

    // Called after each entry: the policy of a name with waiters. It is constant while they wait.
    using PolicyOf = std::function<core::QueuePolicy(const std::string&)>;
    void learn_policies(const PolicyOf& policy_of);

private:
    struct Waiter {
        Wish wish;
        spec::Overtaken overtaken;
    };
    struct Queue {
        std::vector<Waiter> waiters;  // in the order of arrival
        bool has_priorities = false;
        std::optional<core::QueuePolicy> policy;
    };

    void pass(Queue& queue, Waiter& passed, const Wish& wish, core::LogIndex at);
    void leave(const std::string& name, core::OperationId operation);
    void probe_policy(const Queue& queue);

    Violations& violations_;
    Tally& tally_;
    std::map<std::string, Queue> queues_;  // none is empty
    std::map<core::OperationId, std::vector<std::string>> places_;
    std::set<std::string> fresh_;  // queues of the current entry
};

}  // namespace mortise::sim
