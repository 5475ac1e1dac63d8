// Draws the calls of programs, often foolish ones. The caller chooses the tags.
#pragma once

#include <string>
#include <vector>

#include "core/base/prng.hpp"
#include "core/node/effects.hpp"
#include "tests/sim/base/swarm.hpp"

namespace mortise::sim {

class CallDrawing {
public:
    // Both outlive it.
    CallDrawing(core::Prng& prng, const Swarm& swarm) : prng_{prng}, swarm_{swarm} {}

    [[nodiscard]] std::string name();
    // `now` is of the steady clock of the caller.
    [[nodiscard]] core::AcquireCall acquire(core::Instant now);
    [[nodiscard]] core::AcquireCall acquire_several(core::Instant now);
    // Of a semaphore, mostly; a name of another kind now and then.
    [[nodiscard]] core::AcquireCall acquire_permits(core::Instant now);
    // A resize of a semaphore, or a removal.
    [[nodiscard]] core::WriteCall resize_or_remove(core::CallTag tag);
    // Of a latch, mostly. The label identifies the call.
    [[nodiscard]] core::AwaitCall await_latch(core::Instant now, core::CallTag tag);
    [[nodiscard]] core::AwaitCall arrive(core::Instant now, core::CallTag tag);
    // An arrival that drops, or a removal.
    [[nodiscard]] core::WriteCall drop_or_remove(core::CallTag tag);
    // A count of a latch, or a removal.
    [[nodiscard]] core::WriteCall count_or_remove(core::CallTag tag);
    // For a hold in that mode.
    [[nodiscard]] core::Call conversion(core::OperationId hold, core::LockMode held,
                                        core::Instant now);
    [[nodiscard]] core::InspectCall inspect();
    [[nodiscard]] core::ConfirmCall confirm(core::OperationId hold, core::Instant now);
    // Under a hold of that name. The written bytes identify the call: no other call writes the
    // same.
    [[nodiscard]] core::WriteCall write(core::OperationId hold, const std::string& name,
                                        core::CallTag tag);
    // The reasons identify these calls, too.
    [[nodiscard]] static core::WriteCall ask_for(const std::string& name, core::CallTag tag);
    [[nodiscard]] core::WriteCall take_away(const std::string& name, core::FencingToken token,
                                            core::CallTag tag);
    // With patience: what is lost at once is believed in for a while.
    [[nodiscard]] static core::WriteCall evict(core::SessionId session, core::CallTag tag);

private:
    [[nodiscard]] core::LockMode mode();
    [[nodiscard]] core::LockMode any_mode();
    [[nodiscard]] core::Instant deadline(core::Instant now, std::int64_t timeouts_max);
    [[nodiscard]] std::string pool();
    [[nodiscard]] std::string latch();
    [[nodiscard]] std::string barrier();
    void dress(core::Acquire& request);
    // Draws nothing in a run without that feature.
    [[nodiscard]] bool percent(std::uint64_t chance);
    [[nodiscard]] core::LockerTag locker();
    [[nodiscard]] core::HoldTerms terms();

    core::Prng& prng_;
    const Swarm& swarm_;
};

}  // namespace mortise::sim
