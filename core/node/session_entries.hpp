// By which member the requests of each client session came last (S49): only a leader knows, and
// only as long as it leads. That member waits for what becomes of them.
#pragma once

#include "core/base/id_table.hpp"
#include "core/base/ids.hpp"

namespace mortise::core {

class SessionEntries {
public:
    void came_by(SessionId session, NodeId member) {
        auto* entry = entries_.find(session);
        if (entry == nullptr) {
            entries_.insert(session, member);
        } else {
            *entry = member;
        }
    }
    // Not set if it is not known.
    [[nodiscard]] NodeId of(SessionId session) const {
        const auto* entry = entries_.find(session);
        return entry == nullptr ? NodeId{} : *entry;
    }
    void forget(SessionId session) { entries_.take(session); }
    void clear() { entries_.clear(); }

private:
    IdTable<SessionId, NodeId> entries_;
};

}  // namespace mortise::core
