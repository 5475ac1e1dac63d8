#include "tests/check/whose_hold.hpp"

#include <algorithm>
#include <map>
#include <string>
#include <tuple>

namespace mortise::check {

namespace {

using Known = std::tuple<std::string, std::uint64_t, std::uint64_t>;  // process, token, hold

// The positions of the calls about one token, and when a new hold begins.
struct Lives {
    std::vector<std::size_t> places;
    std::vector<Time> begins;
};

// After the answer to its release there are no calls about a hold.
std::vector<Time> begins(const Calls& calls, const std::vector<std::size_t>& places) {
    std::vector<Time> asked;
    std::vector<Time> given_back;
    for (const auto place : places) {
        const auto& call = calls[place];
        if (asks(call)) asked.push_back(call.invoked);
        if (call.operation == Operation::release && call.returned)
            given_back.push_back(*call.returned);
    }
    std::ranges::sort(asked);
    std::ranges::sort(given_back);
    std::vector<Time> found;
    std::size_t before = 0;  // how many holds have ended before
    for (std::size_t i = 0; i < asked.size(); ++i) {
        const auto over = std::ranges::lower_bound(given_back, asked[i]) - given_back.begin();
        if (i == before || static_cast<std::size_t>(over) < i) continue;
        found.push_back(asked[i]);
        before = i;
    }
    return found;
}

// For a loss, `invoked` is when the hold was last seen valid, which is earlier than the report.
Time said(const Call& call) {
    return asks(call) ? call.invoked : call.returned.value_or(call.invoked);
}

}  // namespace

std::vector<std::size_t> whose_holds(const Calls& calls) {
    std::map<Known, Lives> known;
    for (std::size_t i = 0; i < calls.size(); ++i) {
        const auto& call = calls[i];
        known[{call.process, call.token, call.hold}].places.push_back(i);
    }
    std::vector<std::size_t> numbers(calls.size());
    std::size_t first = 0;
    for (auto& [who, lives] : known) {
        lives.begins = begins(calls, lives.places);
        for (const auto place : lives.places) {
            const auto life = std::ranges::upper_bound(lives.begins, said(calls[place]));
            numbers[place] = first + static_cast<std::size_t>(life - lives.begins.begin());
        }
        first += lives.begins.size() + 1;
    }
    return numbers;
}

}  // namespace mortise::check
