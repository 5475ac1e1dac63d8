// The position of each session's stream at a leader (docs/decisions/0039). Only what the state
// machine applies counts; this class keeps requests that cannot be applied, and duplicates of what
// is in the log, out of the log.
#pragma once

#include <algorithm>
#include <map>
#include <utility>

#include "core/base/id_table.hpp"
#include "core/base/ids.hpp"

namespace mortise::core {

class StreamPositions {
public:
    // The request of that session that would be proposed next. `applied` is the newest one that
    // this leader has applied: a request of an earlier leader's log counts as soon as that is so.
    [[nodiscard]] Seq next(SessionId session, Seq applied) const {
        const auto* at = positions_.find(session);
        return at == nullptr ? applied.next() : std::max(at->next, applied.next());
    }
    // The requests up to `last` are proposed.
    void took(SessionId session, Seq last) { position_of(session).next = last.next(); }
    // Requests arrived ahead of `next`. Returns whether the sender should be informed, which is so
    // once: everything in flight behind the gap arrives ahead of `next`, too.
    [[nodiscard]] bool is_gap_to_tell(SessionId session, Seq next) {
        return std::exchange(position_of(session).told, next) != next;
    }

    // Requests were not taken for lack of capacity. The sender is informed when there is capacity,
    // and has no reason to resend them before.
    void hold_up(SessionId session, NodeId sender) { held_up_[session] = sender; }
    [[nodiscard]] bool is_any_held_up() const { return !held_up_.empty(); }
    [[nodiscard]] std::map<SessionId, NodeId> take_held_up() { return std::exchange(held_up_, {}); }

    // The session ended, or what was proposed for it will not be applied.
    void forget(SessionId session) {
        positions_.take(session);
        held_up_.erase(session);
    }
    // Leadership has ended, and with it the requests that were proposed and did not get into the
    // log.
    void clear() {
        positions_.clear();
        held_up_.clear();
    }

private:
    struct Position {
        Seq next;
        Seq told;  // the sender was asked to resend from here
    };

    Position& position_of(SessionId session) {
        auto* at = positions_.find(session);
        return at != nullptr ? *at : positions_.insert(session, {});
    }

    IdTable<SessionId, Position> positions_;
    std::map<SessionId, NodeId> held_up_;
};

}  // namespace mortise::core
