// The record of one grant, to which a Hold points, and how it ended.
#pragma once

#include <atomic>
#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <span>
#include <stop_token>
#include <string_view>
#include <system_error>
#include <vector>

#include "core/agent/call.hpp"
#include "core/base/compact_text.hpp"
#include "core/cache/lock_cache.hpp"
#include "embed/holds/grant_use.hpp"
#include "embed/holds/hold_end.hpp"
#include "embed/holds/hold_watcher.hpp"
#include "embed/holds/lease.hpp"
#include "embed/holds/loss_signal.hpp"
#include "embed/holds/time_limits.hpp"
#include "embed/threads/call_gate.hpp"
#include "embed/threads/fork_generation.hpp"
#include "embed/threads/guarded.hpp"
#include "embed/values/lock_mode.hpp"
#include <mortise/hold.hpp>
#include <mortise/hold_set.hpp>

namespace mortise::detail {

class GrantCache;
class HoldRecord;
class LockerState;
class NodeRuntime;

// What the holds of one lease have in common.
struct HoldContext {
    std::shared_ptr<Lease> lease;
    std::shared_ptr<CallGate> gate;
    std::shared_ptr<GrantCache> cache;
    ForkGeneration generation{};
    // Null: what a record without these refers to. A static object would be destroyed by exit(),
    // during which nodes go on.
    std::shared_ptr<HoldRecord> no_grant{};
    std::shared_ptr<LockerState> no_locker{};
    std::shared_ptr<GrantCache> no_cache{};
};

// Thread-safe. A record ends once: released by its owner, or lost. In the child of a fork it is
// lost.
//
// A cached grant is a record without a Hold as well (S39). Its uses have records of their own, one
// after the other, each with its own token. A record that nothing refers to any more has the next
// use, and the one to which the grant is lent has many (GrantUse).
//
// A locker's grant is a record without a Hold. The locker's Holds have records that share it; each
// is released by itself, and all are lost with the grant (S22). The grant of several names is such
// a record too; its parts are released only together (S32).
//
// Everything that its end needs is allocated with it, so that a lack of memory never leaves a grant
// without an owner: the record of a grant is the call of its own release, or the job that notifies
// the owner of its loss and then the call that tells the core so. It is one after the other.
//
// It is one class for all kinds of holds because each of them ends once (HoldEnd), whatever the
// cause, and Hold, HoldTable and the lease thread do not care about its kind. A program may have a
// million: what few of them have is in Rare, among it their time limits (TimeLimits).
class HoldRecord final : public Submitted {
public:
    // `acquire` is the call that was granted.
    HoldRecord(core::Acquired granted, std::shared_ptr<const HoldContext> context,
               const core::AcquireCall& acquire);
    HoldRecord(core::Acquired granted, std::shared_ptr<Lease> lease, std::shared_ptr<CallGate> gate)
        : HoldRecord{std::move(granted),
                     std::make_shared<HoldContext>(
                         HoldContext{std::move(lease), std::move(gate), nullptr}),
                     core::AcquireCall{}} {}
    // A use of a cached grant.
    HoldRecord(const std::shared_ptr<HoldRecord>& grant, std::unique_ptr<GrantUse> use,
               std::shared_ptr<GrantCache> cache);
    // Shares a grant of that locker, in a mode that the grant covers.
    HoldRecord(const std::shared_ptr<HoldRecord>& grant, LockMode mode,
               std::shared_ptr<LockerState> locker);

    // One of the parts of that grant.
    HoldRecord(const std::shared_ptr<HoldRecord>& grant, const core::Acquired::Part& part);

    // Often runs on the core thread, which is the last to learn of a release.
    ~HoldRecord() override;
    HoldRecord(const HoldRecord&) = delete;
    HoldRecord& operator=(const HoldRecord&) = delete;

    static Hold hold_on(std::shared_ptr<HoldRecord> record) { return Hold{std::move(record)}; }
    static HoldSet set_of(Hold granted) { return HoldSet{std::move(granted)}; }
    static const std::shared_ptr<HoldRecord>& of(const Hold& hold) { return hold.record_; }
    static std::shared_ptr<HoldRecord> take(Hold& hold) { return std::move(hold.record_); }

