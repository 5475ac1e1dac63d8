#include "tests/check/history_check.hpp"

#include <algorithm>
#include <map>
#include <utility>

#include "tests/check/lock_search.hpp"
#include "tests/check/smallest_window.hpp"

namespace mortise::check {

namespace {

SearchResult judge(const Calls& calls, std::size_t states_max) {
    return search(prepare(calls), states_max);
}

// What was known at `time`: later calls are missing, and later returns have not come.
Calls until(const Calls& calls, Time time) {
    Calls known;
    for (auto call : calls) {
        if (call.invoked > time) continue;
        const bool is_late = call.returned.value_or(never) > time;
        if (is_late && (call.operation == Operation::lost || call.operation == Operation::died)) {
            // an end of holds stays: without it more would be wrong, not less
            known.push_back(call);
            continue;
        }
        if (is_late) {
            call.returned.reset();
            call.outcome = Outcome::unknown;
        }
        known.push_back(std::move(call));
    }
    return known;
}

// The shortest prefix that cannot be explained.
Calls shortest_beginning(const Calls& calls, std::size_t states_max) {
    std::vector<Time> times;
    for (const auto& call : calls)
        if (call.returned) times.push_back(*call.returned);
    std::ranges::sort(times);
    auto low = times.begin();
    auto high = times.end();
    while (low < high) {
        const auto middle = low + (high - low) / 2;
        if (judge(until(calls, *middle), states_max).explained) {
            low = middle + 1;
        } else {
            high = middle;
        }
    }
    if (low == times.end()) return calls;
    auto beginning = until(calls, *low);
    return judge(beginning, states_max).explained ? calls : beginning;
}

}  // namespace

Verdict check(const Calls& calls, std::size_t states_max) {
    std::map<std::string, Calls> by_name;
    Calls deaths;
    for (const auto& call : calls)
        (call.operation == Operation::died ? deaths : by_name[call.name]).push_back(call);
    Verdict verdict;
    verdict.calls = calls.size();
    verdict.names = by_name.size();
    for (auto& [name, own] : by_name) {
        own.insert(own.end(), deaths.begin(), deaths.end());
        const auto result = judge(own, states_max);
        verdict.states += result.states;
        if (result.given_up) ++verdict.given_up;
        if (result.explained) continue;
        verdict.explained = false;
        verdict.name = name;
        verdict.window = smallest_window(shortest_beginning(own, states_max), states_max);
        verdict.why = judge(verdict.window, states_max).why;
        break;
    }
    return verdict;
}

}  // namespace mortise::check
