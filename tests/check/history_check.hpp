// The verdict on a whole history. Names are independent of each other, so each is searched alone
// (Herlihy and Wing: linearizability is a local property).
#pragma once

#include <string>
#include <vector>

#include "tests/check/call.hpp"

namespace mortise::check {

struct Verdict {
    bool explained = true;
    std::size_t calls = 0;
    std::size_t names = 0;
    std::size_t states = 0;
    // Of the first name that cannot be explained:
    std::string name;
    std::string why;
    Calls window;  // so few calls of it that none can be left out
};

[[nodiscard]] Verdict check(const Calls& calls);

}  // namespace mortise::check
