#include "core/agent/confirmations.hpp"

#include "core/locks/limits.hpp"

namespace mortise::core {

void Confirmations::add(CallTag tag, Seq hold, std::uint64_t newest, Instant gives_up) {
    calls_[tag] = {hold, newest, gives_up};
}

bool Confirmations::is_full() const {
    return calls_.size() >= operations_max;
}

bool Confirmations::waits_until(CallTag tag, Instant at) const {
    const auto found = calls_.find(tag);
    return found != calls_.end() && found->second.gives_up == at;
}

void Confirmations::renewed(std::uint64_t number) {
    std::erase_if(calls_, [&](const auto& entry) {
        const auto& [tag, one] = entry;
        const bool is_later = number > one.newest;
        if (is_later) confirmed_.emplace_back(tag, one.hold);
        return is_later;
    });
}

void Confirmations::end(const HeldLocks& holds, CallError error, std::vector<CallAnswer>& answers) {
    std::erase_if(calls_, [&](const auto& entry) {
        const bool is_gone = !holds.contains(entry.second.hold);
        if (is_gone) answers.push_back({entry.first, error});
        return is_gone;
    });
}

void Confirmations::answer(const HeldLocks& holds, std::vector<CallAnswer>& answers) {
    for (const auto& [tag, hold] : std::exchange(confirmed_, {})) {
        CallAnswer answer{tag, Confirmed{}};
        if (!holds.contains(hold)) answer.result = CallError::lock_lost;
        answers.push_back(std::move(answer));
    }
}

}  // namespace mortise::core
