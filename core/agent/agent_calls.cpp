// Calls: taken in, answered, timed out, given up.
#include <algorithm>
#include <utility>

#include "core/agent/session_agent.hpp"
#include "core/base/check.hpp"
#include "core/base/mutant.hpp"
#include "core/locks/limits.hpp"

namespace mortise::core {

void SessionAgent::on_acquire(AcquireCall call, Now now) {
    const auto tag = call.tag;
    MORTISE_CHECK(tag.is_set() && !waiting_.contains(tag));
    if (stage_ == Stage::closing || stage_ == Stage::closed) {
        out_.answers.push_back({tag, CallError::node_stopped});
        return;
    }
    // What ends something is never refused, so it is counted here: each call and each hold becomes
    // at most one release or cancel, and it takes the place of what it ends (P11).
    if (outstanding() >= operations_max || holds_.size() >= holds_max) {
        out_.answers.push_back({tag, CallError::resource_exhausted});
        return;
    }
    auto& waiting = waiting_[tag];
    const auto gives_up = std::min(call.deadline, now.steady + options_.call_timeout);
    waiting.call = std::move(call);
    waiting.arrival = ++arrivals_;
    watch(waiting, gives_up);
    unsent_.emplace(waiting.arrival, tag);
}

void SessionAgent::on_cancel(const CancelCall& call, Now /*now*/) {
    if (waiting_.contains(call.tag)) abandon(call.tag, CallError::cancelled);
}

void SessionAgent::on_release(const ReleaseCall& call, Now now) {
    const bool held = session_ && call.hold.session == *session_ && holds_.contains(call.hold.seq);
    if (!held) {
        if (call.tag.is_set()) out_.answers.push_back({call.tag, CallError::lock_lost});
        return;
    }
    auto hold = holds_.extract(call.hold.seq);
    if (call.tag.is_set()) {
        const auto gives_up = now.steady + options_.call_timeout;
        releases_[call.tag] = gives_up;
        by_deadline_.emplace(gives_up, call.tag);
    }
    end_operation({call.tag, call.hold.seq, std::move(hold.mapped()), false});
}

void SessionAgent::on_close(const CloseCall& call, Now now) {
    close_tag_ = call.tag;
    for (const auto& [seq, name] : std::exchange(holds_, {})) {
        out_.lost.push_back({{*session_, seq}, HoldLost::Reason::node_stopped});
    }
    // What was sent ends with the session; an answer that comes before that is nobody's.
    for (const auto& [tag, waiting] : waiting_) {
        if (waiting.seq.is_set()) forget(waiting.seq);
    }
    fail_calls(CallError::node_stopped);
    if (stage_ == Stage::open) {
        stage_ = Stage::closing;
        open_again_at_ = now.steady;  // of the CloseSession, from here on
    } else {
        stage_ = Stage::closed;
        out_.answers.push_back({call.tag, Closed{}});
    }
}

void SessionAgent::answer_busy(CallTag tag, LockView seen) {
    if (!waiting_.contains(tag)) return;
    finish(tag);
    out_.answers.push_back({tag, Busy{std::move(seen)}});
}

bool SessionAgent::may_answer_from_read(const std::string& name) const {
    return !newest_on_name_.contains(name) &&
           std::ranges::find(endings_, name, &Ending::name) == endings_.end();
}

void SessionAgent::watch(Waiting& waiting, Instant gives_up) {
    by_deadline_.erase({waiting.gives_up, waiting.call.tag});
    waiting.gives_up = gives_up;
    if (gives_up != Instant::never()) by_deadline_.emplace(gives_up, waiting.call.tag);
}

// Takes a call off every list but that of what was sent.
void SessionAgent::finish(CallTag tag) {
    const auto found = waiting_.find(tag);
    MORTISE_CHECK(found != waiting_.end());
    by_deadline_.erase({found->second.gives_up, tag});
    if (!found->second.seq.is_set()) unsent_.erase(found->second.arrival);
    waiting_.erase(found);
}

void SessionAgent::answer(CallTag tag, CallError error) {
    finish(tag);
    out_.answers.push_back({tag, error});
}

// Answers at once; the operation, if it was sent, is the reaper's from here on (S18).
void SessionAgent::abandon(CallTag tag, CallError error) {
    const auto& waiting = waiting_.at(tag);
    if (waiting.seq.is_set()) {
        forget(waiting.seq);
        if (!planted(Mutant::timeout_without_cancel))
            end_operation({{}, waiting.seq, waiting.call.request.name, true});
    }
    answer(tag, error);
}

// An earlier copy may be in the log all the same: the reaper sees to it (S18).
void SessionAgent::on_too_busy(SessionId session, Seq first, Seq last) {
    if (session_ != session) return;
    std::vector<CallTag> refused;
    for (auto sent = sent_.lower_bound(first); sent != sent_.end() && sent->first <= last; ++sent) {
        if (!sent->second.ending && !sent->second.applied) refused.push_back(sent->second.tag);
    }
    for (const auto tag : refused)
        abandon(tag, CallError::resource_exhausted);
}

void SessionAgent::give_up_overdue(Now now) {
    while (!by_deadline_.empty() && by_deadline_.begin()->first <= now.steady) {
        const auto tag = by_deadline_.begin()->second;
        const auto release = releases_.find(tag);
        if (release != releases_.end()) {
            // It goes on being released; whether it was, nobody can tell yet (P6).
            by_deadline_.erase(by_deadline_.begin());
            releases_.erase(release);
            out_.answers.push_back({tag, CallError::outcome_unknown});
            continue;
        }
        // Empty-handed only if the cluster said so (S48).
        abandon(tag, waiting_.at(tag).queued ? CallError::timed_out : CallError::no_quorum);
    }
}

void SessionAgent::on_queued(Seq seq) {
    const auto found = sent_.find(seq);
    if (found == sent_.end()) return;
    if (!std::exchange(found->second.applied, true)) --unapplied_;
    if (std::exchange(found->second.unsure, false)) --unsure_;
    release_order(found->second.name, seq);
    const auto waiting = waiting_.find(found->second.tag);
    if (waiting == waiting_.end()) return;
    waiting->second.queued = true;
    watch(waiting->second, waiting->second.call.deadline);
}

void SessionAgent::on_answered(const Answered& answered, Now now) {
    const auto seq = answered.operation.seq;
    const auto found = sent_.find(seq);
    if (found == sent_.end()) return;  // a repeat, or given up: its Cancel is under way
    const auto sent = forget(seq);
    if (sent.ending) {
        const auto release = releases_.find(sent.ending->tag);
        if (release == releases_.end()) return;
        by_deadline_.erase({release->second, release->first});
        releases_.erase(release);
        if (answered.answer.kind == AnswerKind::released) {
            out_.answers.push_back({sent.ending->tag, Released{}});
        } else {
            out_.answers.push_back({sent.ending->tag, CallError::not_held});
        }
        return;
    }
    on_acquire_answered(sent, seq, answered.answer, now);
}

void SessionAgent::on_acquire_answered(const Sent& sent, Seq seq, const Answer& given, Now now) {
    MORTISE_CHECK(waiting_.contains(sent.tag));
    switch (given.kind) {
        case AnswerKind::granted:
            if (lapsed_ || !lease_.is_valid(now.boot)) {
                // Granted to a session that may be over by now: nobody shall believe to hold it.
                if (!planted(Mutant::late_grant_kept)) end_operation({{}, seq, sent.name, false});
                answer(sent.tag, CallError::session_expired);
                return;
            }
            holds_.emplace(seq, sent.name);
            finish(sent.tag);
            out_.answers.push_back(
                {sent.tag, Acquired{{*session_, seq}, given.token, given.previous}});
            return;
        case AnswerKind::busy: answer_busy(sent.tag, {}); return;
        case AnswerKind::kind_mismatch: answer(sent.tag, CallError::kind_mismatch); return;
        case AnswerKind::resource_exhausted:
            answer(sent.tag, CallError::resource_exhausted);
            return;
        case AnswerKind::released:
        case AnswerKind::cancelled:
        case AnswerKind::not_held:
        case AnswerKind::stale_request:
        case AnswerKind::converted:
        case AnswerKind::deadlock:
        case AnswerKind::invalid_argument: break;
    }
    MORTISE_CHECK(false);  // no answer to an Acquire that was not given up
}

void SessionAgent::end_operation(Ending ending) {
    endings_.push_back(std::move(ending));
}

}  // namespace mortise::core
