#include "core/leases/closure_quorum.hpp"

#include "core/base/mutant.hpp"

namespace mortise::core {

void ClosureQuorum::forget(ClosureId closure) {
    quorum_.forget_if([&](ClosureId one) { return one == closure; });
}

std::vector<EndClosure> ClosureQuorum::decide(const Configuration& configuration, NodeId self,
                                              const std::set<ClosureId>& own,
                                              const IsThere& is_there) {
    const bool alone = planted(Mutant::broken_by_leader_alone);
    std::vector<EndClosure> ended;
    for (const auto closure : quorum_.decide({configuration, self, alone}, own, is_there,
                                             [](ClosureId) { return true; }))
        ended.push_back({closure});
    return ended;
}

}  // namespace mortise::core
