// Effects out: what the core decided reaches the peers, the callers and the holds.
#include <algorithm>
#include <utility>

#include <asio/post.hpp>

#include "core/base/overloaded.hpp"
#include "embed/clocks.hpp"
#include "embed/core_loop.hpp"
#include "embed/translate.hpp"
#include <mortise/errc.hpp>

namespace mortise::detail {

void CoreLoop::send(core::NodeId to, core::PeerMessage message) {
    if (network_) network_->send(to, std::move(message));
}

void CoreLoop::applied(const core::Applied& applied) {
    ++metrics_.entries_applied;
    metrics_.commands_applied += applied.outcomes.size();
    desk_.applied(applied);
}

void CoreLoop::noted(const core::Note& note) {
    using Kind = core::Note::Kind;
    const auto peer = std::to_string(note.peer.raw());
    switch (note.kind) {
        case Kind::lost_quorum: parts_.log.warn("quorum", "lost touch with a majority"); return;
        case Kind::disk_stalled: parts_.log.warn("disk", "the disk stalls; leads no more"); return;
        case Kind::peer_cut_off:
            parts_.log.warn("cut off",
                            "node " + peer + " is too far behind: the log it needs is gone");
            return;
        case Kind::transfer_failed: parts_.log.warn("transfer", "leadership stays here"); return;
        case Kind::refused_message:
            parts_.log.warn("message", "refused a message of node " + peer);
            return;
        case Kind::formed: parts_.log.info("formed", "the cluster is formed"); return;
        default: return;  // told by who leads
    }
}

// --- leases and holds --------------------------------------------------------------------------

// Once for each hold, as it is taken off the list. The lease thread may have marked it before; then
// it told its owner as well. What its owner gave back meanwhile was not lost.
void CoreLoop::lose(const std::shared_ptr<HoldRecord>& hold, LossReason why) {
    const bool marked = hold->mark_lost(why);
    if (hold->is_released()) return;
    ++metrics_.holds_lost;
    parts_.events.publish({.kind = NodeEvent::Kind::hold_lost,
                           .session = hold->lease()->session().raw(),
                           .name = hold->facts().name,
                           .token = hold->facts().token,
                           .reason = hold->why_lost()});
    if (marked) parts_.losses.post([hold] { hold->request_stop(); });
}

void CoreLoop::lost(const core::HoldLost& lost) {
    const auto found = holds_.extract(lost.hold);
    if (found.empty()) return;
    const auto& hold = found.mapped();
    const bool expired = lost.reason == core::HoldLost::Reason::expired;
    // One flag for all that depend on it, before the first of them is told.
    if (expired) hold->lease()->end();
    lose(hold, expired ? LossReason::expired : LossReason::node_stopped);
    hold->lease()->remove(hold.get());
}

void CoreLoop::lease_changed(const core::LeaseChanged& lease) {
    const bool same = lease_ && lease_->session() == lease.session;
    if (!same || !lease_->extend(lease.valid_until)) {
        if (lease.valid_until <= boot_now()) return;
        if (lease_) {
            lease_->end();
            give_back_holds_of(*lease_);
            if (!same) session_expired();
        }
        // Overdue at half of it, as far as that is not over anyway.
        const core::Nanoseconds ttl = std::chrono::milliseconds{options_.session_ttl_ms};
        const auto trust =
            core::holder_trust(options_.session_ttl_ms, options_.clock_rate_bound_ppm);
        lease_ = std::make_shared<Lease>(lease.session, lease.valid_until, trust - ttl / 2);
        if (!same) {
            parts_.events.publish(
                {.kind = NodeEvent::Kind::session_opened, .session = lease.session.raw()});
        }
    }
    parts_.leases.watch(lease_);
}

void CoreLoop::session_expired() {
    ++metrics_.sessions_expired;
    parts_.events.publish(
        {.kind = NodeEvent::Kind::session_expired, .session = lease_->session().raw()});
}

// The lease thread found it over just before the renewal arrived that would have saved it: the core
// still counts on these holds, their owners do not.
void CoreLoop::give_back_holds_of(const Lease& lease) {
    core::Calls calls;
    for (auto hold = holds_.begin(); hold != holds_.end();) {
        if (hold->second->lease().get() != &lease) {
            ++hold;
            continue;
        }
        lose(hold->second, LossReason::expired);
        calls.calls.emplace_back(core::ReleaseCall{{}, hold->first});
        hold = holds_.erase(hold);
    }
    if (!calls.calls.empty()) step(std::move(calls));
}

Hold CoreLoop::make_hold(PendingCall& call, core::Acquired& acquired) {
    GrantFacts facts;
    facts.name = std::move(call.name);
    facts.mode = call.mode;
    facts.token = FencingToken::from_raw(static_cast<std::int64_t>(acquired.token.raw()));
    facts.operation = acquired.hold;
    facts.previous = from_core(acquired.previous);
    auto record = std::make_shared<HoldRecord>(std::move(facts), lease_, parts_.gate);
    lease_->add(record);
    // The lease thread may have taken its list just before.
    if (lease_->is_over() && record->mark_lost(LossReason::expired)) {
        parts_.losses.post([record] { record->request_stop(); });
    }
    holds_.emplace(acquired.hold, record);
    return HoldRecord::hold_on(std::move(record));
}

// --- answers -----------------------------------------------------------------------------------

void CoreLoop::answered(core::CallAnswer answer) {
    if (answer.tag == close_tag_ && close_tag_.is_set()) {
        asio::post(parts_.io, [this] {
            if (!ended_) hand_over_leadership();
            if (closed_) std::exchange(closed_, {})();
        });
        return;
    }
    auto call = pending_.take(answer.tag);
    if (!call) return;
    complete(*call, answer);
}

void CoreLoop::complete(PendingCall& call, core::CallAnswer& answer) {
    if (!call.completion) {
        call.answered(answer);
        return;
    }
    auto outcome = outcome_of(call, answer);
    count(outcome);
    call.completion->complete(std::move(outcome));
}

CallOutcome CoreLoop::outcome_of(PendingCall& call, core::CallAnswer& answer) {
    CallOutcome outcome;
    std::visit(core::Overloaded{
                   [&](core::Acquired& acquired) { outcome.hold = make_hold(call, acquired); },
                   [&](core::Busy& busy) {
                       ++metrics_.busy;
                       if (busy.seen.name.empty())
                           busy.seen = driver_->core().machine().inspect(call.name);
                       outcome.locks.push_back(from_core(busy.seen));
                   },
                   [&](core::Released&) { ++metrics_.released; },
                   [&](core::Viewed& viewed) {
                       for (const auto& view : viewed.locks)
                           outcome.locks.push_back(from_core(view));
                   },
                   [](core::Closed&) {},
                   [&](core::CallError error) { outcome.error = errc_of(error); },
               },
               answer.result);
    return outcome;
}

void CoreLoop::count(const CallOutcome& outcome) {
    if (outcome.hold) {
        ++metrics_.granted;
    } else if (outcome.error == Errc::timed_out) {
        ++metrics_.timed_out;
    } else if (outcome.error == Errc::cancelled) {
        ++metrics_.cancelled;
    } else if (outcome.error == Errc::resource_exhausted) {
        ++metrics_.calls_refused;
    } else if (outcome.error) {
        ++metrics_.failed;
    }
}

// --- the end -----------------------------------------------------------------------------------

void CoreLoop::stopped(const std::string& reason) {
    parts_.log.error("stopped", "stopped: " + reason);
    parts_.readiness.stop(reason);
    ready_ = false;
    lose_everything();
    parts_.events.publish(
        {.kind = NodeEvent::Kind::stopped, .text = reason, .error = Errc::node_stopped});
    // Not from within one of its own calls.
    asio::post(parts_.io, [this] {
        if (ended_) return;
        end();
        if (closed_) std::exchange(closed_, {})();
    });
}

void CoreLoop::lose_everything() {
    if (lease_) lease_->end();
    for (const auto& [operation, hold] : std::exchange(holds_, {})) {
        lose(hold, LossReason::node_stopped);
    }
    auto refused = parts_.gate->close();
    for (auto& submitted : refused) {
        if (submitted.completion) submitted.completion->complete({Errc::node_stopped, {}, {}});
    }
    for (auto& [tag, call] : pending_.take_all()) {
        core::CallAnswer answer{core::CallTag{tag}, core::CallError::node_stopped};
        complete(call, answer);
    }
}

}  // namespace mortise::detail
