// The calls of this node's program and its holds: what is the same for a member and for a client
// node. It runs on the core thread.
#pragma once

#include <functional>
#include <map>
#include <optional>
#include <string>

#include "embed/holds/hold_table.hpp"
#include "embed/runtime/waiting_calls.hpp"
#include "embed/threads/completion.hpp"
#include <mortise/info.hpp>

namespace mortise::detail {

// The `margin` of a ProgramSide for sessions with that TTL.
[[nodiscard]] core::Nanoseconds risk_margin(std::uint32_t ttl_ms, std::uint32_t rho_ppm);

class ProgramSide {
public:
    // What this node knows beyond an answer.
    struct Knowledge {
        std::function<core::LockView(const std::string& name)> lock;
        std::function<bool()> is_removed;
    };

    // Leases with less than `margin` left are at risk; `counters` are those of earlier runs.
    ProgramSide(HoldTableParts parts, core::Nanoseconds margin, Knowledge knowledge,
                const Metrics& counters);

    [[nodiscard]] HoldTable& holds() { return holds_; }
    [[nodiscard]] const HoldTable& holds() const { return holds_; }
    [[nodiscard]] PendingCalls& pending() { return pending_; }
    [[nodiscard]] WaitingCalls& waiting() { return waiting_; }
    [[nodiscard]] Metrics& counters() { return counters_; }
    [[nodiscard]] const Metrics& counters() const { return counters_; }

    // The calls for the core; their completions are kept until answered().
    [[nodiscard]] core::Calls begin(SubmittedCalls taken);
    // A call of somebody else, with a tag of the gate.
    void expect(core::CallTag tag, std::function<void(core::CallAnswer&)> answered);
    // Does nothing if no call with that tag is expected.
    void answered(core::CallAnswer& answer);
    // Answers every expected call: with the second error where the outcome is unknown.
    void fail_pending(core::CallError error, core::CallError of_those_unknown);
    // The node stops. Allocates nothing, because it may be stopping for lack of memory.
    void lose_everything();
    // The same without answers for others than the program: these would be written to descriptors
    // that may belong to the program now.
    void abandon();
    // The counters, with those of the holds.
    [[nodiscard]] Metrics counted() const;
    // With what the calls, the holds and the cached grants contribute.
    [[nodiscard]] Metrics metrics(Metrics metrics) const;

private:
    core::Call begin_next(SubmittedCalls& taken);
    void complete(std::shared_ptr<Submitted> call, core::CallAnswer& answer);
    CallOutcome outcome_of(const Submitted& call, core::CallAnswer& answer);
    void count(std::optional<core::Instant> acquire_began, const CallOutcome& outcome);
    void count_acquire(core::Instant began, const CallOutcome& outcome);
    void add_cache(Metrics& to) const;

    std::shared_ptr<CallGate> gate_;
    std::shared_ptr<GrantCache> cache_;
    Knowledge knowledge_;
    PendingCalls pending_;
    std::map<core::CallTag, std::function<void(core::CallAnswer&)>> expected_;  // by others
    HoldTable holds_;
    WaitingCalls waiting_;  // calls while suspended, or when there was no memory to begin them
    Metrics counters_;
};

}  // namespace mortise::detail
