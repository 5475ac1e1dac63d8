// Up to which request a leader has taken each session's stream (docs/decisions/0039). Only what the
// state machine applies counts; this keeps what cannot be applied out of the log.
#pragma once

#include <cstdint>
#include <utility>

#include "core/base/id_table.hpp"
#include "core/base/ids.hpp"

namespace mortise::core {

class StreamPositions {
public:
    // May requests from `first` on be proposed, sent in that round? A new round may begin with any
    // number, since its sender has seen applied what comes before. Within a round nothing is left
    // out.
    [[nodiscard]] bool takes(SessionId session, std::uint64_t round, Seq first) const {
        const auto* at = positions_.find(session);
        return at == nullptr || round > at->round || (round == at->round && first == at->next);
    }
    // Not so, for something before them in that round did not come: is its sender to be told? Once
    // a round.
    [[nodiscard]] bool is_gap_to_tell(SessionId session, std::uint64_t round, Seq first) {
        auto* at = positions_.find(session);
        if (at == nullptr || round != at->round || first < at->next) return false;
        return !std::exchange(at->told, true);
    }
    // They are proposed, up to `last`.
    void took(SessionId session, std::uint64_t round, Seq last) {
        if (auto* at = positions_.find(session)) {
            *at = {round, last.next(), round == at->round && at->told};
        } else {
            positions_.insert(session, {round, last.next(), false});
        }
    }
    // The session ended.
    void forget(SessionId session) { positions_.take(session); }
    // Leadership is over, and with it what was proposed and did not get into the log.
    void clear() { positions_.clear(); }

private:
    struct Position {
        std::uint64_t round = 0;
        Seq next;
        bool told = false;  // that something of this round is missing
    };

    IdTable<SessionId, Position> positions_;
};

}  // namespace mortise::core
