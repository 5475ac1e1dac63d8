// Calls that wait for the confirmation of a hold. A renewal that was requested after the call
// confirms it (S6).
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
    // `newest` is the newest renewal that was requested before.
    void add(CallTag tag, Seq hold, std::uint64_t newest, Instant gives_up);
    // The deadline of the call has passed. Returns false if the call is not here.
    bool forget(CallTag tag) { return calls_.erase(tag) != 0; }
    [[nodiscard]] bool is_full() const;
    [[nodiscard]] bool waits_until(CallTag tag, Instant at) const;

    // The renewal with that number was applied, and the lease is valid.
    void renewed(std::uint64_t number);
    // Appends the answer `error` for each call whose hold is gone.
    void end(const HeldLocks& holds, CallError error, std::vector<CallAnswer>& answers);
    // Called at the end of a step, because a hold that was lost within the step is not confirmed.
    void answer(const HeldLocks& holds, std::vector<CallAnswer>& answers);

private:
    struct Confirming {
        Seq hold;
        std::uint64_t newest = 0;
        Instant gives_up;
    };

    std::map<CallTag, Confirming> calls_;
    std::vector<std::pair<CallTag, Seq>> confirmed_;  // in the current step
};

}  // namespace mortise::core
