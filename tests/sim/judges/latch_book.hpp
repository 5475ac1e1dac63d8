// What the log says about latches (S35). It adds up the counts by itself, and judges that none goes
// below zero, that nobody passes above zero, and that what a node tells its program is in the log.
#pragma once

#include <cstdint>
#include <map>
#include <set>
#include <string>

#include "core/locks/outcome.hpp"
#include "tests/sim/base/tally.hpp"
#include "tests/sim/base/violations.hpp"

namespace mortise::sim {

class LatchBook {
public:
    LatchBook(Violations& violations, Tally& tally) : violations_{violations}, tally_{tally} {}

    // What an applied request did; only the first time counts. The outcomes come in the order of
    // the log.
    void counted(core::OperationId operation, const core::CountDown& request);
    void queued(core::OperationId operation, const core::AwaitLatch& request);
    void passed(core::OperationId operation, const core::AwaitLatch& request, core::LogIndex at);
    void removed(const std::string& name) { remaining_.erase(name); }

    // A node tells its program that it was counted.
    void told_counted(core::NodeId node, const std::string& name);
    // The entry in which a wait with this label passed, which identifies it; not set: none did.
    [[nodiscard]] core::LogIndex passed_at(const std::string& label) const;

private:
    // The latch begins with the first request for it.
    std::uint32_t& remaining_of(const std::string& name, std::uint32_t expected) {
        return remaining_.try_emplace(name, expected).first->second;
    }

    Violations& violations_;
    Tally& tally_;
    std::map<std::string, std::uint32_t> remaining_;
    std::set<core::OperationId> read_;              // counts, and waits that passed
    std::map<std::string, std::uint64_t> untold_;   // counts of which no program was told
    std::map<std::string, core::LogIndex> passed_;  // by label
};

}  // namespace mortise::sim
