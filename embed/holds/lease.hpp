// One run of a session's lease, from the renewal that began it to its end. Holds use it to find out
// whether they are valid. The lease thread or the core, whichever detects the end first, ends the
// lease for all its holds with one atomic; a later renewal begins another lease (S6, S7). Holds
// that outlive it (OnUncertain::suspend) have a lasting lease, which lives as long as the session:
// it is not valid after its end, but is valid again when it is extended.
#pragma once

#include <atomic>
#include <limits>
#include <map>
#include <memory>
#include <unordered_map>
#include <vector>

#include "core/agent/call.hpp"
#include "core/base/instant.hpp"
#include "embed/threads/guarded.hpp"

namespace mortise::detail {

class HeldRecords;
class HoldRecord;

// Thread-safe.
class Lease {
public:
    // At risk when less than `margin` is left: a renewal is overdue then. `records` has its holds.
    // `lasting` is the lasting lease of its session.
    Lease(core::SessionId session, core::Instant valid_until, core::Nanoseconds margin,
          std::weak_ptr<const HeldRecords> records = {}, std::shared_ptr<Lease> lasting = {})
        : session_{session},
          margin_{margin},
          records_{std::move(records)},
          lasting_{std::move(lasting)},
          valid_until_{valid_until.ns} {}
    static std::shared_ptr<Lease> make_lasting(core::SessionId session, core::Instant valid_until,
                                               core::Nanoseconds margin,
                                               std::weak_ptr<const HeldRecords> records = {});

    [[nodiscard]] core::SessionId session() const { return session_; }
    // Null if this lease is a lasting one.
    [[nodiscard]] const std::shared_ptr<Lease>& lasting() const { return lasting_; }
    // True if it has ended and may still be extended.
    [[nodiscard]] bool is_suspended(core::Instant boot) const {
        return lasts_ && !is_over() && !is_valid(boot);
    }
    // By the boot clock; the distant past once it is over.
    [[nodiscard]] core::Instant valid_until() const {
        return {valid_until_.load(std::memory_order_acquire)};
    }
    [[nodiscard]] bool is_over() const { return valid_until().ns == over; }
    [[nodiscard]] bool is_valid(core::Instant boot) const { return boot < valid_until(); }
    [[nodiscard]] bool is_at_risk(core::Instant boot) const {
        return boot + margin_ >= valid_until();
    }
    // The time from which it is at risk, unless it is extended; the distant past once it is over.
    [[nodiscard]] core::Instant at_risk_from() const { return valid_until() - margin_; }

    // False if it is over, for ever. A lease whose time has passed is over even if no thread has
    // noticed: its owners may have. A lasting lease is over only when it was ended.
    bool extend(core::Instant valid_until);
    // Ends it if its time had passed at `boot` and it is not lasting. True if this call ended it.
    bool end_if_run_out(core::Instant boot);
    // True if this call ended it.
    bool end() { return valid_until_.exchange(over, std::memory_order_acq_rel) != over; }

    // The holds that end with it.
    [[nodiscard]] std::vector<std::shared_ptr<HoldRecord>> holds() const;

    // The holds whose owners asked to be notified when it is at risk or suspended.
    void add_risk_watcher(const std::shared_ptr<HoldRecord>& hold);
    void remove_risk_watcher(const HoldRecord* hold);
    [[nodiscard]] std::vector<std::shared_ptr<HoldRecord>> risk_watchers() const;

    // The holds of that grant whose owners asked to be notified of contention.
    void add_listener(core::OperationId grant, const std::shared_ptr<HoldRecord>& hold);
    void remove_listener(core::OperationId grant, const HoldRecord* hold);
    void remove_listeners(core::OperationId grant);
    [[nodiscard]] std::vector<std::shared_ptr<HoldRecord>> listeners(core::OperationId grant) const;

private:
    static constexpr std::int64_t over = std::numeric_limits<std::int64_t>::min();

    using Some = std::unordered_map<const HoldRecord*, std::weak_ptr<HoldRecord>>;

    const core::SessionId session_;
    const core::Nanoseconds margin_;
    const std::weak_ptr<const HeldRecords> records_;
    const std::shared_ptr<Lease> lasting_;
    bool lasts_ = false;
    std::atomic<std::int64_t> valid_until_;
    Guarded<Some> risk_watchers_;
    Guarded<std::map<core::OperationId, Some>> listeners_;
};

}  // namespace mortise::detail
