// What this node's program holds, and the lease on which all of it depends. It runs on the core
// thread.
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
#include "embed/holds/grant_cache.hpp"
#include "embed/holds/hand_overs.hpp"
#include "embed/holds/held_records.hpp"
#include "embed/holds/hold_record.hpp"
#include "embed/holds/lease_thread.hpp"
#include "embed/threads/call_gate.hpp"
#include "embed/threads/event_hub.hpp"
#include <mortise/metrics.hpp>

namespace mortise::detail {

// The parameters of the table. All of them outlive it.
struct HoldTableParts {
    std::shared_ptr<CallGate> gate;
    EventHub& events;
    LeaseThread& leases;
    Notifier& losses;
    std::shared_ptr<GrantCache> cache;
};

// Counters and times since the start.
struct HoldCounts {
    std::uint64_t released = 0;  // by their owners
    std::uint64_t lost_expired = 0;
    std::uint64_t lost_broken = 0;
    std::uint64_t lost_node_stopped = 0;
    std::uint64_t sessions_opened = 0;
    std::uint64_t sessions_expired = 0;
    DurationHistogram hold_time{};
    DurationHistogram renewal_slack{};
    DurationHistogram hand_over_time{};
};

class HoldTable {
public:
    // A lease with less than `margin` left is at risk.
    HoldTable(HoldTableParts parts, core::Nanoseconds margin)
        : parts_{std::move(parts)}, margin_{margin} {}

    // The lease of the session must be known before. `acquire` is the call that was granted.
    [[nodiscard]] Hold add(core::Acquired granted, const core::AcquireCall& acquire);
    // When its caller began to wait, on the steady clock, for the time of a hand-over.
    void measure_hand_over(const HoldRecord& granted, core::Instant began);
    void upgraded(core::OperationId hold, FencingToken token);
    void given_back(core::OperationId hold);
    void lapsed(core::OperationId hold);  // see lapse(), which notifies its owner
    void lost(const core::HoldLost& lost);
    void suspended(core::OperationId hold);
    void contended(const core::Contended& contended);
    // Returns the holds that the owners have lost and the core still counts. The core releases them
    // once the owners were notified.
    [[nodiscard]] core::Calls lease_changed(const core::LeaseChanged& lease);
    // Ends the holds whose progress_timeout has passed (S8). Returns what the core has to release
    // once their owners were notified.
    [[nodiscard]] core::Calls end_idle(core::Instant boot);
    // When to call end_idle() next, by the boot clock.
    [[nodiscard]] core::Instant idle_at() const {
        return by_idle_.empty() ? core::Instant::never() : by_idle_.begin()->first;
    }
    // Somebody uses a hold; a cached grant may be idle.
    [[nodiscard]] bool is_in_use() const;
    // The node stops or abandons its session.
    void lose_everything(LossReason why);
    // The node closes, and all holds are lost. Returns those whose owners are being notified.
    [[nodiscard]] std::vector<core::OperationId> close();

    // Calls visit(operation, record) for the holds from `first` on, until it returns false. True if
    // it came to the end.
    template <class Visit>
    bool each_from(core::OperationId first, const Visit& visit) const {
        const auto& all = holds_->all();
        for (auto next = all.lower_bound(first); next != all.end(); ++next) {
            if (!visit((*next)->hold(), **next)) return false;
        }
        return true;
    }
    // The cluster learns who uses this cached grant.
    void published(core::OperationId hold);

    [[nodiscard]] bool has_valid_lease() const;
    [[nodiscard]] std::size_t size() const { return holds_->all().size(); }
    [[nodiscard]] const HoldCounts& counts() const { return counts_; }
    [[nodiscard]] std::uint64_t holds_lost() const {
        return counts_.lost_expired + counts_.lost_broken + counts_.lost_node_stopped;
    }
    [[nodiscard]] std::uint64_t sessions_expired() const { return counts_.sessions_expired; }

private:
    [[nodiscard]] std::shared_ptr<HoldRecord> find(core::OperationId hold) const;
    // It must be in the list.
    std::shared_ptr<HoldRecord> take(core::OperationId hold);
    void look_later(core::OperationId hold, core::Instant works_until);
    [[nodiscard]] std::shared_ptr<const HoldContext> context_of(std::shared_ptr<Lease> lease) const;
    void lose(const std::shared_ptr<HoldRecord>& hold, LossReason why);
    [[nodiscard]] bool end(HoldRecord& hold, LossReason why);
    [[nodiscard]] HeldRecords::Records take_all();
    void count_lost(LossReason why);
    void measure_hold(const HoldRecord& hold, core::Instant now);
    // `of_use`: of the use of a cached grant; otherwise not set.
    void report_lost(const HoldRecord& hold, core::FencingToken of_use) noexcept;
    void publish_lost(const HoldRecord& hold, std::string_view name, FencingToken token);
    void session_expired();
    void measure_slack();
    [[nodiscard]] core::Calls give_back_holds_of(const Lease& lease);

    const HoldTableParts parts_;
    const core::Nanoseconds margin_;
    const std::shared_ptr<HeldRecords> holds_ = std::make_shared<HeldRecords>();
    // holds to be checked at that time
    std::set<std::pair<core::Instant, core::OperationId>> by_idle_;
    std::map<core::OperationId, core::Instant> looked_at_;  // the places of holds in by_idle_
    std::shared_ptr<Lease> lease_;
    std::shared_ptr<Lease> lasting_;              // the lease, while its session is the same
    std::shared_ptr<const HoldContext> context_;  // of holds with that lease
    std::shared_ptr<const HoldContext> lasting_context_;
    // when the owners were last notified that the lasting lease had ended
    core::Instant ran_out_at_;
    HandOvers hand_overs_;
    HoldCounts counts_;
};

}  // namespace mortise::detail
