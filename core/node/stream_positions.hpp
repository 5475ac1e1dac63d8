// The position of each session's stream at a leader (docs/decisions/0039). Only what the state
// machine applies counts; this class keeps requests that cannot be applied, and duplicates of what
// is in the log, out of the log.
#pragma once

#include <algorithm>
#include <map>
#include <utility>

#include "core/base/id_table.hpp"
#include "core/base/ids.hpp"
#include "core/node/decoded_forward.hpp"

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
    void took(SessionId session, Seq last) {
        position_of(session).next = last.next();
        held_up_.erase(session);
    }
    // Notes the acquires among what is about to be proposed, and returns what is known of those
    // that are not applied yet.
    const NamesUnderWay& note_names(const DecodedForward& decoded, const Session& session) {
        auto& names = position_of(session.id).names;
        core::note_names(names, decoded, session);
        return names;
    }
    // Requests arrived ahead of `next`. Returns whether the sender should be informed, which is so
    // once: everything in flight behind the gap arrives ahead of `next`, too.
    [[nodiscard]] bool is_gap_to_tell(SessionId session, Seq next) {
        return std::exchange(position_of(session).told, next) != next;
    }

    // Requests were not taken for lack of capacity. The sender is informed when there is capacity,
    // and has no reason to resend them before.
    struct HeldUp {
        NodeId sender;
        std::size_t bytes = 0;  // of the batch that was not taken
    };
    void hold_up(SessionId session, const HeldUp& what) { held_up_[session] = what; }
    [[nodiscard]] bool is_held_up(SessionId session) const { return held_up_.contains(session); }
    [[nodiscard]] bool is_any_held_up() const { return !held_up_.empty(); }
    // Forgets those of which `is_asked_for` says so.
    template <class IsAskedFor>
    void end_held_up(const IsAskedFor& is_asked_for) {
        std::erase_if(held_up_,
                      [&](const auto& one) { return is_asked_for(one.first, one.second); });
    }

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
        NamesUnderWay names{};
    };

    Position& position_of(SessionId session) {
        auto* at = positions_.find(session);
        return at != nullptr ? *at : positions_.insert(session, {});
    }

    IdTable<SessionId, Position> positions_;
    std::map<SessionId, HeldUp> held_up_;
};

}  // namespace mortise::core
