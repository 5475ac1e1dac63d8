// What this node's program holds, and the lease that all of it hangs on. On the core thread.
#pragma once

#include <cstdint>
#include <map>
#include <memory>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "core/agent/call.hpp"
#include "core/node/event.hpp"
#include "embed/call_gate.hpp"
#include "embed/event_hub.hpp"
#include "embed/hold_record.hpp"
#include "embed/lease_thread.hpp"

namespace mortise::detail {

// All of it outlives the table.
struct HoldTableParts {
    std::shared_ptr<CallGate> gate;
    EventHub& events;
    LeaseThread& leases;
    Notifier& losses;
};

class HoldTable {
public:
    // A lease of which less than `margin` is left is at risk.
    HoldTable(HoldTableParts parts, core::Nanoseconds margin)
        : parts_{std::move(parts)}, margin_{margin} {}

    // What was granted, of several names each a part. Requires that the session's lease was told
    // before.
    [[nodiscard]] Hold add(GrantFacts facts, std::vector<GrantFacts> parts = {});
    void upgraded(core::OperationId hold, FencingToken token);
    void given_back(core::OperationId hold);
    void lost(const core::HoldLost& lost);
    void suspended(core::OperationId hold);
    void contended(const core::Contended& contended);
    // Answers what the core has to release once their owners were told: holds it still counts on,
    // and they do not.
    [[nodiscard]] core::Calls lease_changed(const core::LeaseChanged& lease);
    // Those whose workers have not said for too long that they get on are lost (S8): answers what
    // the core has to release once their owners were told.
    [[nodiscard]] core::Calls end_idle(core::Instant boot);
    // When to ask for that next, of the boot clock.
    [[nodiscard]] core::Instant idle_at() const {
        return by_idle_.empty() ? core::Instant::never() : by_idle_.begin()->first;
    }
    // The node stops, or gives its session up.
    void lose_everything(LossReason why);

    [[nodiscard]] bool has_valid_lease() const;
    [[nodiscard]] std::size_t size() const { return holds_.size(); }
    // Since the start.
    [[nodiscard]] std::uint64_t holds_lost() const { return holds_lost_; }
    [[nodiscard]] std::uint64_t sessions_expired() const { return sessions_expired_; }

private:
    struct Listed {
        std::shared_ptr<HoldRecord> record;
        core::Instant looked_at = core::Instant::never();  // when by_idle_ has it
    };
    using Holds = std::map<core::OperationId, Listed>;

    std::shared_ptr<HoldRecord> take(Holds::iterator hold);
    void lose(const std::shared_ptr<HoldRecord>& hold, LossReason why);
    void report_lost(const HoldRecord& hold) noexcept;
    void publish_lost(const HoldRecord& hold, const std::string& name, FencingToken token);
    void session_expired();
    [[nodiscard]] core::Calls give_back_holds_of(const Lease& lease);

    const HoldTableParts parts_;
    const core::Nanoseconds margin_;
    Holds holds_;
    std::set<std::pair<core::Instant, core::OperationId>> by_idle_;  // those looked at some time
    std::shared_ptr<Lease> lease_;
    std::shared_ptr<Lease> lasting_;  // of the same session
    core::Instant ran_out_at_;        // the lasting one, when its owners were told last
    std::uint64_t holds_lost_ = 0;
    std::uint64_t sessions_expired_ = 0;
};

}  // namespace mortise::detail
