// Holds with a max_hold of which their nodes may not know yet (S8). The cluster counts the time
// from the moment when the node has learned of the grant, since the node counts from then on as
// well.
#pragma once

#include <map>
#include <set>

#include "core/base/ids.hpp"
#include "core/locks/table/lock_table.hpp"
#include "core/locks/table/session_table.hpp"

namespace mortise::core {

class UncountedHolds {
public:
    // Called when a hold with a max_hold was granted.
    void add(SessionId session, Seq hold) { holds_[session].insert(hold); }
    void forget(SessionId session) { holds_.erase(session); }
    [[nodiscard]] bool has(SessionId session) const { return holds_.contains(session); }
    // Called when the session's node has learned of all grants up to `known`: their time begins.
    void begin_counting(const Session& session, LogIndex known, LockTable& table);

private:
    std::map<SessionId, std::set<Seq>> holds_;  // no set is empty
};

// The time limits of a hold by the clocks of the cluster, so that a clock that is right within rho
// keeps each of them.
[[nodiscard]] HoldTerms counted_terms(const HoldTerms& terms, std::uint32_t rho_ppm);

}  // namespace mortise::core
