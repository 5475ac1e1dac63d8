#include "embed/holds/hold_table.hpp"

#include <new>
#include <tuple>
#include <utility>

#include "embed/values/clocks.hpp"
#include "embed/values/duration_buckets.hpp"
#include "embed/values/lock_mode.hpp"

namespace mortise::detail {

namespace {

LossReason reason_of(core::HoldLost::Reason reason) {
    using Reason = core::HoldLost::Reason;
    if (reason == Reason::broken) return LossReason::broken;
    return reason == Reason::node_stopped ? LossReason::node_stopped : LossReason::expired;
}

}  // namespace

Hold HoldTable::add(core::Acquired granted, const core::AcquireCall& acquire) {
    const auto operation = granted.hold;
    const auto tokens = granted.cached_tokens;
    const auto& context = granted.suspends ? lasting_context_ : context_;
    const auto& lease = context->lease;
    core::LockCache::User user{std::move(granted.locker), std::move(granted.label)};
    auto record = std::make_shared<HoldRecord>(std::move(granted), context, acquire);
    record->set_granted_at(steady_now());
    holds_->add(record);
    // The lease thread may have looked for its holds just before, so the new hold checks the lease
    // itself.
    if (lease->is_over() && record->mark_lost(LossReason::expired)) {
        parts_.losses.post(record);
    }
    look_later(operation, record->works_until());
    auto hold = HoldRecord::hold_on(std::move(record));
    return tokens == 0 ? std::move(hold)
                       : parts_.cache->granted(std::move(hold), tokens, std::move(user));
}

void HoldTable::look_later(core::OperationId hold, core::Instant works_until) {
    if (works_until == core::Instant::never()) return;
    looked_at_[hold] =
        works_until;  // first: without memory for the other, nothing refers to a hold
    by_idle_.emplace(works_until, hold);
}

std::shared_ptr<HoldRecord> HoldTable::find(core::OperationId hold) const {
    const auto* found = holds_->all().find(hold);
    return found == nullptr ? nullptr : *found;
}

std::shared_ptr<HoldRecord> HoldTable::take(core::OperationId hold) {
    if (const auto looked_at = looked_at_.extract(hold); !looked_at.empty())
        by_idle_.erase({looked_at.mapped(), hold});
    return holds_->take(hold);
}

void HoldTable::given_back(core::OperationId hold) {
    if (!holds_->all().contains(hold)) return;
    const auto record = take(hold);
    const auto now = steady_now();
    ++counts_.released;
    measure_hold(*record, now);
    const auto token = static_cast<std::uint64_t>(record->token().raw());
    hand_overs_.released(core::FencingToken{token}, now);
}

void HoldTable::lapsed(core::OperationId hold) {
    if (holds_->all().contains(hold)) std::ignore = end(*take(hold), LossReason::expired);
}

void HoldTable::published(core::OperationId hold) {
    if (const auto found = find(hold)) found->set_published(steady_now());
}

// A cached grant says nothing of the times for which its users held it.
void HoldTable::measure_hold(const HoldRecord& hold, core::Instant now) {
    if (!hold.is_cached_grant()) count(counts_.hold_time, now - hold.granted_at());
}

void HoldTable::measure_hand_over(const HoldRecord& granted, core::Instant began) {
    const auto took =
        hand_overs_.granted(granted.former_holder().token, began, granted.granted_at());
    if (took) count(counts_.hand_over_time, *took);
}

// All holds of that lease are suspended, and all owners of a locker's grant are notified. The lease
// thread may have notified them before, unless the core was the first to detect the end of the
// lease.
void HoldTable::suspended(core::OperationId hold) {
    const auto found = find(hold);
    if (!found) return;
    const auto& lease = *found->lease();
    const auto until = lease.valid_until();
    if (!lease.is_suspended(boot_now()) || std::exchange(ran_out_at_, until) == until) return;
    for (const auto& owned : lease.risk_watchers())
        parts_.losses.post([owned] { owned->notify_trouble(); });
}

// Notifies the owners that asked for it; of a locker's grant, all of these.
void HoldTable::contended(const core::Contended& contended) {
    parts_.cache->recalled(contended.hold);
    const auto found = find(contended.hold);
    if (!found) return;
    const Contention contention{from_core(contended.mode), contended.waiters, contended.reason};
    for (const auto& hold : found->lease()->listeners(contended.hold))
        HoldRecord::contended(hold, contention);
}

void HoldTable::upgraded(core::OperationId hold, FencingToken token) {
    if (const auto found = find(hold)) found->upgraded(token);
}

// The core is told of an unused cached grant as well, whose loss concerns nobody.
void HoldTable::lose(const std::shared_ptr<HoldRecord>& hold, LossReason why) {
    if (end(*hold, why)) parts_.losses.post(hold);
}

// Called once for each hold, as it leaves the list. False if the owner is not to be notified: the
// lease thread may have marked the hold lost before, and then it also notified the owner; a hold
// that its owner released meanwhile was not lost.
bool HoldTable::end(HoldRecord& hold, LossReason why) {
    const bool marked = hold.mark_lost(why);
    const auto cached = parts_.cache->lost(hold.operation());
    hold.lease()->remove_listeners(hold.operation());
    if (hold.is_released()) return false;
    if (cached.was_unused) return marked;
    count_lost(hold.why_lost());
    measure_hold(hold, steady_now());
    report_lost(hold, cached.token);
    return marked;
}

void HoldTable::count_lost(LossReason why) {
    if (why == LossReason::broken) {
        ++counts_.lost_broken;
    } else if (why == LossReason::node_stopped) {
        ++counts_.lost_node_stopped;
    } else {
        ++counts_.lost_expired;
    }
}

void HoldTable::report_lost(const HoldRecord& hold, core::FencingToken of_use) noexcept {
    try {
        const auto token = std::max(hold.token(), from_core(of_use));
        if (!hold.has_parts()) return publish_lost(hold, hold.name(), token);
        for (const auto& part : hold.parts())
            publish_lost(hold, part.name, from_core(part.token));
    } catch (const std::bad_alloc&) {  // the other owners are notified nevertheless
    }
}

void HoldTable::publish_lost(const HoldRecord& hold, std::string_view name, FencingToken token) {
    parts_.events.publish({.kind = NodeEvent::Kind::hold_lost,
                           .session = hold.lease()->session().raw(),
                           .name = std::string{name},
                           .token = token,
                           .reason = hold.why_lost()});
}

void HoldTable::lost(const core::HoldLost& lost) {
    if (!holds_->all().contains(lost.hold)) return;
    const auto hold = take(lost.hold);
    const bool expired = lost.reason == core::HoldLost::Reason::expired;
    // One flag ends all holds of the lease before the first owner is notified.
    if (expired) hold->lease()->end();
    lose(hold, reason_of(lost.reason));
}

// Most owners have reported progress or have released their hold; one timer per report would cost
// more than this scan.
core::Calls HoldTable::end_idle(core::Instant boot) {
    core::Calls releases;
    while (!by_idle_.empty() && by_idle_.begin()->first <= boot) {
        const auto operation = by_idle_.begin()->second;
        const auto record = find(operation);
        if (record->is_released()) {  // its release is in progress
            take(operation);
            continue;
        }
        if (!record->end_if_idle(boot)) {
            by_idle_.erase(by_idle_.begin());
            look_later(operation, record->works_until());
            continue;
        }
        lose(take(operation), LossReason::expired);
        releases.calls.emplace_back(core::ReleaseCall{{}, operation, true});
    }
    return releases;
}

core::Calls HoldTable::lease_changed(const core::LeaseChanged& lease) {
    core::Calls releases;
    const bool same = lease_ && lease_->session() == lease.session;
    if (same) {
        measure_slack();
        lasting_->extend(lease.valid_until);
    } else {
        if (lasting_) lasting_->end();
        lasting_ = Lease::make_lasting(lease.session, lease.valid_until, margin_, holds_);
        lasting_context_ = context_of(lasting_);
    }
    if (!same || !lease_->extend(lease.valid_until)) {
        if (lease_) {
            lease_->end();
            releases = give_back_holds_of(*lease_);
            if (!same) session_expired();
        }
        // Created even for a lease without any time left: every grant refers to a lease.
        lease_ =
            std::make_shared<Lease>(lease.session, lease.valid_until, margin_, holds_, lasting_);
        context_ = context_of(lease_);
        if (!same) {
            ++counts_.sessions_opened;
            parts_.events.publish(
                {.kind = NodeEvent::Kind::session_opened, .session = lease.session.raw()});
        }
    }
    parts_.leases.watch(lease_);
    return releases;
}

// A lease that is over counts as a slack of zero.
void HoldTable::measure_slack() {
    const auto left = lease_->is_over() ? core::Nanoseconds{0} : lease_->valid_until() - boot_now();
    count(counts_.renewal_slack, left);
}

std::shared_ptr<const HoldContext> HoldTable::context_of(std::shared_ptr<Lease> lease) const {
    return std::make_shared<HoldContext>(HoldContext{std::move(lease), parts_.gate, parts_.cache});
}

void HoldTable::session_expired() {
    ++counts_.sessions_expired;
    parts_.events.publish(
        {.kind = NodeEvent::Kind::session_expired, .session = lease_->session().raw()});
}

// The lease thread ended the lease just before the renewal arrived that would have extended it. The
// core still counts these holds as held, but their owners do not.
core::Calls HoldTable::give_back_holds_of(const Lease& lease) {
    core::Calls releases;
    for (const auto& record : lease.holds()) {
        const auto operation = record->hold();
        take(operation);
        if (record->is_released()) continue;  // its release is in progress
        releases.calls.emplace_back(core::ReleaseCall{{}, operation, true});
        lose(record, LossReason::expired);
    }
    return releases;
}

void HoldTable::lose_everything(LossReason why) {
    if (lease_) lease_->end();
    if (lasting_) lasting_->end();
    const auto all = take_all();
    for (const auto& record : all)
        lose(record, why);
}

HeldRecords::Records HoldTable::take_all() {
    by_idle_.clear();
    looked_at_.clear();
    return holds_->take_all();
}

bool HoldTable::is_in_use() const {
    const auto& all = holds_->all();
    return std::any_of(all.begin(), all.end(), [](const auto& one) { return !one->is_idle(); });
}

// Where nobody listens, the close does not wait for a thread of the notifier.
std::vector<core::OperationId> HoldTable::close() {
    std::vector<core::OperationId> notified;
    notified.reserve(size());
    const auto all = take_all();
    for (const auto& record : all) {
        if (!end(*record, LossReason::node_stopped) || record->nobody_listens()) continue;
        parts_.losses.post(record);
        notified.push_back(record->hold());
    }
    return notified;
}

bool HoldTable::has_valid_lease() const {
    return lease_ && lease_->is_valid(boot_now());
}

}  // namespace mortise::detail
