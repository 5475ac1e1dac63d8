// What the cluster answers to what was sent.
#include <algorithm>
#include <chrono>
#include <string>
#include <utility>

#include "core/agent/session_agent.hpp"
#include "core/base/check.hpp"
#include "core/locks/needed_rights.hpp"

namespace mortise::core {

void SessionAgent::on_queued(Seq seq) {
    const auto found = sent_.find(seq);
    if (found == sent_.end()) return send_early_again(seq);
    auto& sent = found->second;
    if (is_given_up(sent)) return reap(seq, {});
    if (!std::exchange(sent.applied, true)) --unapplied_;
    if (std::exchange(sent.unsure, false)) --unsure_;
    leave_order(sent);
    took_effect(sent);
    const auto waiting = waiting_.find(sent.tag);
    if (waiting == waiting_.end()) return;
    waiting->second.queued = true;
    watch(sent.tag, waiting->second, waiting->second.deadline);
}

namespace {

bool is_refusal(AnswerKind kind) {
    return kind == AnswerKind::busy || kind == AnswerKind::kind_mismatch ||
           kind == AnswerKind::resource_exhausted || kind == AnswerKind::invalid_argument;
}

bool are_asked_for(const std::vector<NamedGrant>& given, const std::vector<NamedMode>& asked) {
    return !given.empty() && std::ranges::all_of(given, [&](const NamedGrant& one) {
        return std::ranges::find(asked, one.name, &NamedMode::name) != asked.end();
    });
}

}  // namespace

// Another member may have asked for something else in the name of this session, under the number
// of this request.
bool SessionAgent::is_answer_to(const RequestBody& asked, const Answer& given) const {
    if (given.kind == AnswerKind::permission_denied) return true;  // whatever was asked
    const bool is_granted = given.kind == AnswerKind::granted;
    if (is_write(asked)) return !is_granted && given.circle.empty();
    if (!given.circle.empty()) return true;
    if (const auto* upgrade = std::get_if<Upgrade>(&asked)) {
        if (given.kind == AnswerKind::converted) return holds_.contains(upgrade->operation);
        return given.kind == AnswerKind::busy || given.kind == AnswerKind::deadlock ||
               given.kind == AnswerKind::invalid_argument || given.kind == AnswerKind::not_held ||
               given.kind == AnswerKind::cancelled;
    }
    const auto* several = std::get_if<AcquireSeveral>(&asked);
    if (!is_granted || several == nullptr) return is_granted || is_refusal(given.kind);
    return are_asked_for(given.names, several->names);
}

void SessionAgent::on_answered(const Answered& answered, Now now) {
    const auto seq = answered.operation.seq;
    const auto found = sent_.find(seq);
    // A repeat, or given up: its Cancel is under way.
    if (found == sent_.end()) return send_early_again(seq);
    if (is_given_up(found->second)) return reap(seq, {});
    const auto sent = forget(seq);
    took_effect(sent);
    const auto& given = answered.answer;
    const bool is_granted = given.kind == AnswerKind::granted;
    if (sent.ending) {
        if (is_granted) end_operation({{}, Release{seq}, {}});
        return on_ending_answered(sent, given);
    }
    MORTISE_CHECK(waiting_.contains(sent.tag));
    if (!is_answer_to(sent.request.body, given)) {
        if (is_granted) end_operation({{}, Release{seq}, sent.names});
        return answer(sent.tag, CallError::outcome_unknown);
    }
    if (!given.circle.empty()) {
        finish(sent.tag);
        out_.answers.push_back({sent.tag, Deadlocked{given.circle}});
        return;
    }
    if (given.kind == AnswerKind::permission_denied) return on_denied(sent);
    if (std::holds_alternative<Upgrade>(sent.request.body)) return on_upgrade_answered(sent, given);
    if (given.kind == AnswerKind::granted) return on_granted(sent, given, now);
    if (is_write(sent.request.body)) return on_write_answered(sent, given.kind);
    on_refused(sent.tag, given.kind);
}

void SessionAgent::on_ending_answered(const Sent& sent, const Answer& given) {
    const auto& ending = *sent.ending;
    if (ending.hold.is_set()) settle_upgrade(ending, given.kind);
    const auto* downgrade = std::get_if<Downgrade>(&ending.asked);
    const auto held = downgrade == nullptr ? holds_.end() : holds_.find(downgrade->operation);
    if (held != holds_.end()) on_downgrade_answered(held->second, sent, given.kind);
    const auto ender = enders_.find(ending.tag);
    if (ender == enders_.end()) return;
    by_deadline_.erase({ender->second.gives_up, ender->first});
    enders_.erase(ender);
    // A Downgrade is of what it had until then.
    CallAnswer answer{ending.tag, downgrade ? CallError::lock_lost : CallError::not_held};
    if (given.kind == AnswerKind::released) answer.result = Released{};
    if (given.kind == AnswerKind::lost) answer.result = CallError::lock_lost;
    if (given.kind == AnswerKind::converted) answer.result = Converted{given.token};
    if (given.kind == AnswerKind::invalid_argument) answer.result = CallError::invalid_argument;
    out_.answers.push_back(std::move(answer));
}

namespace {

Nanoseconds max_hold_of(const RequestBody& asked) {
    const auto* one = std::get_if<Acquire>(&asked);
    const auto& terms = one != nullptr ? one->terms : std::get<AcquireSeveral>(asked).terms;
    return std::chrono::milliseconds{terms.max_hold_ms};
}

}  // namespace

void SessionAgent::on_granted(const Sent& sent, const Answer& given, Now now) {
    const OperationId id{*session_, sent.request.seq};
    const auto* one = std::get_if<Acquire>(&sent.request.body);
    Held held;
    held.names = sent.names;
    if (one != nullptr) held.mode = one->mode;
    if (one == nullptr) held = held_of_several(std::get<AcquireSeveral>(sent.request.body), given);
    if (lapsed_ || !lease_.is_valid(now.boot)) {
        // Granted to a session that may be over by now: nobody shall believe to hold it.
        end_operation({{}, Release{id.seq}, std::move(held.names)});
        return answer(sent.tag, CallError::session_expired);
    }
    held.suspends = waiting_.at(sent.tag).suspends;
    const auto max_hold = max_hold_of(sent.request.body);
    if (max_hold != Nanoseconds{0}) held.ends = now.boot + max_hold;
    const auto ends = held.ends;
    held.wanted = held.mode;
    add_hold(id.seq, std::move(held));
    finish(sent.tag);
    CallAnswer answer{sent.tag, Acquired{id, given.token, given.previous, ends}};
    if (one == nullptr) answer.result = AcquiredSeveral{id, given.names, ends};
    out_.answers.push_back(std::move(answer));
}

// NodeCore lets through what its own certificate allows, so this is rare: the session was opened
// under another certificate than the node has now.
void SessionAgent::on_denied(const Sent& sent) {
    const auto missing = missing_right(options_.access, sent.request.body);
    const auto who = "node " + std::to_string(options_.node.raw());
    Denied denied{who +
                  " may not do that: its session was opened with a certificate that does "
                  "not allow it"};
    if (missing) denied = denial(who, options_.access, missing->right, missing->name);
    finish(sent.tag);
    out_.answers.push_back({sent.tag, std::move(denied)});
}

// Of any names it has the one that it got.
SessionAgent::Held SessionAgent::held_of_several(const AcquireSeveral& asked, const Answer& given) {
    MORTISE_CHECK(!given.names.empty());
    Held held;
    for (const auto& grant : given.names)
        held.names.push_back(grant.name);
    const auto named = std::ranges::find(asked.names, held.names.front(), &NamedMode::name);
    MORTISE_CHECK(named != asked.names.end());
    held.mode = named->mode;
    return held;
}

void SessionAgent::on_refused(CallTag tag, AnswerKind kind) {
    switch (kind) {
        case AnswerKind::busy: return answer_busy(tag, {});
        case AnswerKind::kind_mismatch: return answer(tag, CallError::kind_mismatch);
        case AnswerKind::resource_exhausted: return answer(tag, CallError::resource_exhausted);
        case AnswerKind::invalid_argument: return answer(tag, CallError::invalid_argument);
        case AnswerKind::granted:
        case AnswerKind::released:
        case AnswerKind::cancelled:
        case AnswerKind::not_held:
        case AnswerKind::stale_request:
        case AnswerKind::converted:
        case AnswerKind::deadlock:
        case AnswerKind::stored:
        case AnswerKind::broken:
        case AnswerKind::asked:
        case AnswerKind::permission_denied:
        case AnswerKind::lost: break;
    }
    MORTISE_CHECK(false);  // no answer to an acquire that was not given up
}

}  // namespace mortise::core
