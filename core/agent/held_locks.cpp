#include "core/agent/held_locks.hpp"

namespace mortise::core {

Held::Held(Names names, LockMode granted, bool suspends, Instant ends)
    : mode{granted}, wanted{granted}, suspends_{suspends} {
    if (names.size() == 1) name_ = CompactText{names.front()};
    if (names.size() == 1 && ends == Instant::never()) return;
    rare_ = std::make_unique<Rare>();
    rare_->ends = ends;
    if (names.size() > 1) rare_->names = std::move(names);
}

// It is never destroyed, because the core thread of a static node runs during exit().
const Held::Rare& Held::rare() const {
    static const Rare& none = *new Rare;
    return rare_ ? *rare_ : none;
}

Held::Conversions& Held::conversions() {
    if (!rare_) rare_ = std::make_unique<Rare>();
    return rare_->conversions;
}

Names Held::names() const {
    return rare().names.empty() ? Names{std::string{name_.view()}} : rare().names;
}

void HeldLocks::add(Seq operation, Held held) {
    names_ += held.size();
    if (const auto ends = held.ends(); ends != Instant::never()) {
        by_end_.emplace(ends, operation);
        uncounted_.insert(operation);
    }
    held_.insert({operation, std::move(held)});
}

std::optional<Held> HeldLocks::take(Seq operation) {
    if (!held_.contains(operation)) return std::nullopt;
    std::optional held{std::move(held_.take(operation).value)};
    names_ -= held->size();
    if (const auto ends = held->ends(); ends != Instant::never()) {
        by_end_.erase({ends, operation});
        uncounted_.erase(operation);
    }
    return held;
}

}  // namespace mortise::core
