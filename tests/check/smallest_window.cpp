#include "tests/check/smallest_window.hpp"

#include <algorithm>
#include <map>
#include <set>
#include <utility>

#include "tests/check/lock_search.hpp"

namespace mortise::check {

namespace {

using StepCalls = std::set<std::size_t>;  // steps, identified by their call
using Groups = std::vector<StepCalls>;

LockHistory without(const LockHistory& history, const Groups& groups, std::size_t from,
                    std::size_t count) {
    auto rest = history;
    const auto last = std::min(from + count, groups.size());
    StepCalls gone;
    for (auto i = from; i < last; ++i)
        gone.insert(groups[i].begin(), groups[i].end());
    std::erase_if(rest.steps, [&](const Step& step) { return gone.contains(step.call); });
    return rest;
}

// Removes halves, then quarters, ... then single groups (Zeller, "Simplifying and isolating
// failure-inducing input", 2002). The effects of removed calls on other steps remain, because the
// steps contain them already.
void thin_out(LockHistory& history, Groups groups, std::size_t states_max) {
    for (auto count = groups.size(); count > 0; count /= 2) {
        std::size_t at = 0;
        while (at < groups.size()) {
            auto fewer = without(history, groups, at, count);
            if (search(fewer, states_max).explained) {
                at += count;
                continue;
            }
            history = std::move(fewer);
            const auto from = groups.begin() + static_cast<std::ptrdiff_t>(at);
            groups.erase(from,
                         from + static_cast<std::ptrdiff_t>(std::min(count, groups.size() - at)));
        }
    }
}

Groups refused_tries(const LockHistory& history) {
    Groups groups;
    for (const auto& step : history.steps) {
        if (step.kind == Step::Kind::busy) groups.push_back({step.call});
    }
    return groups;
}

// The grants and their ends. A refused try may be wrong because no holder exists: if one is kept,
// only calls that had ended before it may be removed.
Groups holds(const LockHistory& history) {
    auto first_try = never;
    std::map<std::size_t, StepCalls> by_owner;
    std::map<std::size_t, Time> released;
    for (const auto& step : history.steps) {
        if (step.kind == Step::Kind::busy) {
            first_try = std::min(first_try, step.invoked);
            continue;
        }
        const bool grants = step.kind == Step::Kind::grant;
        const auto owner = grants ? history.holds[step.hold].owner : step.owner;
        by_owner[owner].insert(step.call);
        if (step.kind == Step::Kind::release) released[owner] = step.returned;
    }
    Groups groups;
    for (auto& [owner, calls] : by_owner) {
        const auto over = released.find(owner);
        const bool before = over != released.end() && over->second < first_try;
        if (first_try == never || before) groups.push_back(std::move(calls));
    }
    return groups;
}

}  // namespace

Calls smallest_window(const Calls& calls, std::size_t states_max) {
    auto history = prepare(calls);
    Calls window;
    if (!history.nonsense.empty()) {
        std::ranges::copy_if(calls, std::back_inserter(window),
                             [&](const Call& call) { return call.process == history.who; });
        return window;
    }
    thin_out(history, refused_tries(history), states_max);
    thin_out(history, holds(history), states_max);
    // All other observations about those holds are kept as well.
    std::set<std::size_t> left;
    std::set<std::pair<std::string, std::uint64_t>> about;
    for (const auto& step : history.steps) {
        left.insert(step.call);
        const auto& call = calls[step.call];
        if (call.token != 0) about.emplace(call.process, call.token);
    }
    for (std::size_t i = 0; i < calls.size(); ++i) {
        const auto& call = calls[i];
        const bool dead = call.operation == Operation::died &&
                          std::ranges::any_of(
                              about, [&](const auto& hold) { return hold.first == call.process; });
        if (left.contains(i) || dead || about.contains({call.process, call.token}))
            window.push_back(call);
    }
    return window;
}

}  // namespace mortise::check
