#include "embed/holds/hold_record.hpp"

#include <algorithm>
#include <tuple>
#include <utility>

#include "embed/threads/call_gate.hpp"
#include "embed/values/clocks.hpp"
#include <mortise/errc.hpp>

namespace mortise::detail {

// Null if it has nothing that is rare.
std::unique_ptr<HoldRecord::Rare> HoldRecord::rare_of(core::Acquired& granted,
                                                      core::Nanoseconds progress) {
    const bool is_set = granted.which == core::Acquire::Which::all;
    auto& first = granted.parts.front();
    auto& former = first.previous;
    const bool is_plain = !is_set && former == core::Previous{} &&
                          granted.ends == core::Instant::never() && progress.count() == 0 &&
                          granted.cached_tokens == 0 && first.slots.empty();
    if (is_plain) return nullptr;
    auto rare = std::make_unique<Rare>();
    rare->limits.set(granted.ends, progress);
    rare->is_cached = granted.cached_tokens != 0;
    for (const auto number : first.slots)
        rare->slots.push_back({number, from_core(first.token)});
    if (is_set) {
        rare->parts = std::move(granted.parts);
    } else {
        rare->previous = std::move(former);
    }
    return rare;
}

std::unique_ptr<HoldRecord::Rare> HoldRecord::sharing(std::shared_ptr<HoldRecord> grant) {
    auto rare = std::make_unique<Rare>();
    rare->grant = std::move(grant);
    return rare;
}

namespace {

bool is_set(const core::Acquired& granted) {
    return granted.which == core::Acquire::Which::all;
}

// The cache of the uses of a cached grant is that of its node.
std::shared_ptr<const HoldContext> with_cache(const std::shared_ptr<const HoldContext>& context,
                                              std::shared_ptr<GrantCache> cache) {
    if (context->cache == cache) return context;
    return std::make_shared<HoldContext>(
        HoldContext{context->lease, context->gate, std::move(cache)});
}

}  // namespace

HoldRecord::HoldRecord(core::Acquired granted, std::shared_ptr<const HoldContext> context,
                       const core::AcquireCall& acquire)
    : Submitted{Ends::hold, {}, granted.hold},
      mode_{is_set(granted) ? LockMode::exclusive : from_core(granted.parts.front().mode)},
      is_noted_in_cache_{acquire.may_be_cached && granted.cached_tokens == 0},
      context_{std::move(context)},
      name_{is_set(granted) ? std::string_view{} : granted.parts.front().name},
      rare_{rare_of(granted, acquire.progress_timeout)},
      token_{is_set(granted) ? 0 : from_core(granted.parts.front().token).raw()} {
    begin_work();
}

HoldRecord::HoldRecord(std::shared_ptr<const HoldContext> context, std::unique_ptr<Rare> rare,
                       LockMode mode, FencingToken token, bool is_noted_in_cache)
    : Submitted{Ends::hold},
      mode_{mode},
      is_noted_in_cache_{is_noted_in_cache},
      context_{std::move(context)},
      rare_{std::move(rare)},
      token_{token.raw()} {}

HoldRecord::HoldRecord(const std::shared_ptr<HoldRecord>& grant, std::unique_ptr<GrantUse> use,
                       std::shared_ptr<GrantCache> cache)
    : HoldRecord{
          with_cache(grant->context_, std::move(cache)), sharing(grant), grant->mode(), {}, true} {
    rare_->use_of_grant = std::move(use);
}

HoldRecord::HoldRecord(const std::shared_ptr<HoldRecord>& grant, LockMode mode,
                       std::shared_ptr<LockerState> locker)
    : HoldRecord{grant->context_, sharing(grant), mode, {}, false} {
    rare_->locker = std::move(locker);
}

HoldRecord::HoldRecord(const std::shared_ptr<HoldRecord>& grant, const core::Acquired::Part& part)
    : HoldRecord{grant->context_, sharing(grant), from_core(part.mode), from_core(part.token),
                 false} {
    rare_->part = &part;
}

HoldRecord::~HoldRecord() {
    if (watcher_ != nullptr) gate()->notifier().post(watcher_->let_go());
}

std::string_view HoldRecord::name() const {
    if (!grant()) return name_.view();
    return rare_->part != nullptr ? std::string_view{rare_->part->name} : grant()->name();
}

core::Previous HoldRecord::former_holder() const {
    if (!rare_) return {};
    if (rare_->part != nullptr) return rare_->part->previous;
    if (const auto* const use = as_use()) return use->previous();
    return grant() ? grant()->former_holder() : rare_->previous;
}

void HoldRecord::set_published(core::Instant steady) {
    if (!is_cached_grant() || rare_->is_published) return;
    rare_->is_published = true;
    granted_at_ = steady;
}

std::stop_token HoldRecord::lost() const {
    if (grant() && as_use() == nullptr) return grant()->lost();
    return loss_.token();
}

bool HoldRecord::nobody_listens() {
    const auto use = present_use();
    return (!use || use->is_released() || use->loss_.ends_unheard()) && loss_.ends_unheard();
}

bool HoldRecord::may_be_used_again() const {
    return is_released() && watcher_ == nullptr && loss_.is_untouched();
}

FencingToken HoldRecord::token() const {
    if (locker()) return grant()->token();
    // After an upgrade the cluster's grant has a newer token.
    if (const auto* const use = as_use())
        return std::max(from_core(use->token()), grant()->token());
    return FencingToken::from_raw(token_.load(std::memory_order_acquire));
}

// Both times begin before the cluster can begin to count them for this hold.
void HoldRecord::begin_work() {
    if (rare_) rare_->limits.begin(boot_now());
}

core::Instant HoldRecord::works_until() const {
    const auto& rare = whole().rare_;
    return rare ? rare->limits.works_until() : core::Instant::never();
}

core::Instant HoldRecord::ends_at() const {
    const auto& rare = whole().rare_;
    return rare ? rare->limits.ends_at() : core::Instant::never();
}

core::Instant HoldRecord::valid_until() const {
    return std::min(lease()->valid_until(), ends_at());
}

void HoldRecord::checkpoint() {
    if (grant()) return grant()->checkpoint();
    if (rare_) rare_->limits.checkpoint(boot_now());
}

bool HoldRecord::end_if_idle(core::Instant boot) {
    return rare_ && rare_->limits.end_if_idle(boot);
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
    if (lease()->is_suspended(boot)) return HoldState::suspended;
    if (!lease()->is_valid(boot)) return HoldState::lost;
    return lease()->is_at_risk(boot) ? HoldState::at_risk : HoldState::held;
}

LossReason HoldRecord::why_lost() const {
    const auto end = this->end();
    if (end != End::none) return HoldEnd::loss_of(end);
    // The lease has ended, and this hold was not marked lost yet.
    const auto boot = boot_now();
    const bool may_be_held = lease()->is_valid(boot) || lease()->is_suspended(boot);
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
    record->watcher_ = HoldWatcher::make(std::move(wishes));
    if (record->watcher_->wants_trouble()) {
        record->lease()->add_risk_watcher(record);
        // The lease thread may have taken its list just before, so this hold checks the lease
        // itself.
        if (record->state() != HoldState::held)
            record->gate()->notifier().post([record] { record->notify_trouble(); });
    }
    if (!record->watcher_->wants_contentions()) return;
    record->lease()->add_listener(record->operation(), record);
    // If this fails, the node has stopped, and the hold is lost.
    (void)record->gate()->submit(core::WatchCall{{}, record->operation()}, nullptr);
}

// In the child of a fork nobody would unlock the lists that a thread of the parent had locked.
void HoldRecord::forget_watcher() {
    if (watcher_ == nullptr || context_->generation.is_forked()) return;
    lease()->remove_risk_watcher(this);
    lease()->remove_listener(operation(), this);
}

void HoldRecord::notify_trouble() {
    const auto until = lease()->valid_until();
    const auto state = this->state();
    if (state == HoldState::at_risk) watcher_->notify_at_risk(until, boot_now());
    if (state == HoldState::suspended) watcher_->notify_suspended(until);
}

void HoldRecord::contended(const std::shared_ptr<HoldRecord>& record, Contention contention) {
    if (!record->watcher_->add(std::move(contention))) return;
    record->gate()->notifier().post([record] {
        if (record->end() == End::none) record->watcher_->notify_contentions();
    });
}

bool HoldRecord::mark_lost(LossReason why) {
    return why != LossReason::none && end_.end(HoldEnd::of(why));
}

// All accesses to the word of a use and to the end of its grant have one order (seq_cst). A new use
// first takes the word and then sees the end of the grant; notify_lost() comes behind that end, and
// then sees whether the word is taken. So a user of a lost grant finds that out, or is notified.
HoldRecord::End HoldRecord::end() const {
    const auto* const use = as_use();
    if (use != nullptr && !use->word().is_in_use()) return End::released;
    const auto end = end_.kind();
    if (end != End::none) return end;
    if (context_->generation.is_forked()) return End::forked;
    return grant() ? grant()->end() : End::none;
}

// A lost grant has nothing to release. A grant whose progress_timeout has passed is released only
// by the table, as a lost one (S23).
bool HoldRecord::mark_released() {
    const bool is_over = grant() ? end() != End::none : context_->generation.is_forked();
    const auto until = works_until();
    const bool is_idle = until != core::Instant::never() && boot_now() >= until;
    if (is_over || is_idle) return false;
    auto* const use = as_use();
    return use != nullptr ? use->word().release() : end_.end(End::released);
}

void HoldRecord::set_given_back() noexcept {
    if (auto* const use = as_use()) return use->word().given_back();
    end_.set_given_back();
}

void HoldRecord::wait_until_given_back() const noexcept {
    if (context_->generation.is_forked()) return;
    if (const auto* const use = as_use()) return use->word().wait_until_given_back();
    end_.wait_until_given_back();
}

void HoldRecord::notify_lost(const std::shared_ptr<HoldRecord>& record) {
    if (record->is_released()) return;
    const auto use = record->present_use();
    if (use && !use->is_released()) use->loss_.give();
    record->loss_.give();
    if (record->grant()) return;
    record->set(Ends::loss, {});
    std::shared_ptr<Submitted> told = record;
    std::ignore = record->gate()->submit(told);
}

bool HoldRecord::is_idle() const {
    const auto use = present_use();
    return is_cached_grant() && (!use || use->is_released());
}

std::shared_ptr<HoldRecord> HoldRecord::present_use() const {
    if (!rare_) return nullptr;
    return rare_->use.with([](const auto& known) { return known.lock(); });
}

// The loss may have been notified just before.
void HoldRecord::set_use(const std::shared_ptr<HoldRecord>& use) {
    rare_->use.with([&](std::weak_ptr<HoldRecord>& known) { known = use; });
    const auto end = this->end();
    if (end != End::none && end != End::released) use->loss_.give();
}

}  // namespace mortise::detail
