// Who is passed by whom in the queues of a run, and whether as often as the rules allow (P9, S29,
// S31, S32). Told of everything in the order of the log.
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

    // What somebody asks for on one name.
    struct Wish {
        core::OperationId operation;
        core::LockMode mode = core::LockMode::exclusive;
        core::Priority priority = 0;
        bool is_barrier = false;  // part of a request for all of several names
    };
    // It waits; told again, nothing happens.
    void queued(const std::string& name, const Wish& wish);
    // It enters, from the queue or at once. With the last of its names it leaves.
    void granted(const std::string& name, const Wish& wish, core::LogIndex at);
    // It waits nowhere any more.
    void left(core::OperationId operation);
    void ended(core::SessionId session);

    // After each entry: the policy of a name where somebody waits. It stays as long as they do.
    using PolicyOf = std::function<core::QueuePolicy(const std::string&)>;
    void learn_policies(const PolicyOf& policy_of);

private:
    struct Waiter {
        Wish wish;
        spec::Overtaken overtaken;
    };
    struct Queue {
        std::vector<Waiter> waiters;  // as they came
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
    std::set<std::string> fresh_;  // queues of the entry that is under way
};

}  // namespace mortise::sim
