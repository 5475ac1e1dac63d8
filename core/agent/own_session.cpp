#include "core/agent/own_session.hpp"

#include <algorithm>
#include <utility>

#include "core/leases/lease_times.hpp"

namespace mortise::core {

OwnSession::OwnSession(const AgentOptions& options, Prng prng, Now now)
    : options_{options}, prng_{prng}, lease_{options.ttl_ms, options.rho_ppm} {
    open(now);
}

void OwnSession::open(Now now) {
    if (id_) former_ = id_;
    id_.reset();
    lease_ = OwnLease{options_.ttl_ms, options_.rho_ppm};
    lapsed_ = true;
    renews_ = true;
    received_ = {};
    acknowledged_ = {};
    renewal_due_ = false;
    renew_at_ = Instant::never();
    opening_ = {prng_.next() | 1U, options_.node,    options_.generation.start(),
                options_.ttl_ms,   options_.rho_ppm, options_.former_life_ended};
    opening_.origin = options_.origin;
    opening_sent_.reset();
    open_again_at_ = now.steady;
}

// Another cluster may have given the session the id of the former one. Calls about holds of that
// one may be on their way, and would be taken for calls about this one (S19).
bool OwnSession::on_opened(const SessionOpened& opened, Now now) {
    if (id_ || opened.nonce != opening_.nonce) return false;
    if (opened.session == former_) {
        open(now);
        return false;
    }
    id_ = opened.session;
    lease_.sent(0, opening_sent_.value_or(now.boot));
    lease_.applied(0);
    renew_at_ = now.steady + std::chrono::milliseconds{options_.ttl_ms} / 3;
    report_lease(now);
    if (lapsed_) renew(now);  // opening took so long that the lease has ended already
    return true;
}

// The session of the earlier run has ended already, or a newer process uses this directory. In the
// second case this node stops (NodeCore::judge_own_life), and its calls end at their deadlines.
void OwnSession::on_refused(const OpenRefused& refused, Now now) {
    if (id_ || refused.nonce != opening_.nonce) return;
    options_.former_life_ended = false;
    open(now);
    refused_until_ = now.steady + options_.resend_after;
    open_again_at_ = refused_until_;
}

// The next renewal is due a third of the TTL after the applied renewal was *sent*, not after it was
// seen applied: otherwise an overloaded cluster would delay the next renewal with each answer,
// until the lease ends. If the answer took longer than that, newer renewals are in flight and keep
// their schedule.
void OwnSession::on_renewed(std::uint64_t number, Now now) {
    lease_.applied(number);
    const Nanoseconds period = std::chrono::milliseconds{options_.ttl_ms} / 3;
    const auto trusted_for = lease_.valid_until() - now.boot;
    const auto due = trusted_for - holder_trust(options_.ttl_ms, options_.rho_ppm) + period;
    renew_at_ = due > Nanoseconds{} ? now.steady + due : std::min(renew_at_, now.steady + period);
    report_lease(now);
}

// Even if the lease was extended, holds that were lost stay lost: only later grants may rely on the
// lease.
void OwnSession::report_lease(Now now) {
    lapsed_ = !lease_.is_valid(now.boot);
    changed_ = LeaseChanged{*id_, lease_.valid_until()};
}

void OwnSession::renew(Now now) {
    if (!id_ || !renews_ || !leader_known_) return;
    // A member that does not receive the log must not keep its session alive, because it cannot
    // learn of its grants. It stops renewing when its lease has ended and nothing is seen applied.
    if (lapsed_ && renewals_unseen_ >= renewals_unseen_max) return;
    ++renewals_unseen_;
    renewal_due_ = true;
    // Until a renewal is answered, they are sent more often than in a healthy session.
    const Nanoseconds period = std::chrono::milliseconds{options_.ttl_ms} / 3;
    renew_at_ = now.steady + std::min(period, options_.resend_after);
}

void OwnSession::on_progress(Now now) {
    if (renewals_unseen_ >= renewals_unseen_max) renew_at_ = now.steady;
    renewals_unseen_ = 0;
}

void OwnSession::on_leader(bool known, Now now) {
    leader_known_ = known;
    renewals_unseen_ = 0;
    if (!known) return;
    open_again_at_ = std::max(refused_until_, std::min(open_again_at_, now.steady));
    renew(now);
}

void OwnSession::on_timer(Now now) {
    if (now.steady < renew_at_) return;
    renew_at_ = Instant::never();  // without a leader: when one is known
    renew(now);
}

bool OwnSession::lapses(Now now) {
    if (!id_ || lapsed_ || lease_.is_valid(now.boot)) return false;
    lapsed_ = true;
    return true;
}

std::optional<OpenSession> OwnSession::take_opening(Now now) {
    if (id_ || !leader_known_ || now.steady < open_again_at_) return std::nullopt;
    if (!opening_sent_) opening_sent_ = now.boot;
    open_again_at_ = now.steady + options_.resend_after;
    return opening_;
}

std::optional<Renewal> OwnSession::take_renewal(Now now) {
    if (!id_ || !std::exchange(renewal_due_, false)) return std::nullopt;
    return Renewal{*id_, lease_.next_request(now.boot)};
}

std::optional<Acknowledge> OwnSession::take_acknowledgement() {
    if (!id_ || acknowledged_ == received_) return std::nullopt;
    acknowledged_ = received_;
    return Acknowledge{*id_, received_};
}

std::optional<LeaseChanged> OwnSession::take_lease_change() {
    return std::exchange(changed_, std::nullopt);
}

Instant OwnSession::deadline(Now now) const {
    auto next = renew_at_;
    if (!id_ && leader_known_) next = std::min(next, open_again_at_);
    if (id_ && !lapsed_) next = std::min(next, now.steady + (lease_.valid_until() - now.boot));
    return next;
}

}  // namespace mortise::core