    // Of the grant, also for a record that shares it.
    [[nodiscard]] core::OperationId operation() const { return whole().hold(); }
    // It is the grant of all of several names.
    [[nodiscard]] bool has_parts() const { return rare_ && !rare_->parts.empty(); }
    // It must be such a grant.
    [[nodiscard]] const core::ShortList<core::Acquired::Part>& parts() const {
        return rare_->parts;
    }
    // Empty for a grant with parts.
    [[nodiscard]] std::string_view name() const;
    [[nodiscard]] Previous previous() const { return from_core(former_holder()); }
    [[nodiscard]] core::Previous former_holder() const;
    // The present mode (S27).
    [[nodiscard]] LockMode mode() const { return mode_.load(std::memory_order_acquire); }
    [[nodiscard]] FencingToken token() const;
    // Of a semaphore; otherwise empty.
    [[nodiscard]] std::span<const Slot> slots() const {
        return rare_ ? std::span<const Slot>{rare_->slots} : std::span<const Slot>{};
    }
    void set_mode(LockMode mode) { mode_.store(mode, std::memory_order_release); }
    // Called before the waiting caller sets the mode, so that a thread which reads the new mode
    // also reads its token. If the caller has stopped waiting, the mode stays, and the token is
    // that of the grant.
    void upgraded(FencingToken token) { token_.store(token.raw(), std::memory_order_release); }
    [[nodiscard]] const std::shared_ptr<Lease>& lease() const { return context_->lease; }
    [[nodiscard]] const std::shared_ptr<CallGate>& gate() const { return context_->gate; }

    // The end of its validity by the boot clock, if nothing else happens.
    [[nodiscard]] core::Instant valid_until() const;
    // Reports progress: progress_timeout begins anew, unless it has passed (S8).
    void checkpoint();
    // The time by which the next checkpoint is due, by the boot clock; never without
    // progress_timeout.
    [[nodiscard]] core::Instant works_until() const;
    // True if that time has passed; it stays true.
    [[nodiscard]] bool end_if_idle(core::Instant boot);

    [[nodiscard]] bool is_released() const { return end() == End::released; }
    [[nodiscard]] bool is_valid() const;
    [[nodiscard]] HoldState state() const;
    [[nodiscard]] LossReason why_lost() const;
    [[nodiscard]] std::error_code failure() const;
    // A use of a cached grant has a token of its own: a released use is nobody's loss.
    [[nodiscard]] std::stop_token lost() const;
    // For a lost grant. True if nobody has asked for lost(), so nobody has to be notified: who asks
    // later gets a token on which a stop was requested.
    [[nodiscard]] bool nobody_listens();

    // Called on the caller's thread before the owner gets the hold.
    static void watch(const std::shared_ptr<HoldRecord>& record, HoldWishes wishes);
    void forget_watcher();
    // Notifies the owner that the hold is at risk or suspended, once. Runs on the notifier's
    // threads only.
    void notify_trouble();
    // Another request conflicts with the hold: the owner is notified on those threads, unless the
    // hold is not watched or has ended.
    static void contended(const std::shared_ptr<HoldRecord>& record, Contention contention);

    // The cache in which the release of this hold is noted; null if there is none.
    [[nodiscard]] const std::shared_ptr<GrantCache>& cache() const {
        if (locker()) return grant()->cache();
        return is_noted_in_cache_ ? context_->cache : context_->no_cache;
    }
    // Null if it is no use of a cached grant.
    [[nodiscard]] GrantUse* as_use() const { return rare_ ? rare_->use_of_grant.get() : nullptr; }
    // The present use of this cached grant, which nobody has yet: its owner is notified of the loss
    // of the grant.
    void set_use(const std::shared_ptr<HoldRecord>& use);
    // A released use that nothing refers to any more may become the next use of its grant, and one
    // may have its grant lent. False if somebody may still be notified of its loss.
    [[nodiscard]] bool may_be_used_again() const;
    // The owner takes a grant that is lent to it, or puts it back. False if that is not possible
    // now. Whoever takes it checks is_valid() after that (S42).
    [[nodiscard]] bool take_lent() { return loss_.is_untouched() && as_use()->word().take(); }
    [[nodiscard]] bool put_back() {
        auto* const use = as_use();
        return use != nullptr && end() == End::none && use->word().put_back();
    }
    // When the core thread made it of a grant, on the steady clock. Used on that thread only.
    void set_granted_at(core::Instant steady) { granted_at_ = steady; }
    [[nodiscard]] core::Instant granted_at() const { return whole().granted_at_; }
    // Since when its owner certainly has it, on the steady clock. Empty for a cached grant, unless
    // another request waits for it: then since the cluster was told who uses it (S45).
    [[nodiscard]] std::optional<core::Instant> in_use_since() const {
        if (is_cached_grant() && !rare_->is_published) return std::nullopt;
        return granted_at_;
    }
    void set_published(core::Instant steady);
    // The number of warnings of its age. Used on the core thread only, like the times.
    [[nodiscard]] std::uint8_t age_warnings() const { return age_warnings_; }
    void set_age_warnings(std::uint8_t number) { age_warnings_ = number; }
    // It is a cached grant, whether it is used at the moment or not.
    [[nodiscard]] bool is_cached_grant() const { return rare_ && rare_->is_cached; }
    // It is a cached grant that nobody uses at the moment.
    [[nodiscard]] bool is_idle() const;
    // It is one of several holds that are released together.
    [[nodiscard]] bool is_part_of_set() const { return rare_ && rare_->part != nullptr; }
    // Null if the record shares no grant.
    [[nodiscard]] const std::shared_ptr<HoldRecord>& grant() const {
        const auto* rare = rare_.get();
        return rare != nullptr ? rare->grant : context_->no_grant;
    }
    [[nodiscard]] const std::shared_ptr<LockerState>& locker() const {
        const auto* rare = rare_.get();
        return rare != nullptr ? rare->locker : context_->no_locker;
    }
    // True once: the owner has released it, and its locker does not know yet.
    bool leave() { return !has_left_.exchange(true); }
    [[nodiscard]] bool has_left() const { return has_left_; }

