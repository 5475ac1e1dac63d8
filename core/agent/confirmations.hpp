// Calls that want to know that a hold is held: a renewal that was asked for after the call says so
// (S6).
#pragma once

#include <cstdint>
#include <map>
#include <utility>
#include <vector>

#include "core/agent/call.hpp"
#include "core/agent/held_locks.hpp"

namespace mortise::core {

class Confirmations {
public:
    // `newest` is the newest renewal that was asked for before.
    void add(CallTag tag, Seq hold, std::uint64_t newest, Instant gives_up);
    // Its time is over. False when it is not here.
    bool forget(CallTag tag) { return calls_.erase(tag) != 0; }
    [[nodiscard]] bool is_full() const;
    [[nodiscard]] bool waits_until(CallTag tag, Instant at) const;

    // That renewal was applied, and the lease is valid.
    void renewed(std::uint64_t number);
    // Appends an answer for each whose hold is gone, which is told as `error`.
    void end(const HeldLocks& holds, CallError error, std::vector<CallAnswer>& answers);
    // At the end of a step: what it lost meanwhile is not confirmed.
    void answer(const HeldLocks& holds, std::vector<CallAnswer>& answers);

private:
    struct Confirming {
        Seq hold;
        std::uint64_t newest = 0;
        Instant gives_up;
    };

    std::map<CallTag, Confirming> calls_;
    std::vector<std::pair<CallTag, Seq>> confirmed_;  // in the step that is under way
};

}  // namespace mortise::core
