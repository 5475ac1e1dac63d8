// Calls that may not go out yet, and so wait here. Nobody but the first of each name is looked at
// before that one went. However many wait for one name, a step costs no more (P10).
#include <algorithm>

#include "core/agent/session_agent.hpp"
#include "core/base/check.hpp"
#include "core/locks/limits.hpp"

namespace mortise::core {

// Until the release of what was lost is on its way: whoever locks what he lost would find himself
// in the way. Behind an upgrade that was given up: as long as nobody knows whether it was granted
// nobody knows what there is to upgrade. And what comes later on any of its own names waits behind
// it.
bool SessionAgent::is_behind_others(const Waiting& waiting) const {
    if (const auto* upgrade = std::get_if<Upgrade>(&waiting.asked)) {
        const auto held = holds_.find(upgrade->operation);
        if (held != holds_.end() && held->second.unsettled.is_set()) return true;
    }
    return std::ranges::any_of(waiting.names, [&](const std::string& name) {
        const auto behind = behind_.find(name);
        const bool is_first =
            behind == behind_.end() || behind->second.begin()->first >= waiting.arrival;
        return !is_first || untold_names_.contains(name);
    });
}

void SessionAgent::keep_back(CallTag tag, const Waiting& waiting) {
    MORTISE_CHECK(unsent_.erase(waiting.arrival) == 1);
    ++kept_back_;
    for (const auto& name : waiting.names)
        behind_[name].emplace(waiting.arrival, tag);
}

// Whatever was in the way on this name may be gone: the first that is kept back for it is looked at
// once more. The one behind that is as soon as it went.
void SessionAgent::let_go(const std::string& name) {
    const auto behind = behind_.find(name);
    if (behind == behind_.end()) return;
    const auto [arrival, tag] = *behind->second.begin();
    forget_kept_back(waiting_.at(tag));
    unsent_.emplace(arrival, tag);
}

void SessionAgent::forget_kept_back(const Waiting& waiting) {
    --kept_back_;
    for (const auto& name : waiting.names) {
        const auto behind = behind_.find(name);
        if (behind == behind_.end()) continue;
        behind->second.erase(waiting.arrival);
        if (behind->second.empty()) behind_.erase(behind);
    }
}

// It was sent, or is not to be.
void SessionAgent::take_from_unsent(const Waiting& waiting) {
    const auto behind = behind_.find(waiting.names.front());
    const bool is_kept = behind != behind_.end() && behind->second.contains(waiting.arrival);
    if (is_kept) forget_kept_back(waiting);
    unsent_.erase(waiting.arrival);
    for (const auto& name : waiting.names)
        let_go(name);
}

// Nobody is kept back for nothing, or it would be for ever.
void SessionAgent::check_kept_back() const {
    const auto share_a_name = [](const Waiting& one, const Waiting& other) {
        return std::ranges::find_first_of(one.names, other.names) != one.names.end();
    };
    for (const auto& [name, arrivals] : behind_) {
        const auto& waiting = waiting_.at(arrivals.begin()->second);
        const auto comes_first = [&](const auto& other) {
            return other.first < waiting.arrival &&
                   share_a_name(waiting_.at(other.second), waiting);
        };
        MORTISE_CHECK(!unsent_.contains(waiting.arrival));
        MORTISE_CHECK(is_behind_others(waiting) || !sent_before(waiting.names) ||
                      std::ranges::any_of(unsent_, comes_first));
    }
}

}  // namespace mortise::core
