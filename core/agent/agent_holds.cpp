// What this node's program holds, and holds that end by their max_hold (S8).
#include <utility>

#include "core/agent/session_agent.hpp"

namespace mortise::core {

// Null when it is none of this session's, or not any more.
SessionAgent::Held* SessionAgent::find_hold(OperationId hold) {
    if (session_ != hold.session) return nullptr;
    const auto found = holds_.find(hold.seq);
    return found == holds_.end() ? nullptr : &found->second;
}

void SessionAgent::add_hold(Seq operation, Held held) {
    held_names_ += held.names.size();
    if (held.ends != Instant::never()) {
        by_end_.emplace(held.ends, operation);
        uncounted_.insert(operation);
    }
    holds_.emplace(operation, std::move(held));
}

SessionAgent::Held SessionAgent::take_hold(Holds::iterator hold) {
    const auto operation = hold->first;
    auto held = std::move(holds_.extract(hold).mapped());
    held_names_ -= held.names.size();
    by_end_.erase({held.ends, operation});
    uncounted_.erase(operation);
    return held;
}

// Its owner has had it since before the cluster began to count, and by a clock that counts suspend
// (S5): it is lost here before anybody else can have it there. The cluster is told that it is.
void SessionAgent::end_holds_that_are_over() {
    while (!by_end_.empty() && by_end_.begin()->first <= now_.boot) {
        const auto operation = by_end_.begin()->second;
        lose(operation, HoldLost::Reason::over, take_hold(holds_.find(operation)));
        answer_confirms(0, CallError::lock_lost);
    }
}

}  // namespace mortise::core
