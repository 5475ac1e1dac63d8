// What a Hold points at: one grant, and how it ended.
#pragma once

#include <atomic>
#include <cstdint>
#include <functional>
#include <memory>
#include <stop_token>
#include <string>
#include <system_error>
#include <vector>

#include "core/agent/call.hpp"
#include "embed/call_gate.hpp"
#include "embed/fork_generation.hpp"
#include "embed/hold_watcher.hpp"
#include "embed/lease.hpp"
#include <mortise/hold.hpp>
#include <mortise/hold_set.hpp>

namespace mortise::detail {

class LockerState;
class NodeRuntime;

struct GrantFacts {
    std::string name;
    LockMode mode = LockMode::exclusive;
    FencingToken token;
    core::OperationId operation;
    Previous previous;
    bool suspends = false;  // rather than being lost when its lease runs out (S6)
    core::Instant ends = core::Instant::never();  // of the boot clock: by its max_hold (S8)
    core::Nanoseconds progress_timeout{0};        // zero: none
};

// Thread-safe. It ends once: released by its owner, or lost. In the child of a fork it is lost.
//
// A locker's grant is a record that nobody sees; its owners have records that share it, each
// released by itself and lost with the grant (S22). So is the grant of several names at once, whose
// parts are released with it alone (S32).
//
// What its end takes is made with it, so that no want of memory leaves a grant that nobody owns: it
// is the job of telling its owner of a loss, and keeps a release ready, in whose place the core is
// told that this was done.
class HoldRecord final : public Notifier::Job {
public:
    HoldRecord(GrantFacts facts, std::shared_ptr<Lease> lease, std::shared_ptr<CallGate> gate,
               std::vector<GrantFacts> parts = {})
        : facts_{std::move(facts)},
          parts_{std::move(parts)},
          lease_{std::move(lease)},
          gate_{std::move(gate)},
          release_{prepared(core::ReleaseCall{{}, facts_.operation})},
          mode_{facts_.mode},
          token_{facts_.token.raw()} {
        begin_work();
    }
    // Shares a grant of that locker, in a mode that the grant's covers.
    HoldRecord(std::shared_ptr<HoldRecord> grant, LockMode mode,
               std::shared_ptr<LockerState> locker);

    // One of the parts of a grant.
    HoldRecord(std::shared_ptr<HoldRecord> grant, const GrantFacts& part);

    // Often on the core thread, which is told of a release last.
    ~HoldRecord() override;
    HoldRecord(const HoldRecord&) = delete;
    HoldRecord& operator=(const HoldRecord&) = delete;

    static Hold hold_on(std::shared_ptr<HoldRecord> record) { return Hold{std::move(record)}; }
    static HoldSet set_of(Hold granted) { return HoldSet{std::move(granted)}; }
    static const std::shared_ptr<HoldRecord>& of(const Hold& hold) { return hold.record_; }
    static std::shared_ptr<HoldRecord> take(Hold& hold) { return std::move(hold.record_); }

    // As it was granted.
    [[nodiscard]] const GrantFacts& facts() const { return facts_; }
    [[nodiscard]] const std::vector<GrantFacts>& parts() const { return parts_; }
    // As it is now (S27).
    [[nodiscard]] LockMode mode() const { return mode_.load(std::memory_order_acquire); }
    [[nodiscard]] FencingToken token() const;
    void set_mode(LockMode mode) { mode_.store(mode, std::memory_order_release); }
    // Before whoever asked for that sets the mode, so that who sees it sees the token that came
    // with it. If nobody waits for it any more the mode stays, and the token is that of the grant.
    void upgraded(FencingToken token) { token_.store(token.raw(), std::memory_order_release); }
    [[nodiscard]] const std::shared_ptr<Lease>& lease() const { return lease_; }
    [[nodiscard]] const std::shared_ptr<CallGate>& gate() const { return gate_; }

    // Of the boot clock: valid until then, if nothing else happens.
    [[nodiscard]] core::Instant valid_until() const;
    // Its worker gets on: progress_timeout begins anew, unless it is over (S8).
    void checkpoint();
    // Until when its worker has to have said so, of the boot clock; never without progress_timeout.
    [[nodiscard]] core::Instant works_until() const;
    // True, and it stays so, when that is over.
    [[nodiscard]] bool end_if_idle(core::Instant boot);

    [[nodiscard]] bool is_released() const { return end() == End::released; }
    [[nodiscard]] bool is_valid() const;
    [[nodiscard]] HoldState state() const;
    [[nodiscard]] LossReason why_lost() const;
    [[nodiscard]] std::error_code failure() const;
    [[nodiscard]] std::stop_token lost() const {
        return grant_ ? grant_->lost() : stop_.get_token();
    }

    // On the caller's thread, before the owner has the hold.
    static void watch(const std::shared_ptr<HoldRecord>& record, HoldWishes wishes);
    void forget_watcher();
    // Tells the owner that it is at risk, or suspended, if that was not said: on the notifier's
    // threads only.
    void tell_trouble();
    // Others want what it has: its owner is told on those threads. Of one that nobody watches, and
    // of one that is over, nothing is told.
    static void contended(const std::shared_ptr<HoldRecord>& record, Contention contention);

    // Null for what nobody shares.
    [[nodiscard]] const std::shared_ptr<HoldRecord>& grant() const { return grant_; }
    [[nodiscard]] const std::shared_ptr<LockerState>& locker() const { return locker_; }
    // True once: its locker has not been told yet that the owner let go of it.
    bool leave() { return !has_left_.exchange(true); }
    [[nodiscard]] bool has_left() const { return has_left_; }

    // True when this call ended it; only then there is something to tell the cluster.
    bool mark_released();
    bool mark_lost(LossReason why);
    // By whoever marked it released: the cluster hears of it before whatever is asked from now on.
    void set_given_back() noexcept;
    // Of a grant that another thread released: until it said so, a moment later.
    void wait_until_given_back() const noexcept;
    // The release of a grant, for whom mark_released() was true.
    [[nodiscard]] SubmittedCalls take_release(core::CallTag tag,
                                              std::shared_ptr<Completion> completion) noexcept;
    // Runs what the user registered, unless it was given back just before, and tells the core,
    // which lets nobody else have it before that (S6): on the notifier's threads only.
    void run() override;

private:
    enum class End : std::uint8_t { none, released, expired, broken, node_stopped, forked };

    void begin_work();
    // Of what it shares, or its own.
    [[nodiscard]] const HoldRecord& whole() const { return grant_ ? *grant_ : *this; }
    // What it is lost by besides its lease.
    [[nodiscard]] core::Instant ends_at() const;
    [[nodiscard]] End end() const;
    bool end_with(End end);

    const GrantFacts facts_;
    const std::vector<GrantFacts> parts_;
    const std::shared_ptr<Lease> lease_;
    const std::shared_ptr<CallGate> gate_;
    const std::shared_ptr<HoldRecord> grant_;
    const std::shared_ptr<LockerState> locker_;
    SubmittedCalls release_;
    std::atomic<LockMode> mode_;
    std::atomic<std::int64_t> token_;
    std::atomic<std::int64_t> works_until_{core::Instant::never().ns};
    const ForkGeneration generation_;
    std::atomic<End> end_{End::none};
    std::atomic<bool> has_left_{false};
    std::atomic<bool> given_back_{false};
    std::stop_source stop_;
    std::shared_ptr<HoldWatcher> watcher_;  // set before anybody else sees it, and few have one
};

}  // namespace mortise::detail
