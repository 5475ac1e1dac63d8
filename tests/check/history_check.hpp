// The verdict on a whole history. Names are independent of each other, so each is searched alone
// (Herlihy and Wing: linearizability is a local property).
#pragma once

#include <limits>
#include <string>
#include <vector>

#include "tests/check/call.hpp"

namespace mortise::check {

struct Verdict {
    bool explained = true;
    std::size_t calls = 0;
    std::size_t names = 0;
    std::size_t states = 0;
    std::size_t given_up = 0;  // names of which the search was not finished
    // Of the first name that cannot be explained:
    std::string name;
    std::string why;
    Calls window;  // so few calls of it that none can be left out
};

// Of each name at most so many states are looked at.
[[nodiscard]] Verdict check(const Calls& calls,
                            std::size_t states_max = std::numeric_limits<std::size_t>::max());

}  // namespace mortise::check
