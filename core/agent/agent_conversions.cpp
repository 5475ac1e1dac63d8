// Holds that change their mode (S27, S28).
//
// A downgrade is one of those that are sent until they are done: whoever asked does not use the
// hold as before any more. An upgrade is a call that waits. When it is given up, what the cluster
// has done by then is known only when its Cancel was answered; if that came too late the hold goes
// back to the mode that its owner believes it to have.
#include <utility>

#include "core/agent/session_agent.hpp"
#include "core/base/check.hpp"
#include "core/locks/lock_mode.hpp"

namespace mortise::core {

const std::vector<std::string>* SessionAgent::names_of(OperationId hold) const {
    const auto found = session_ == hold.session ? holds_.find(hold.seq) : holds_.end();
    return found == holds_.end() ? nullptr : &found->second.names;
}

OperationId SessionAgent::converted_by(OperationId request) const {
    const auto found = session_ == request.session ? sent_.find(request.seq) : sent_.end();
    if (found == sent_.end()) return {};
    const auto& body = found->second.request.body;
    if (const auto* upgrade = std::get_if<Upgrade>(&body)) return {*session_, upgrade->operation};
    if (const auto* downgrade = std::get_if<Downgrade>(&body))
        return {*session_, downgrade->operation};
    return {};
}

void SessionAgent::on_downgrade(const DowngradeCall& call, Now now) {
    auto* held = find_hold(call.hold);
    const Downgrade downgrade{call.hold.seq, call.mode};
    if (held == nullptr) return refuse(call.tag, CallError::lock_lost);
    // What waits is asked for the hold as it is.
    if (held->names.size() > 1 || (held->upgrade.is_set() && !call.undoes)) {
        return refuse(call.tag, CallError::invalid_argument);
    }
    if (format_ < format_needed(downgrade)) return refuse(call.tag, CallError::incompatible);
    if (!call.undoes && !has_room_for(1)) return refuse(call.tag, CallError::resource_exhausted);
    expect_end(call.tag, false, now);
    if (covers(held->wanted, call.mode)) held->wanted = call.mode;
    this->downgrade(*held, {call.tag, downgrade, held->names});
}

void SessionAgent::downgrade(Held& held, Ending downgrade) {
    ++held.downgrades;
    end_operation(std::move(downgrade));
}

// Whoever was refused has what he had; what he asked for since then is not touched by that. An
// answer that comes once more may be older than what the hold became since.
void SessionAgent::on_downgrade_answered(Held& held, const Sent& sent, AnswerKind kind) {
    --held.downgrades;
    const auto seq = sent.request.seq;
    if (kind == AnswerKind::converted && held.converted_by < seq) {
        held.mode = std::get<Downgrade>(sent.request.body).mode;
        held.converted_by = seq;
    }
    if (kind != AnswerKind::converted && held.downgrades == 0) held.wanted = held.mode;
}

void SessionAgent::on_upgrade(const UpgradeCall& call, Now now) {
    auto* held = find_hold(call.hold);
    if (held == nullptr) return refuse(call.tag, CallError::lock_lost);
    if (held->names.size() > 1 || held->upgrade.is_set()) {
        return refuse(call.tag, CallError::invalid_argument);
    }
    auto* waiting =
        take_call(call.tag, Upgrade{call.hold.seq, call.wait}, held->names, call.deadline, now);
    if (waiting == nullptr) return;
    held->upgrade = call.tag;
    unsent_.emplace(waiting->arrival, call.tag);
}

void SessionAgent::become_exclusive(Held& held, Seq by) {
    held.converted_by = by;
    held.mode = LockMode::exclusive;
    held.wanted = LockMode::exclusive;
}

void SessionAgent::on_upgrade_answered(const Sent& sent, const Answer& given) {
    const auto tag = sent.tag;
    switch (given.kind) {
        case AnswerKind::converted:
            become_exclusive(holds_.at(std::get<Upgrade>(sent.request.body).operation),
                             sent.request.seq);
            finish(tag);
            out_.answers.push_back({tag, Converted{given.token}});
            return;
        case AnswerKind::busy: return answer_busy(tag, {});
        case AnswerKind::deadlock: return answer(tag, CallError::deadlock);
        case AnswerKind::invalid_argument: return answer(tag, CallError::invalid_argument);
        case AnswerKind::not_held:
        case AnswerKind::cancelled:  // with the hold, by the cluster
            return answer(tag, CallError::lock_lost);
        case AnswerKind::granted:
        case AnswerKind::released:
        case AnswerKind::stale_request:
        case AnswerKind::kind_mismatch:
        case AnswerKind::resource_exhausted:
        case AnswerKind::stored:
        case AnswerKind::broken:
        case AnswerKind::asked:
        case AnswerKind::permission_denied:
        case AnswerKind::lost: break;
    }
    MORTISE_CHECK(false);  // no answer to an Upgrade that was not given up
}

// The Cancel of an upgrade was answered. To what its owner believes to have a downgrade is always
// legal; what the cluster answered last may be older, when a state swallowed answers.
void SessionAgent::settle_upgrade(const Ending& cancelled, AnswerKind kind) {
    const auto found = holds_.find(cancelled.hold);
    if (found == holds_.end()) return;  // it went back, with whatever it had
    auto& held = found->second;
    held.unsettled = {};
    const bool may_be_exclusive = kind != AnswerKind::cancelled;
    if (may_be_exclusive) {
        downgrade(held, {{}, Downgrade{cancelled.hold, held.wanted}, held.names});
    }
    let_go(held.names.front());
}

// Before the hold itself goes.
void SessionAgent::drop_upgrade(const Held& held, CallError error) {
    if (held.upgrade.is_set()) abandon(held.upgrade, error);
}

}  // namespace mortise::core
