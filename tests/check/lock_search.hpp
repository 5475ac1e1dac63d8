// Is there an order in which the steps on one name explain each other? The search of Wing and Gong
// ("Testing and verifying concurrent objects", 1993) with Lowe's memory of states that lead nowhere
// ("Testing for linearizability", 2017). Every step is put at one point between its call and its
// return; a hold that may end on its own ends when it is in the way, not before, so no expiry has
// to be guessed.
#pragma once

#include <limits>
#include <string>
#include <vector>

#include "tests/check/lock_history.hpp"

namespace mortise::check {

struct SearchResult {
    bool explained = false;  // or the search was given up
    bool given_up = false;   // after this many states; for a few histories the search would not end
    std::string why;         // why the longest explanation could not be continued
    std::size_t states = 0;
};

[[nodiscard]] SearchResult search(const LockHistory& history,
                                  std::size_t states_max = std::numeric_limits<std::size_t>::max());

}  // namespace mortise::check
