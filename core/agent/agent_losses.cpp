// What was lost here while its session lives (S6, S8, S24): its owner is told before the cluster
// is, which may give it to others as soon as it knows. Whoever waits too long to be told keeps it
// from nobody. And what was granted and lost within one step, of which nobody hears.
#include <algorithm>
#include <chrono>
#include <utility>

#include "core/agent/session_agent.hpp"

namespace mortise::core {

namespace {

// For code of the program's that is in the way: much longer than a thread takes to begin, and much
// shorter than a session to expire.
constexpr Nanoseconds telling_max = std::chrono::milliseconds{100};

// Not set: it grants nothing.
OperationId granted_by(const CallAnswer& answer) {
    if (const auto* one = std::get_if<Acquired>(&answer.result)) return one->hold;
    if (const auto* several = std::get_if<AcquiredSeveral>(&answer.result)) return several->hold;
    return {};
}

}  // namespace

void SessionAgent::lose(Seq operation, HoldLost::Reason why, Held held) {
    drop_upgrade(held, CallError::lock_lost);
    out_.lost.push_back({{*session_, operation}, why});
    end_when_told({{}, Release{operation, true}, std::move(held.names)});
}

void SessionAgent::end_when_told(Ending release) {
    const auto operation = target_of(release);
    const auto until = now_.steady + telling_max;
    names_beyond_ += release.names.size() - 1;
    untold_names_.insert(release.names.begin(), release.names.end());
    untold_.emplace(operation, Untold{std::move(release), until});
    untold_by_time_.emplace(until, operation);
}

void SessionAgent::on_told(OperationId hold) {
    if (session_ == hold.session) end_untold(hold.seq);
}

// Nothing when it was done before.
void SessionAgent::end_untold(Seq operation) {
    auto found = untold_.extract(operation);
    if (found.empty()) return;
    auto& [release, until] = found.mapped();
    untold_by_time_.erase({until, operation});
    for (const auto& name : release.names) {
        untold_names_.erase(untold_names_.find(name));
        let_go(name);
    }
    queue_ending(std::move(release));
}

void SessionAgent::end_overdue_untold() {
    while (!untold_by_time_.empty() && untold_by_time_.begin()->first <= now_.steady) {
        ++released_untold_;
        end_untold(untold_by_time_.begin()->second);
    }
}

// With the session, that is.
void SessionAgent::forget_untold() {
    untold_by_time_.clear();
    untold_names_.clear();
    for (const auto& [operation, untold] : std::exchange(untold_, {})) {
        names_beyond_ -= untold.release.names.size() - 1;
        for (const auto& name : untold.release.names)
            let_go(name);
    }
}

// --- within one step ----------------------------------------------------------------------------

// It was granted and broken within one step: nobody has heard of it yet.
bool SessionAgent::withdraw_grant(Seq operation) {
    const auto granted =
        std::ranges::find(out_.answers, OperationId{*session_, operation}, granted_by);
    if (granted == out_.answers.end()) return false;
    out_.withdrawn.push_back(granted_by(*granted));
    granted->result = CallError::lock_lost;
    return true;
}

// Whoever was told of the loss first and of the grant afterwards would believe the grant.
void SessionAgent::withdraw_grants() {
    for (auto& answer : out_.answers) {
        const auto hold = holds_.find(granted_by(answer).seq);
        if (hold == holds_.end()) continue;
        (void)take_hold(hold);
        out_.withdrawn.push_back(granted_by(answer));
        answer.result = CallError::session_expired;
    }
}

}  // namespace mortise::core