    // True if this call ended it; only then the cluster has to be informed.
    bool mark_released();
    bool mark_lost(LossReason why);
    // Called by the thread that marked it released, when the release is queued ahead of any later
    // request.
    void set_given_back() noexcept;
    // For a grant that another thread is releasing: waits until that thread has called
    // set_given_back(), a moment later.
    void wait_until_given_back() const noexcept;
    // For the caller for whom mark_released() was true, who submits the record of the grant then.
    void prepare_release(core::CallTag tag, std::shared_ptr<Completion> completion) noexcept {
        set(Ends::hold, tag);
        answer_to(std::move(completion));
    }
    // Runs the callbacks of a loss, unless the hold was released just before, and then tells the
    // core, which keeps the name from others until then (S6). Runs on the notifier's threads only.
    // The record is posted there by notify_holds() in runtime/node_runtime.cpp when the lease
    // thread ends the lease, by NodeRuntime::lose_holds() when the node is abandoned, and else by
    // HoldTable.
    static void notify_lost(const std::shared_ptr<HoldRecord>& record);

private:
    void run(const std::shared_ptr<Queued>& self) override {
        notify_lost(std::static_pointer_cast<HoldRecord>(self));
    }

    using End = HoldEnd::Kind;

    void begin_work();
    // The grant that it shares, or itself.
    [[nodiscard]] const HoldRecord& whole() const { return grant() ? grant()->whole() : *this; }
    // The end of the hold by anything but its lease.
    [[nodiscard]] core::Instant ends_at() const;
    [[nodiscard]] End end() const;
    // Of a cached grant; null if nobody has used it, or if nothing refers to that use any more.
    [[nodiscard]] std::shared_ptr<HoldRecord> present_use() const;

    // There may be very many holds, and most have none of this. Nobody changes the pointers after
    // others can see the record.
    struct Rare {
        std::shared_ptr<HoldRecord> grant;            // which it shares with other holds
        std::shared_ptr<LockerState> locker;          // whose holds share the grant
        const core::Acquired::Part* part = nullptr;   // the one of the grant's names that it has
        core::ShortList<core::Acquired::Part> parts;  // of the grant of all of several names
        std::vector<Slot> slots;                      // of a semaphore
        core::Previous previous;                      // who had the name before, but of a use
        std::unique_ptr<GrantUse> use_of_grant;       // that it is
        TimeLimits limits;                            // of a grant
        bool is_cached = false;                       // it is a cached grant
        bool is_published = false;  // its user is known to others: set by set_published()
        Guarded<std::weak_ptr<HoldRecord>> use;  // of a cached grant: set by set_use()
    };
    HoldRecord(std::shared_ptr<const HoldContext> context, std::unique_ptr<Rare> rare,
               LockMode mode, FencingToken token, bool is_noted_in_cache);
    static std::unique_ptr<Rare> rare_of(core::Acquired& granted, core::Nanoseconds progress);
    static std::unique_ptr<Rare> sharing(std::shared_ptr<HoldRecord> grant);

    // There may be a million records. These fit into the padding of the base class.

    // set by the constructor, and by set_mode() when its owner converts it
    std::atomic<LockMode> mode_;
    // set by the first thread that ends it; a use has its word instead
    HoldEnd end_;
    // the owner has released it: set by leave()
    std::atomic<bool> has_left_{false};
    // its release is noted in the cache: set by the constructor
    const bool is_noted_in_cache_;
    // the warnings of its age: set by AgeWatch on the core thread
    std::uint8_t age_warnings_ = 0;

    // what it has in common with the other holds of its lease: set by the constructor
    const std::shared_ptr<const HoldContext> context_;
    // the name of the lock: set by the constructor; empty if it shares a grant
    const core::CompactText name_;
    // what few holds have: set by the constructor; null if it has none of it
    const std::unique_ptr<Rare> rare_;
    // when the core thread made it: set by set_granted_at() and set_published() on that thread
    core::Instant granted_at_;
    // the fencing token, but of a use: set by the constructor and upgraded()
    std::atomic<std::int64_t> token_;
    // what lost() gives; not used in a record that has the one of its grant
    mutable LossSignal loss_;
    // the callbacks of its owner, which few holds have: set before others can see the record
    HoldWatcher* watcher_ = nullptr;
};

}  // namespace mortise::detail
