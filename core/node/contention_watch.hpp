// Which of this node's holds want to hear that others wait for what they have (S24). Marks the
// names on which something happened, and tells of each hold once a step, however many came.
#pragma once

#include <functional>
#include <map>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "core/agent/call.hpp"
#include "core/locks/lock_machine.hpp"

namespace mortise::core {

class ContentionWatch {
public:
    // From now on; who waits already counts as having come just now, and so does who asked before.
    void watch(OperationId hold, const std::vector<std::string>& names);
    // It left, or was lost. One that is not watched is none of its business.
    void forget(OperationId hold);
    [[nodiscard]] bool is_empty() const { return names_.empty(); }

    // It has another mode now.
    void converted(OperationId hold);
    // Somebody began to wait for it.
    void somebody_waits(const std::string& name);
    // Those that `are_here` are this node's. One that is not watched may be in a moment, when its
    // owner has been told that it has it: the newest who asked for it is told then.
    using AreHere = std::function<bool(OperationId)>;
    void on(const ReleaseAsked& asked, const AreHere& are_here);
    // What was applied was not told: anybody may have come.
    void on_state_replaced();
    // What is to be told since the last time; of the machine as it is now.
    [[nodiscard]] std::vector<Contended> take(const LockMachine& machine);

private:
    std::map<OperationId, std::vector<std::string>> names_;  // of each hold
    std::map<std::string, std::set<OperationId>> holds_;     // on each name
    std::map<std::string, std::set<OperationId>> marked_;    // on each name
    std::vector<std::pair<std::string, Contended>> asked_;
    std::map<OperationId, std::pair<std::string, Contended>> asked_early_;
};

}  // namespace mortise::core
