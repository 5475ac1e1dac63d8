// Holds with a max_hold that their nodes may not know of yet (S8): the cluster counts the time from
// when the node of the hold has learned of the grant, since that node counts from then on as well.
#pragma once

#include <map>
#include <set>

#include "core/base/ids.hpp"
#include "core/locks/table/lock_table.hpp"
#include "core/locks/table/session_table.hpp"

namespace mortise::core {

class UncountedHolds {
public:
    // A hold with a max_hold was granted.
    void add(SessionId session, Seq hold) { holds_[session].insert(hold); }
    void forget(SessionId session) { holds_.erase(session); }
    [[nodiscard]] bool has(SessionId session) const { return holds_.contains(session); }
    // The session's node learned of all grants up to `known`: their time begins.
    void begin_counting(const Session& session, LogIndex known, LockTable& table);

private:
    std::map<SessionId, std::set<Seq>> holds_;  // without sessions that have none
};

// The time limits of a hold by the clocks of the cluster, so that a clock that is right within rho
// keeps each of them.
[[nodiscard]] HoldTerms counted_terms(const HoldTerms& terms, std::uint32_t rho_ppm);

}  // namespace mortise::core
