#include "embed/holds/hold_record.hpp"

#include <algorithm>
#include <limits>
#include <tuple>
#include <utility>

#include "embed/threads/call_gate.hpp"
#include "embed/values/clocks.hpp"
#include <mortise/errc.hpp>

namespace mortise::detail {

namespace {

// Null if the grant has all of several names.
const core::Acquired::Part* only_part(const core::Acquired& granted) {
    return granted.which == core::Acquire::Which::all ? nullptr : &granted.parts.front();
}

}  // namespace

HoldRecord::HoldRecord(core::Acquired granted, std::shared_ptr<Lease> lease,
                       std::shared_ptr<CallGate> gate, core::Nanoseconds progress_timeout,
                       std::shared_ptr<GrantCache> cache)
    : granted_{std::move(granted)},
      part_{only_part(granted_)},
      progress_timeout_{progress_timeout},
      lease_{std::move(lease)},
      gate_{std::move(gate)},
      cache_{std::move(cache)},
      release_{prepared(core::ReleaseCall{{}, granted_.hold})},
      mode_{part_ ? from_core(part_->mode) : LockMode::exclusive},
      token_{part_ ? from_core(part_->token).raw() : 0} {
    begin_work();
}

HoldRecord::HoldRecord(std::shared_ptr<HoldRecord> grant, core::LockCache::Use use,
                       std::shared_ptr<GrantCache> cache)
    : granted_{use.grant,
               {{grant->part_->name, grant->part_->mode, use.token, std::move(use.previous)}}},
      part_{&granted_.parts.front()},
      lease_{grant->lease()},
      gate_{grant->gate()},
      grant_{std::move(grant)},
      cache_{std::move(cache)},
      mode_{from_core(part_->mode)},
      token_{from_core(part_->token).raw()} {}

HoldRecord::HoldRecord(std::shared_ptr<HoldRecord> grant, LockMode mode,
                       std::shared_ptr<LockerState> locker)
    : part_{grant->part_},
      lease_{grant->lease()},
      gate_{grant->gate()},
      grant_{std::move(grant)},
      locker_{std::move(locker)},
      mode_{mode},
      stop_{std::nostopstate} {}

HoldRecord::HoldRecord(std::shared_ptr<HoldRecord> grant, const core::Acquired::Part& part)
    : part_{&part},
      lease_{grant->lease()},
      gate_{grant->gate()},
      grant_{std::move(grant)},
      mode_{from_core(part.mode)},
      token_{from_core(part.token).raw()},
      stop_{std::nostopstate} {}

HoldRecord::~HoldRecord() {
    if (watcher_) gate_->notifier().post(std::move(watcher_));
}

std::stop_token HoldRecord::lost() const {
    if (grant_ && !is_use()) return grant_->lost();
    has_listener_.store(true, std::memory_order_relaxed);
    return stop_.get_token();
}

bool HoldRecord::may_be_used_again() const {
    return is_released() && !watcher_ && !has_listener_.load(std::memory_order_relaxed) &&
           !stop_.stop_requested();
}

// The end is the last that changes: until then the record is a released one. The order of all
// accesses to ends is one (seq_cst), so either the new user sees the loss of the grant, or
// notify_lost() sees the new use.
void HoldRecord::use_again(core::LockCache::Use use) {
    auto& part = granted_.parts.front();
    part.token = use.token;
    part.previous = std::move(use.previous);
    token_.store(from_core(use.token).raw(), std::memory_order_relaxed);
    has_left_.store(false, std::memory_order_relaxed);
    given_back_.store(false, std::memory_order_relaxed);
    end_.store(End::none);
}

FencingToken HoldRecord::token() const {
    if (locker_) return grant_->token();
    const auto own = FencingToken::from_raw(token_.load(std::memory_order_acquire));
    // After an upgrade the cluster's grant has a newer token.
    return cache_ && grant_ ? std::max(own, grant_->token()) : own;
}

// Both times begin before the cluster can begin to count them for this hold.
void HoldRecord::begin_work() {
    const auto progress = progress_timeout_;
    if (progress == core::Nanoseconds{0}) return;
    works_until_.store((boot_now() + progress).ns, std::memory_order_release);
}

core::Instant HoldRecord::works_until() const {
    return {whole().works_until_.load(std::memory_order_acquire)};
}

core::Instant HoldRecord::ends_at() const {
    return std::min(whole().granted_.ends, works_until());
}

core::Instant HoldRecord::valid_until() const {
    return std::min(lease_->valid_until(), ends_at());
}

void HoldRecord::checkpoint() {
    if (grant_) return grant_->checkpoint();
    const auto progress = progress_timeout_;
    auto until = works_until();
    const auto boot = boot_now();
    if (progress == core::Nanoseconds{0} || boot >= until) return;
    works_until_.compare_exchange_strong(until.ns, (boot + progress).ns);
}

// A checkpoint at the same moment is either too late or comes first.
bool HoldRecord::end_if_idle(core::Instant boot) {
    auto until = works_until();
    if (boot < until) return false;
    return works_until_.compare_exchange_strong(until.ns, std::numeric_limits<std::int64_t>::min());
}

bool HoldRecord::is_valid() const {
    const auto boot = boot_now();
    return end() == End::none && boot < valid_until();
}

HoldState HoldRecord::state() const {
    const auto end = this->end();
    if (end == End::released) return HoldState::released;
    const auto boot = boot_now();
    if (end != End::none) return HoldState::lost;
    if (boot >= ends_at()) return HoldState::lost;
    if (lease_->is_suspended(boot)) return HoldState::suspended;
    if (!lease_->is_valid(boot)) return HoldState::lost;
    return lease_->is_at_risk(boot) ? HoldState::at_risk : HoldState::held;
}

LossReason HoldRecord::why_lost() const {
    switch (end()) {
        case End::expired: return LossReason::expired;
        case End::broken: return LossReason::broken;
        case End::node_stopped: return LossReason::node_stopped;
        case End::forked: return LossReason::forked;
        case End::released: return LossReason::none;
        case End::none: break;
    }
    // The lease has ended, and this hold was not marked lost yet.
    const auto boot = boot_now();
    const bool may_be_held = lease_->is_valid(boot) || lease_->is_suspended(boot);
    return may_be_held && boot < ends_at() ? LossReason::none : LossReason::expired;
}

std::error_code HoldRecord::failure() const {
    if (is_valid()) return {};
    if (is_released()) return Errc::not_held;
    switch (why_lost()) {
        case LossReason::node_stopped: return Errc::node_stopped;
        case LossReason::forked: return Errc::forked;
        case LossReason::none: return Errc::no_quorum;  // suspended, or held again just now
        default: return Errc::lock_lost;
    }
}

void HoldRecord::watch(const std::shared_ptr<HoldRecord>& record, HoldWishes wishes) {
    record->watcher_ = std::make_shared<HoldWatcher>(std::move(wishes));
    if (record->watcher_->wants_trouble()) {
        record->lease_->add_risk_watcher(record);
        // The lease thread may have taken its list just before, so this hold checks the lease
        // itself.
        if (record->state() != HoldState::held)
            record->gate_->notifier().post([record] { record->notify_trouble(); });
    }
    if (!record->watcher_->wants_contentions()) return;
    record->lease_->add_listener(record->operation(), record);
    // If this fails, the node has stopped, and the hold is lost.
    (void)record->gate_->submit(core::WatchCall{{}, record->operation()}, nullptr);
}

void HoldRecord::forget_watcher() {
    if (!watcher_) return;
    lease_->remove_risk_watcher(this);
    lease_->remove_listener(operation(), this);
}

void HoldRecord::notify_trouble() {
    const auto until = lease_->valid_until();
    const auto state = this->state();
    if (state == HoldState::at_risk) watcher_->notify_at_risk(until, boot_now());
    if (state == HoldState::suspended) watcher_->notify_suspended(until);
}

void HoldRecord::contended(const std::shared_ptr<HoldRecord>& record, Contention contention) {
    if (!record->watcher_->add(std::move(contention))) return;
    record->gate_->notifier().post([record] {
        if (record->end() == End::none) record->watcher_->notify_contentions();
    });
}

bool HoldRecord::mark_lost(LossReason why) {
    switch (why) {
        case LossReason::none: return false;
        case LossReason::expired: return end_with(End::expired);
        case LossReason::broken: return end_with(End::broken);
        case LossReason::node_stopped: return end_with(End::node_stopped);
        case LossReason::forked: return end_with(End::forked);
    }
    return false;
}

HoldRecord::End HoldRecord::end() const {
    const auto end = end_.load();
    if (end != End::none) return end;
    if (generation_.is_forked()) return End::forked;
    return grant_ ? grant_->end() : End::none;
}

// A lost grant has nothing to release. A grant whose progress_timeout has passed is released only
// by the table, as a lost one (S23).
bool HoldRecord::mark_released() {
    const bool is_over = grant_ ? end() != End::none : generation_.is_forked();
    const auto until = works_until();
    const bool is_idle = until != core::Instant::never() && boot_now() >= until;
    return !is_over && !is_idle && end_with(End::released);
}

void HoldRecord::set_given_back() noexcept {
    given_back_.store(true, std::memory_order_release);
    given_back_.notify_all();
}

void HoldRecord::wait_until_given_back() const noexcept {
    if (!generation_.is_forked()) given_back_.wait(false, std::memory_order_acquire);
}

SubmittedCalls HoldRecord::take_release(core::CallTag tag,
                                        std::shared_ptr<Completion> completion) noexcept {
    if (!release_.empty()) {
        auto& submitted = release_.front();
        std::get<core::ReleaseCall>(submitted.call).tag = tag;
        submitted.completion = std::move(completion);
    }
    return std::exchange(release_, {});
}

// The owner of a lost hold does not release it, so its prepared release is available.
void HoldRecord::notify_lost() {
    if (is_released()) return;
    const auto use = use_.with([](const auto& known) { return known.lock(); });
    if (use && !use->is_released()) use->stop_.request_stop();
    stop_.request_stop();
    if (release_.empty()) return;
    release_.front().call = core::ToldCall{{}, operation()};
    std::ignore = gate_->submit(release_);
}

// The loss may have been notified just before.
void HoldRecord::set_use(const std::shared_ptr<HoldRecord>& use) {
    use_.with([&](std::weak_ptr<HoldRecord>& known) { known = use; });
    const auto end = this->end();
    if (end != End::none && end != End::released) use->stop_.request_stop();
}

bool HoldRecord::end_with(End end) {
    auto none = End::none;
    return end_.compare_exchange_strong(none, end);
}

}  // namespace mortise::detail
