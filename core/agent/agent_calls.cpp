// Calls: taken in, timed out, given up.
#include <algorithm>
#include <utility>

#include "core/agent/session_agent.hpp"
#include "core/base/check.hpp"
#include "core/base/overloaded.hpp"
#include "core/locks/limits.hpp"

namespace mortise::core {

bool SessionAgent::has_room_for(std::size_t names) const {
    return outstanding() + names_beyond_ + names <= operations_max;
}

SessionAgent::Waiting* SessionAgent::take_call(CallTag tag, RequestBody asked, Names names,
                                               Instant deadline, Now now) {
    MORTISE_CHECK(tag.is_set() && !waiting_.contains(tag) && !names.empty());
    if (stage_ == Stage::closing || stage_ == Stage::closed) {
        refuse(tag, CallError::node_stopped);
        return nullptr;
    }
    // What ends something is never refused, so it is counted here: each call and each hold becomes
    // at most one release or cancel, and it takes the place of what it ends (P11).
    if (!has_room_for(names.size()) || held_names_ >= holds_max) {
        refuse(tag, CallError::resource_exhausted);
        return nullptr;
    }
    auto& waiting = waiting_[tag];
    waiting.asked = std::move(asked);
    names_beyond_ += names.size() - 1;
    waiting.names = std::move(names);
    waiting.deadline = deadline;
    waiting.arrival = ++arrivals_;
    watch(tag, waiting, std::min(deadline, now.steady + options_.call_timeout));
    return &waiting;
}

void SessionAgent::on_acquire(AcquireCall call, Now now) {
    Names names{call.request.name};
    auto* waiting =
        take_call(call.tag, std::move(call.request), std::move(names), call.deadline, now);
    if (waiting == nullptr) return;
    waiting->suspends = call.suspends;
    unsent_.emplace(waiting->arrival, call.tag);
}

void SessionAgent::on_acquire(AcquireSeveralCall call, Now now) {
    Names names;
    for (const auto& one : call.request.names)
        names.push_back(one.name);
    auto* waiting =
        take_call(call.tag, std::move(call.request), std::move(names), call.deadline, now);
    if (waiting == nullptr) return;
    waiting->suspends = call.suspends;
    unsent_.emplace(waiting->arrival, call.tag);
}

void SessionAgent::on_cancel(const CancelCall& call, Now /*now*/) {
    if (waiting_.contains(call.tag)) abandon(call.tag, CallError::cancelled);
}

void SessionAgent::on_release(const ReleaseCall& call, Now now) {
    if (find_hold(call.hold) == nullptr) {
        on_told(call.hold);  // whoever lets go of it believes in it no more
        if (call.tag.is_set()) refuse(call.tag, CallError::lock_lost);
        return;
    }
    auto held = take_hold(holds_.find(call.hold.seq));
    drop_upgrade(held, CallError::cancelled);
    if (call.tag.is_set()) expect_end(call.tag, true, now);
    answer_confirms(0, CallError::not_held);
    Ending release{call.tag, Release{call.hold.seq, call.lost}, std::move(held.names)};
    if (call.lost) return end_when_told(std::move(release));
    end_operation(std::move(release));
}

void SessionAgent::on_close(const CloseCall& call, Now now) {
    close_tag_ = call.tag;
    for (const auto& [seq, held] : take_holds())
        out_.lost.push_back({{*session_, seq}, HoldLost::Reason::node_stopped});
    answer_confirms(0, CallError::node_stopped);
    // What was sent ends with the session; an answer that comes before that is nobody's. What is to
    // be told before the session ends may come after it.
    for (const auto& [tag, waiting] : waiting_) {
        if (waiting.seq.is_set()) sent_.at(waiting.seq).tag = {};
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

// Nor before there is a session: with that, what a former life of this node held is free (S10).
bool SessionAgent::may_answer_from_read(const std::string& name) const {
    return open_session() && !under_way_.contains(name) && !untold_names_.contains(name) &&
           !ending_names_.contains(name);
}

void SessionAgent::watch(CallTag tag, Waiting& waiting, Instant gives_up) {
    by_deadline_.erase({waiting.gives_up, tag});
    waiting.gives_up = gives_up;
    if (gives_up != Instant::never()) by_deadline_.emplace(gives_up, tag);
}

void SessionAgent::expect_end(CallTag tag, bool releases, Now now) {
    const auto gives_up = now.steady + options_.call_timeout;
    enders_[tag] = {gives_up, releases};
    by_deadline_.emplace(gives_up, tag);
}

// Takes a call off every list but that of what was sent.
void SessionAgent::finish(CallTag tag) {
    const auto found = waiting_.find(tag);
    MORTISE_CHECK(found != waiting_.end());
    const auto& waiting = found->second;
    by_deadline_.erase({waiting.gives_up, tag});
    if (!waiting.seq.is_set()) {
        take_from_unsent(waiting);
        names_beyond_ -= waiting.names.size() - 1;
    }
    const auto* upgrade = std::get_if<Upgrade>(&waiting.asked);
    const auto held = upgrade == nullptr ? holds_.end() : holds_.find(upgrade->operation);
    if (held != holds_.end()) held->second.upgrade = {};
    waiting_.erase(found);
}

void SessionAgent::answer(CallTag tag, CallError error) {
    finish(tag);
    out_.answers.push_back({tag, error});
}

void SessionAgent::end_operation(Ending ending) {
    names_beyond_ += ending.names.size() - 1;
    queue_ending(std::move(ending));
}

void SessionAgent::queue_ending(Ending ending) {
    ending_names_.insert(ending.names.begin(), ending.names.end());
    endings_.push_back(std::move(ending));
}

SessionAgent::Ending SessionAgent::next_ending() {
    auto ending = std::move(endings_.front());
    endings_.pop_front();
    for (const auto& name : ending.names)
        ending_names_.erase(ending_names_.find(name));
    return ending;
}

Seq SessionAgent::target_of(const Ending& ending) {
    return std::visit(Overloaded{[](const Release& one) { return one.operation; },
                                 [](const Cancel& one) { return one.operation; },
                                 [](const Downgrade& one) { return one.operation; },
                                 [](const auto&) { return Seq{}; }},
                      ending.asked);
}

// The hold that it changes or ends; not set for the Cancel of an acquire.
Seq SessionAgent::hold_of(const Ending& ending) {
    return std::holds_alternative<Cancel>(ending.asked) ? ending.hold : target_of(ending);
}

}  // namespace mortise::core
