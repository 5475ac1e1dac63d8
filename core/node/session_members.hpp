// By which member the requests of each client session came last (S49): only a leader knows, and
// only as long as it leads. That member waits for what becomes of them.
#pragma once

#include "core/base/id_table.hpp"
#include "core/base/ids.hpp"

namespace mortise::core {

class SessionMembers {
public:
    void came_by(SessionId session, NodeId member) {
        auto* known = members_.find(session);
        if (known == nullptr) {
            members_.insert(session, member);
        } else {
            *known = member;
        }
    }
    // Not set if it is not known.
    [[nodiscard]] NodeId of(SessionId session) const {
        const auto* known = members_.find(session);
        return known == nullptr ? NodeId{} : *known;
    }
    void forget(SessionId session) { members_.take(session); }
    void clear() { members_.clear(); }

private:
    IdTable<SessionId, NodeId> members_;
};

}  // namespace mortise::core
