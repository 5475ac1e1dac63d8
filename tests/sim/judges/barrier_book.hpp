// What the log says about barriers (S35): it judges that nobody passes before all parties have
// arrived, and that what a node tells its program is in the log.
#pragma once

#include <cstdint>
#include <map>
#include <set>
#include <string>

#include "core/locks/outcome.hpp"
#include "tests/sim/base/tally.hpp"
#include "tests/sim/base/violations.hpp"

namespace mortise::sim {

class BarrierBook {
public:
    BarrierBook(Violations& violations, Tally& tally) : violations_{violations}, tally_{tally} {}

    // What an applied request did; only the first time counts. The outcomes come in the order of
    // the log.
    void queued(core::OperationId operation, const core::Arrive& request);
    void dropped(core::OperationId operation, const core::Arrive& request);
    void passed(core::OperationId operation, const core::Arrive& request, core::LogIndex at);
    void broken(core::OperationId operation, const core::Arrive& request);
    void removed(const std::string& name) { meetings_.erase(name); }

    // The entry in which an arrival with this label passed, which identifies it; not set: none did.
    [[nodiscard]] core::LogIndex passed_at(const std::string& label) const;

private:
    struct Meeting {
        std::uint32_t parties = 0;
        std::set<core::OperationId> arrived;  // in the present phase
        std::set<core::OperationId> dropped;  // of these
        std::set<core::OperationId> to_pass;  // the phase has ended, and they were not answered yet
    };

    // The barrier begins with the first arrival.
    Meeting& meeting_of(const core::Arrive& request);
    // Returns whether it was the last of the phase.
    bool arrive(core::OperationId operation, const core::Arrive& request);
    void report(std::string what) { violations_.report({}, "barrier: " + std::move(what)); }

    Violations& violations_;
    Tally& tally_;
    std::map<std::string, Meeting> meetings_;
    std::set<core::OperationId> read_;              // arrivals with an answer
    std::map<std::string, core::LogIndex> passed_;  // by label
};

}  // namespace mortise::sim
