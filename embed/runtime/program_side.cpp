#include "embed/runtime/program_side.hpp"

#include <exception>
#include <utility>

#include "core/base/overloaded.hpp"
#include "core/leases/lease_times.hpp"
#include "embed/runtime/translate.hpp"
#include "embed/threads/stage_trace.hpp"
#include "embed/values/duration_buckets.hpp"
#include <mortise/errc.hpp>

namespace mortise::detail {

namespace {

void add_counts(Metrics& to, const HoldCounts& counts) {
    to.holds_released += counts.released;
    to.holds_lost += counts.lost_expired + counts.lost_broken + counts.lost_node_stopped;
    to.lost_expired += counts.lost_expired;
    to.lost_broken += counts.lost_broken;
    to.lost_node_stopped += counts.lost_node_stopped;
    to.sessions_opened += counts.sessions_opened;
    to.sessions_expired += counts.sessions_expired;
    add(to.hold_time, counts.hold_time);
    add(to.renewal_slack, counts.renewal_slack);
    add(to.hand_over_time, counts.hand_over_time);
}

}  // namespace

ProgramSide::ProgramSide(HoldTableParts parts, core::Nanoseconds margin, Knowledge knowledge,
                         const Metrics& counters)
    : gate_{parts.gate},
      cache_{parts.cache},
      knowledge_{std::move(knowledge)},
      holds_{std::move(parts), margin},
      counters_{counters} {}

core::Calls ProgramSide::begin(SubmittedCalls taken) {
    core::Calls calls;
    try {
        while (!taken.empty())
            calls.calls.push_back(begin_next(taken));
    } catch (...) {  // no memory: the node stops, and the calls that were not begun have to fail
        waiting_.keep(std::move(taken));
        throw;
    }
    return calls;
}

core::Call ProgramSide::begin_next(SubmittedCalls& taken) {
    auto& call = taken.front();
    if (call.is_lapse())
        holds_.lapsed(call.hold());
    else if (call.is<core::ReleaseCall>())
        holds_.given_back(call.hold());
    const auto* publish = call.get_if<core::PublishCall>();
    if (publish != nullptr) holds_.published(publish->hold);
    if (call.is<core::AcquireCall>()) ++counters_.acquires;
    if (!call.completion()) return taken.pop_front()->take();
    auto& its = pending_.insert(call.tag(), nullptr);
    its = taken.pop_front();
    return its->take();
}

void ProgramSide::expect(core::CallTag tag, std::function<void(core::CallAnswer&)> answered) {
    expected_.emplace(tag, std::move(answered));
}

void ProgramSide::answered(core::CallAnswer& answer) {
    if (auto call = pending_.take(answer.tag)) {
        stage(Stage::answered);
        return complete(*std::move(call), answer);
    }
    const auto expected = expected_.extract(answer.tag);
    if (!expected.empty()) expected.mapped()(answer);
}

void ProgramSide::complete(std::shared_ptr<Submitted> call, core::CallAnswer& answer) {
    const auto completion = call->take_completion();
    std::optional<core::Instant> began;
    if (const auto* acquire = call->get_if<core::AcquireCall>()) began = acquire->began;
    CallOutcome outcome;
    try {
        outcome = outcome_of(*call, answer);
    } catch (...) {  // no memory: the node stops, and its callers are informed
        completion->complete({Errc::node_stopped, {}, {}});
        throw;
    }
    count(began, outcome);
    call.reset();  // its place is free, because the caller may begin its next call at once
    completion->complete(std::move(outcome));
}

CallOutcome ProgramSide::outcome_of(const Submitted& call, core::CallAnswer& answer) {
    CallOutcome outcome;
    std::visit(core::Overloaded{
                   [&](core::Acquired& acquired) {
                       outcome.hold =
                           holds_.add(std::move(acquired), call.get<core::AcquireCall>());
                   },
                   [&](core::Converted& converted) {
                       const auto* upgrade = call.get_if<core::UpgradeCall>();
                       if (upgrade != nullptr)
                           holds_.upgraded(upgrade->hold, from_core(converted.token));
                   },
                   [&](core::Busy& busy) {
                       ++counters_.busy;
                       outcome.is_busy = true;
                       if (busy.seen.holders_total + busy.seen.waiters_total == 0)
                           busy.seen = knowledge_.lock(busy.seen.name);
                       outcome.locks.push_back(from_core(busy.seen));
                   },
                   [&](core::Released&) { ++counters_.released; },
                   [&](core::Viewed& viewed) {
                       for (const auto& view : viewed.locks)
                           outcome.locks.push_back(from_core(view));
                   },
                   [](core::Closed&) {},
                   [](core::Confirmed&) {},
                   [](core::Changed&) {},
                   [](core::Written&) {},
                   [](core::Passed&) {},
                   [&](core::MembershipRefusal why) {
                       outcome.error = errc_of(why);
                       outcome.reason = reason_of(why);
                   },
                   [&](core::CallError error) {
                       outcome.error = errc_of(error);
                       if (error != core::CallError::no_quorum || !knowledge_.is_removed()) return;
                       // No majority will ever answer it, unless the node is added again.
                       outcome.error = Errc::not_ready;
                       outcome.reason = removed_in_words;
                   },
                   [&](core::Denied& denied) {
                       outcome.error = Errc::permission_denied;
                       outcome.reason = std::move(denied.why);
                   },
                   [&](const core::Deadlocked& deadlocked) {
                       outcome.error = Errc::deadlock;
                       outcome.cycle = from_core(deadlocked.cycle);
                       // The present holder, as far as this node knows.
                       const auto& name = deadlocked.cycle.front().waits_for;
                       outcome.locks.push_back(from_core(knowledge_.lock(name)));
                   },
               },
               answer.result);
    return outcome;
}

void ProgramSide::count(std::optional<core::Instant> acquire_began, const CallOutcome& outcome) {
    if (acquire_began) count_acquire(*acquire_began, outcome);
    if (outcome.hold) {
        ++counters_.granted;
    } else if (outcome.error == Errc::timed_out) {
        ++counters_.timed_out;
    } else if (outcome.error == Errc::cancelled) {
        ++counters_.cancelled;
    } else if (outcome.error == Errc::resource_exhausted) {
        ++counters_.calls_refused;
    } else if (outcome.error) {
        ++counters_.failed;
    }
}

void ProgramSide::count_acquire(core::Instant began, const CallOutcome& outcome) {
    auto& results = counters_.acquire_results;
    if (outcome.hold) {
        ++results.granted;
        const auto& granted = *HoldRecord::of(outcome.hold);
        detail::count(counters_.acquire_time, granted.granted_at() - began);
        holds_.measure_hand_over(granted, began);
    } else if (!outcome.error) {
        ++results.busy;
    } else if (outcome.error == Errc::timed_out) {
        ++results.timed_out;
    } else if (outcome.error == Errc::cancelled) {
        ++results.cancelled;
    } else if (outcome.error == Errc::deadlock) {
        ++results.deadlocked;
    } else if (outcome.error == Errc::resource_exhausted) {
        ++results.refused;
    } else {
        ++results.failed;
    }
}

namespace {

// Nothing can be done for a caller that cannot be answered for lack of memory.
template <class Answer>
void tolerate(const Answer& answer) noexcept {
    try {
        answer();
    } catch (const std::exception&) {
    }
}

}  // namespace

void ProgramSide::fail_pending(core::CallError error, core::CallError of_those_unknown) {
    auto pending = std::exchange(pending_, {});
    std::size_t from = 0;
    pending.each_from(from, [&](core::CallTag tag, std::shared_ptr<Submitted>& call) {
        const bool is_unknown = is_unknown_unanswered(*call);
        core::CallAnswer answer{tag, is_unknown ? of_those_unknown : error};
        tolerate([&] { complete(std::move(call), answer); });
        return true;
    });
    for (auto& [tag, answered] : std::exchange(expected_, {})) {
        core::CallAnswer answer{tag, error};
        tolerate([&] { answered(answer); });
    }
}

void ProgramSide::lose_everything() {
    holds_.lose_everything(LossReason::node_stopped);
    for (auto& call : gate_->close())
        call.answer({Errc::node_stopped, {}, {}});
    cache_->close();
    for (auto& call : waiting_.take_all())
        call.answer({Errc::node_stopped, {}, {}});
    fail_pending(core::CallError::node_stopped, core::CallError::outcome_unknown);
}

void ProgramSide::abandon() {
    expected_.clear();
    lose_everything();
}

Metrics ProgramSide::counted() const {
    auto metrics = counters_;
    add_counts(metrics, holds_.counts());
    return metrics;
}

Metrics ProgramSide::metrics(Metrics metrics) const {
    metrics.holds = holds_.size();
    add_cache(metrics);
    metrics.calls_refused += gate_->refused();
    metrics.acquire_results.refused += gate_->refused_acquires();
    metrics.waits = pending_.size() + cache_->waiting();
    return metrics;
}

// The calls that ended without the cluster.
void ProgramSide::add_cache(Metrics& to) const {
    const auto served = cache_->served();
    const auto timed_out = cache_->timed_out();
    const auto cancelled = cache_->cancelled();
    to.served_from_cache = served;
    to.handed_over = cache_->handed_over();
    to.acquires += served + timed_out + cancelled;
    to.granted += served;
    to.timed_out += timed_out;
    to.cancelled += cancelled;
    to.acquire_results.granted += served;
    to.acquire_results.timed_out += timed_out;
    to.acquire_results.cancelled += cancelled;
    add(to.acquire_time, cache_->acquire_time());
    add(to.hand_over_time, cache_->hand_over_time());
}

// A hold is at risk when half of this time has passed, if it has not ended before.
core::Nanoseconds risk_margin(std::uint32_t ttl_ms, std::uint32_t rho_ppm) {
    const core::Nanoseconds ttl = std::chrono::milliseconds{ttl_ms};
    return core::holder_trust(ttl_ms, rho_ppm) - ttl / 2;
}

}  // namespace mortise::detail
