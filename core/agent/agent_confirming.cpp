// Who wants to know that a hold is held: a renewal that was asked for afterwards says so (S6).
#include <utility>

#include "core/agent/session_agent.hpp"
#include "core/base/check.hpp"
#include "core/locks/limits.hpp"

namespace mortise::core {

void SessionAgent::on_confirm(const ConfirmCall& call, Now now) {
    MORTISE_CHECK(call.tag.is_set() && !confirming_.contains(call.tag));
    if (find_hold(call.hold) == nullptr) return refuse(call.tag, CallError::lock_lost);
    if (confirming_.size() >= operations_max) {
        return refuse(call.tag, CallError::resource_exhausted);
    }
    confirming_[call.tag] = {call.hold.seq, lease_.newest(), call.deadline};
    by_deadline_.emplace(call.deadline, call.tag);
    renew(now);
}

void SessionAgent::forget_confirm(CallTag tag) {
    const auto found = confirming_.find(tag);
    by_deadline_.erase({found->second.gives_up, tag});
    confirming_.erase(found);
}

// Whose hold is there no more, which is told as `error`; and whom this renewal answers.
void SessionAgent::answer_confirms(std::uint64_t renewed, CallError error) {
    std::vector<CallTag> over;
    for (const auto& [tag, one] : confirming_) {
        const bool since = renewed > one.newest;
        if (!holds_.contains(one.hold)) {
            out_.answers.push_back({tag, error});
        } else if (since && !lapsed_) {
            confirmed_.emplace_back(tag, one.hold);
        } else {
            continue;
        }
        over.push_back(tag);
    }
    for (const auto tag : over)
        forget_confirm(tag);
}

// At the end of a step: what it lost meanwhile is not confirmed.
void SessionAgent::tell_confirmed() {
    for (const auto& [tag, hold] : std::exchange(confirmed_, {})) {
        CallAnswer answer{tag, Confirmed{}};
        if (!holds_.contains(hold)) answer.result = CallError::lock_lost;
        out_.answers.push_back(std::move(answer));
    }
}

}  // namespace mortise::core
