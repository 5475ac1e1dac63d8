// What is for others: values (S36), breaks, and requests to release (S24), each once; and what a
// node does whose hold was broken.
#include <utility>

#include "core/agent/session_agent.hpp"
#include "core/base/overloaded.hpp"

namespace mortise::core {

namespace {

const std::string& name_of(const RequestBody& body) {
    static const std::string none;
    return std::visit(
        Overloaded{[](const SetValue& one) -> const std::string& { return one.name; },
                   [](const MarkConsistent& one) -> const std::string& { return one.name; },
                   [](const BreakLock& one) -> const std::string& { return one.name; },
                   [](const AskRelease& one) -> const std::string& { return one.name; },
                   [](const auto&) -> const std::string& { return none; }},
        body);
}

// What somebody else may hold.
bool is_about_others(const RequestBody& body) {
    return std::holds_alternative<BreakLock>(body) || std::holds_alternative<AskRelease>(body);
}

}  // namespace

bool SessionAgent::is_write(const RequestBody& body) {
    return std::holds_alternative<SetValue>(body) || std::holds_alternative<MarkConsistent>(body) ||
           is_about_others(body);
}

void SessionAgent::on_write(WriteCall call, Now now) {
    const bool is_lost = call.hold.session.is_set() && find_hold(call.hold) == nullptr;
    if (is_lost) return refuse(call.tag, CallError::lock_lost);
    Names names{name_of(call.body)};
    const auto* waiting =
        take_call(call.tag, std::move(call.body), std::move(names), Instant::never(), now);
    if (waiting != nullptr) unsent_.emplace(waiting->arrival, call.tag);
}

void SessionAgent::on_write_answered(const Sent& sent, AnswerKind kind) {
    switch (kind) {
        case AnswerKind::stored:
        case AnswerKind::broken:
        case AnswerKind::asked:
            finish(sent.tag);
            out_.answers.push_back({sent.tag, Written{}});
            return;
        case AnswerKind::not_held:
            return answer(sent.tag, is_about_others(sent.request.body) ? CallError::not_held
                                                                       : CallError::lock_lost);
        case AnswerKind::resource_exhausted: return answer(sent.tag, CallError::resource_exhausted);
        case AnswerKind::stale_request: return answer(sent.tag, CallError::outcome_unknown);
        default: return answer(sent.tag, CallError::invalid_argument);
    }
}

// Whoever has it is told that it is lost, and then the cluster that he was told (S24). Whatever is
// given back already needs no more than that. Of several names the others are lost with it (S23).
void SessionAgent::lose_broken(Seq operation) {
    const auto found = holds_.find(operation);
    if (found == holds_.end()) return give_up_broken(operation);
    auto held = take_hold(found);
    if (withdraw_grant(operation))
        return end_operation({{}, Release{operation}, std::move(held.names)});
    lose(operation, HoldLost::Reason::broken, std::move(held));
    answer_confirms(0, CallError::lock_lost);
}

// Granted and broken while nothing was told here: the answer that is to come would be believed.
void SessionAgent::give_up_broken(Seq operation) {
    const auto sent = sent_.find(operation);
    if (sent != sent_.end() && sent->second.tag.is_set())
        abandon(sent->second.tag, CallError::lock_lost);
}

}  // namespace mortise::core
