#include "core/agent/parked_calls.hpp"

#include <algorithm>
#include <utility>

#include "core/base/check.hpp"

namespace mortise::core {

bool ParkedCalls::must_wait(const Names& names, std::uint64_t arrival) const {
    return std::ranges::any_of(names, [&](const std::string& name) {
        const auto waiting = by_name_.find(name);
        const bool is_behind =
            waiting != by_name_.end() && waiting->second.begin()->first < arrival;
        return is_behind || shut_.contains(name);
    });
}

void ParkedCalls::add(CallTag tag, Names names, std::uint64_t arrival) {
    for (const auto& name : names)
        by_name_[name].emplace(arrival, tag);
    calls_.emplace(tag, Parked{arrival, std::move(names)});
}

void ParkedCalls::remove(CallTag tag, std::vector<CallTag>& freed) {
    auto found = calls_.extract(tag);
    if (found.empty()) return;
    take_off(found.mapped());
    free_first(std::move(found.mapped().names), freed);
}

void ParkedCalls::reopen(const Names& names, std::vector<CallTag>& freed) {
    for (const auto& name : names)
        shut_.erase(shut_.find(name));
    free_first(names, freed);
}

void ParkedCalls::take_off(const Parked& parked) {
    for (const auto& name : parked.names) {
        const auto waiting = by_name_.find(name);
        waiting->second.erase(parked.arrival);
        if (waiting->second.empty()) by_name_.erase(waiting);
    }
}

bool ParkedCalls::is_first(const Parked& parked) const {
    return std::ranges::all_of(parked.names, [&](const std::string& name) {
        return !shut_.contains(name) && by_name_.at(name).begin()->first == parked.arrival;
    });
}

// The first call on these names may be free to go now. Each call that goes makes the next call on
// its names the first one.
void ParkedCalls::free_first(Names names, std::vector<CallTag>& freed) {
    while (!names.empty()) {
        const auto waiting = by_name_.find(names.back());
        names.pop_back();
        if (waiting == by_name_.end()) continue;
        const auto tag = waiting->second.begin()->second;
        if (!is_first(calls_.at(tag))) continue;
        freed.push_back(tag);
        const auto parked = calls_.extract(tag).mapped();
        take_off(parked);
        for (const auto& name : parked.names)
            names.push_back(name);
    }
}

void ParkedCalls::check_invariants() const {
    for (const auto& [tag, parked] : calls_)
        MORTISE_CHECK(!is_first(parked));
}

}  // namespace mortise::core
