// Requests that only make a queue longer. A leader makes no entry for them alone: they go into the
// next one that is made anyway, such as that of the release for which they wait, or into one of
// their own after a moment (docs/decisions/0088).
#pragma once

#include <vector>

#include "core/base/instant.hpp"
#include "core/locks/machine/lock_machine.hpp"
#include "core/node/decoded_forward.hpp"

namespace mortise::core {

class PatientRequests {
public:
    explicit PatientRequests(const LockMachine& machine) : machine_{machine} {}

    // Whether these requests could only queue in the present state of the machine. If so, they are
    // noted until clear().
    [[nodiscard]] bool takes(const DecodedForward& decoded);
    [[nodiscard]] bool empty() const { return waiting_.empty(); }
    // One of them may be granted by now, or they have waited for long enough. Everything up to
    // `applied` was applied.
    [[nodiscard]] bool are_due(LogIndex applied, Instant now);
    // When they have waited for long enough; never if there are none.
    [[nodiscard]] Instant deadline() const;
    // They are in an entry, or are not proposed here any more.
    void clear();

private:
    [[nodiscard]] bool can_only_queue(const Command& command) const;
    [[nodiscard]] bool can_only_queue(const Acquire& acquire) const;

    const LockMachine& machine_;
    std::vector<Acquire> waiting_;
    Instant since_ = Instant::never();
    LogIndex looked_at_;  // none of them could be granted after this entry
};

}  // namespace mortise::core
