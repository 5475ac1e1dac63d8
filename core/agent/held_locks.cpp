#include "core/agent/held_locks.hpp"

namespace mortise::core {

void HeldLocks::add(Seq operation, Held held) {
    names_ += held.names.size();
    if (held.ends != Instant::never()) {
        by_end_.emplace(held.ends, operation);
        uncounted_.insert(operation);
    }
    held_.insert(operation, std::move(held));
}

std::optional<Held> HeldLocks::take(Seq operation) {
    auto held = held_.take(operation);
    if (!held) return held;
    names_ -= held->names.size();
    if (held->ends != Instant::never()) {
        by_end_.erase({held->ends, operation});
        uncounted_.erase(operation);
    }
    return held;
}

}  // namespace mortise::core
