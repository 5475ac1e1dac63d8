#include "core/agent/parked_calls.hpp"

#include <algorithm>
#include <utility>

#include "core/base/check.hpp"

namespace mortise::core {

bool ParkedCalls::must_wait(const Names& names) const {
    return std::ranges::any_of(names, [&](const std::string& name) {
        return shut_.contains(name) || by_name_.contains(name);
    });
}

void ParkedCalls::add(CallTag tag, Names names) {
    const auto arrival = ++arrivals_;
    for (const auto& name : names)
        by_name_[name].emplace(arrival, tag);
    calls_.emplace(tag, Parked{arrival, std::move(names)});
}

void ParkedCalls::remove(CallTag tag, std::vector<CallTag>& freed) {
    auto found = calls_.extract(tag);
    if (found.empty()) return;
    const auto& [arrival, names] = found.mapped();
    for (const auto& name : names) {
        const auto waiting = by_name_.find(name);
        waiting->second.erase(arrival);
        if (waiting->second.empty()) by_name_.erase(waiting);
    }
    for (const auto& name : names)
        free_first(name, freed);
}

void ParkedCalls::reopen(const Names& names, std::vector<CallTag>& freed) {
    for (const auto& name : names)
        shut_.erase(shut_.find(name));
    for (const auto& name : names)
        free_first(name, freed);
}

bool ParkedCalls::is_first(const Parked& parked) const {
    return std::ranges::all_of(parked.names, [&](const std::string& name) {
        return !shut_.contains(name) && by_name_.at(name).begin()->first == parked.arrival;
    });
}

// Whatever was in the way of the first call on this name may be gone. With it the next one becomes
// the first.
void ParkedCalls::free_first(const std::string& name, std::vector<CallTag>& freed) {
    const auto waiting = by_name_.find(name);
    if (waiting == by_name_.end()) return;
    const auto tag = waiting->second.begin()->second;
    if (!is_first(calls_.at(tag))) return;
    freed.push_back(tag);
    remove(tag, freed);
}

void ParkedCalls::check_invariants() const {
    for (const auto& [tag, parked] : calls_)
        MORTISE_CHECK(!is_first(parked));
}

}  // namespace mortise::core
