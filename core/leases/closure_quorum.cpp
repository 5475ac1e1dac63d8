#include "core/leases/closure_quorum.hpp"

namespace mortise::core {

void ClosureQuorum::forget(ClosureId closure) {
    quorum_.forget_if([&](ClosureId one) { return one == closure; });
}

std::vector<EndClosure> ClosureQuorum::decide(const Configuration& configuration, NodeId self,
                                              const std::set<ClosureId>& own,
                                              const IsThere& is_there) {
    std::vector<EndClosure> ended;
    for (const auto closure :
         quorum_.decide({configuration, self}, own, is_there, [](ClosureId) { return true; }))
        ended.push_back({closure});
    return ended;
}

}  // namespace mortise::core
