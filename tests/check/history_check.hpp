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
    std::size_t given_up = 0;  // the number of names whose search was not finished
    // For the first name that cannot be explained:
    std::string name;
    std::string why;
    Calls window;  // as few of its calls as possible
};

// For each name at most this many states are examined.
[[nodiscard]] Verdict check(const Calls& calls,
                            std::size_t states_max = std::numeric_limits<std::size_t>::max());

}  // namespace mortise::check
