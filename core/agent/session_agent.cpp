// The session and its lease: opening, renewing, lapsing, losing.
#include "core/agent/session_agent.hpp"

#include <algorithm>
#include <utility>

#include "core/base/check.hpp"
#include "core/base/overloaded.hpp"
#include "core/leases/countdowns.hpp"

namespace mortise::core {

namespace {

// A third of the time to live after the renewal that was applied was sent, not after it was seen
// applied: an overloaded cluster would push the next one away with each answer, until the lease is
// over. When the answer took longer than that, others are under way, and go on at their pace.
Instant next_renewal(const AgentOptions& options, const OwnLease& lease, Instant planned, Now now) {
    const Nanoseconds period = std::chrono::milliseconds{options.ttl_ms} / 3;
    const auto trusted_for = lease.valid_until() - now.boot;
    const auto due = trusted_for - holder_trust(options.ttl_ms, options.rho_ppm) + period;
    return due > Nanoseconds{} ? now.steady + due : std::min(planned, now.steady + period);
}

}  // namespace

SessionAgent::SessionAgent(const AgentOptions& options, Prng prng, Now now)
    : options_{options}, prng_{prng}, lease_{options.ttl_ms, options.rho_ppm}, now_{now} {
    open(now);
}

void SessionAgent::open(Now now) {
    stage_ = Stage::opening;
    session_.reset();
    lease_ = OwnLease{options_.ttl_ms, options_.rho_ppm};
    lapsed_ = true;
    newest_seq_ = {};
    received_ = {};
    acknowledged_ = {};
    renew_at_ = Instant::never();
    opening_ = {prng_.next() | 1U, options_.node,    options_.incarnation,      options_.boot_epoch,
                options_.ttl_ms,   options_.rho_ppm, options_.former_life_ended};
    opening_sent_.reset();
    open_again_at_ = now.steady;
}

void SessionAgent::begin(Now now) {
    now_ = now;
    end_overdue_untold();
    end_holds_that_are_over();
    // At local expiry every hold is lost, whatever the network does, before anything else is done
    // (S6).
    if (session_ && !lapsed_ && !lease_.is_valid(now.boot)) lapse();
}

SessionAgent::Holds SessionAgent::take_holds() {
    held_names_ = 0;
    by_end_.clear();
    uncounted_.clear();
    return std::exchange(holds_, {});
}

// The session may live on in the cluster: what it holds there is given back (S6).
void SessionAgent::lapse() {
    lapsed_ = true;
    for (auto one = holds_.begin(); one != holds_.end();) {
        const OperationId id{*session_, one->first};
        if (one->second.suspends) {
            out_.suspended.push_back(id);
            ++one;
            continue;
        }
        lose(id.seq, HoldLost::Reason::expired, take_hold(one++));
    }
    answer_confirms(0, CallError::lock_lost);
}

void SessionAgent::lose_session(SessionEnd how, Now now) {
    withdraw_grants();
    for (const auto& [seq, held] : take_holds())
        out_.lost.push_back({{*session_, seq}, HoldLost::Reason::expired});
    fail_void_calls();
    answer_confirms(0, CallError::lock_lost);
    for (const auto& [tag, ender] : std::exchange(enders_, {})) {
        by_deadline_.erase({ender.gives_up, tag});
        CallAnswer answer{tag, CallError::lock_lost};
        // It gave everything back.
        if (how == SessionEnd::closed && ender.releases) answer.result = Released{};
        out_.answers.push_back(std::move(answer));
    }
    forget_sent();
    forget_untold();
    resend_at_ = Instant::never();
    if (stage_ == Stage::closing) {
        stage_ = Stage::closed;
        session_.reset();
        fail_calls(CallError::node_stopped);
        out_.answers.push_back({close_tag_, Closed{}});
        return;
    }
    options_.former_life_ended = false;  // from now on the former life would be this one
    open(now);
}

// What was sent is void with the session; what was not goes out under the next one. An upgrade is
// of a hold, sent or not.
void SessionAgent::fail_void_calls() {
    std::vector<std::pair<CallTag, CallError>> void_calls;
    for (const auto& [tag, waiting] : waiting_) {
        if (std::holds_alternative<Upgrade>(waiting.asked)) {
            void_calls.emplace_back(tag, CallError::lock_lost);
        } else if (is_write(waiting.asked)) {  // of a hold that is gone, or nobody knows
            void_calls.emplace_back(tag, waiting.seq.is_set() ? CallError::outcome_unknown
                                                              : CallError::session_expired);
        } else if (waiting.seq.is_set()) {
            void_calls.emplace_back(tag, CallError::session_expired);
        }
    }
    for (const auto& [tag, error] : void_calls)
        answer(tag, error);
}

void SessionAgent::fail_calls(CallError error) {
    while (!waiting_.empty())
        answer(waiting_.begin()->first, error);
}

void SessionAgent::on_outcome(const Outcome& outcome, LogIndex index, Now now) {
    const bool mine = session_.has_value();
    std::visit(Overloaded{
                   [&](const Answered& answered) {
                       if (!mine || answered.operation.session != *session_) return;
                       received_ = index;
                       on_answered(answered, now);
                   },
                   [&](const Queued& queued) {
                       if (!mine || queued.operation.session != *session_) return;
                       on_queued(queued.operation.seq);
                   },
                   [&](const SessionOpened& opened) {
                       const bool asked =
                           stage_ == Stage::opening && opened.nonce == opening_.nonce;
                       if (asked) on_opened(opened.session, now);
                   },
                   [&](const OpenRefused& refused) {
                       // Its former life is ended already, or somebody newer has this directory:
                       // then the node is over (NodeCore::judge_own_life), and calls end by their
                       // time.
                       if (stage_ != Stage::opening || refused.nonce != opening_.nonce) return;
                       options_.former_life_ended = false;
                       open(now);
                       open_again_at_ = now.steady + options_.resend_after;
                   },
                   [&](const SessionRenewed& renewed) {
                       if (!mine || renewed.session != *session_) return;
                       for (const auto operation : renewed.broken)
                           lose_broken(operation);
                       lease_.applied(renewed.number);
                       renew_at_ = next_renewal(options_, lease_, renew_at_, now);
                       tell_lease();
                       answer_confirms(renewed.number, CallError::lock_lost);
                   },
                   [&](const RenewalLost& lost) {
                       if (mine && lost.session == *session_)
                           lose_session(SessionEnd::expired, now);
                   },
                   [&](const SessionEnded& ended) {
                       if (mine && ended.session == *session_) lose_session(ended.how, now);
                   },
                   [&](const LockBroken& broken) {
                       for (const auto hold : broken.holds) {
                           if (mine && hold.session == *session_) lose_broken(hold.seq);
                       }
                   },
                   [&](const ClosureBegun& begun) {
                       const bool bounds = begun.kind == Closure::Kind::max_hold;
                       if (mine && bounds && begun.hold.session == *session_)
                           uncounted_.erase(begun.hold.seq);
                   },
                   [](const auto&) {},
               },
               outcome);
}

void SessionAgent::on_opened(SessionId session, Now now) {
    stage_ = Stage::open;
    session_ = session;
    lease_.sent(0, opening_sent_.value_or(now.boot));
    lease_.applied(0);
    renew_at_ = now.steady + std::chrono::milliseconds{options_.ttl_ms} / 3;
    tell_lease();
    if (lapsed_) renew(now);  // it took so long that nothing is left of it
}

void SessionAgent::tell_lease() {
    // Extended or not, what lapsed stays lost: only holds granted from now on may trust it.
    lapsed_ = !lease_.is_valid(now_.boot);
    out_.lease = LeaseChanged{*session_, lease_.valid_until()};
}

void SessionAgent::renew(Now now) {
    if (stage_ != Stage::open || !leader_known_) return;
    // A member that is cut off from the log would keep alive what it can never learn of: grants
    // that were meant for it. It stops when its lease is over and nothing it sends is seen applied.
    if (lapsed_ && renewals_unseen_ >= renewals_unseen_max) return;
    ++renewals_unseen_;
    renewal_due_ = true;
    // Until one is answered, ask more often than a healthy session would.
    const Nanoseconds period = std::chrono::milliseconds{options_.ttl_ms} / 3;
    renew_at_ = now.steady + std::min(period, options_.resend_after);
}

void SessionAgent::on_progress(Now now) {
    if (renewals_unseen_ >= renewals_unseen_max) renew_at_ = now.steady;
    renewals_unseen_ = 0;
    heard_at_ = now.steady;
}

void SessionAgent::on_leader(bool known, Now now) {
    leader_known_ = known;
    renewals_unseen_ = 0;
    if (!known) return;
    open_again_at_ = std::min(open_again_at_, now.steady);
    begin_resending(true);
    renew(now);
}

void SessionAgent::on_timer(Now now) {
    if (now.steady >= renew_at_) {
        renew_at_ = Instant::never();  // without a leader: when there is one
        renew(now);
    }
    if (now.steady >= resend_at_) {
        begin_resending(false);
        resend_at_ = Instant::never();
    }
    give_up_overdue(now);
}

void SessionAgent::on_state_replaced(const SessionTable& sessions, Now now) {
    const auto* own = session_ ? sessions.find(*session_) : nullptr;
    if (session_ && own == nullptr) lose_session(SessionEnd::expired, now);
    if (own != nullptr) {
        for (const auto operation : own->broken)
            lose_broken(operation);
    }
    for (auto& [seq, sent] : sent_) {
        if (std::exchange(sent.applied, false)) ++unapplied_;
        if (!std::exchange(sent.unsure, true)) ++unsure_;
    }
    begin_resending(true);
    open_again_at_ = std::min(open_again_at_, now.steady);
    on_progress(now);
}

// Taken back all the same: it may be added again before the session is over.
void SessionAgent::on_removed() {
    std::vector<CallTag> queued;
    for (const auto& [tag, waiting] : waiting_) {
        if (waiting.queued) queued.push_back(tag);
    }
    for (const auto tag : queued)
        abandon(tag, CallError::session_expired);
}

Instant SessionAgent::deadline() const {
    auto next = std::min(resend_at_, renew_at_);
    const bool asks_again = stage_ == Stage::opening || may_close();
    if (asks_again && leader_known_) next = std::min(next, open_again_at_);
    if (has_more_to_send()) next = std::min(next, now_.steady);
    if (!by_deadline_.empty()) next = std::min(next, by_deadline_.begin()->first);
    if (!untold_by_time_.empty()) next = std::min(next, untold_by_time_.begin()->first);
    if (!by_end_.empty()) next = std::min(next, now_.steady + (by_end_.begin()->first - now_.boot));
    if (session_ && !lapsed_) {
        next = std::min(next, now_.steady + (lease_.valid_until() - now_.boot));
    }
    return next;
}

std::vector<Seq> SessionAgent::accounted_for() const {
    std::vector<Seq> operations;
    operations.reserve(holds_.size() + endings_.size() + sent_.size());
    for (const auto& [seq, held] : holds_)
        operations.push_back(seq);
    for (const auto& [seq, untold] : untold_)
        operations.push_back(seq);
    for (const auto& ending : endings_)
        operations.push_back(target_of(ending));
    for (const auto& [seq, sent] : sent_) {
        operations.push_back(sent.ending ? target_of(*sent.ending) : seq);
    }
    std::ranges::sort(operations);
    return operations;
}

}  // namespace mortise::core
