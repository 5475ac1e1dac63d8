// Which of this node's holds are to be notified when others wait for what they have (S24). It marks
// the names on which something happened, and reports each hold once per step, however many waiters
// came.
#pragma once

#include <functional>
#include <map>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "core/agent/call.hpp"
#include "core/locks/machine/lock_machine.hpp"

namespace mortise::core {

class ContentionWatch {
public:
    // Watches it from now on; present waiters count as having just arrived, and so do earlier
    // requests to release.
    void watch(OperationId hold, const Names& names);
    // The hold was released or lost. No effect if it is not watched.
    void forget(OperationId hold);
    [[nodiscard]] bool is_empty() const { return names_.empty(); }

    // The hold has another mode now.
    void converted(OperationId hold);
    // A request began to wait for the name.
    void somebody_waits(const std::string& name);
    // `are_here` says which holds belong to this node. A hold that is not watched yet may be
    // watched a moment later, when its owner has received it: the newest request to release is
    // reported then.
    using AreHere = std::function<bool(OperationId)>;
    void on(const ReleaseAsked& asked, const AreHere& are_here);
    // Outcomes were skipped: waiters may have arrived.
    void on_state_replaced();
    // What is to be reported since the last call, for the present state of the machine.
    [[nodiscard]] std::vector<Contended> take(const LockMachine& machine);

private:
    std::map<OperationId, Names> names_;                   // of each watched hold
    std::map<std::string, std::set<OperationId>> holds_;   // watched holds by name
    std::map<std::string, std::set<OperationId>> marked_;  // marked holds by name
    std::vector<std::pair<std::string, Contended>> asked_;
    std::map<OperationId, std::pair<std::string, Contended>> asked_early_;
};

}  // namespace mortise::core
