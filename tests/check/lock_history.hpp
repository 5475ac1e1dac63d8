// What the calls on one name say, made ready for the search: the holds, when each may end on its
// own at the earliest, and the steps that must be put in an order.
#pragma once

#include <limits>
#include <string>
#include <vector>

#include "tests/check/call.hpp"

namespace mortise::check {

inline constexpr Time never = std::numeric_limits<Time>::max();

struct Hold {
    std::size_t owner = 0;  // holds that cannot be told apart have the same
    core::LockMode mode = core::LockMode::exclusive;
    std::uint64_t token = 0;
    // Before this it is valid at its holder, who was told so; from then on the cluster may have
    // ended it, at any time or never (lazy expiry). Never: nothing says that it was not valid.
    Time may_end = never;
};

struct Step {
    enum class Kind : std::uint8_t {
        grant,
        busy,
        release,
        miss,  // the cluster has no such hold
        loss,  // its process knows that it is over; the cluster may have it still
    };

    Kind kind = Kind::grant;
    std::size_t call = 0;  // its place in the calls
    Time invoked = 0;
    Time returned = 0;
    core::LockMode mode = core::LockMode::exclusive;
    std::uint64_t token = 0;
    std::size_t hold = 0;   // of a grant
    std::size_t owner = 0;  // of a release, miss or loss
    // Busy: somebody whom the history does not show as a holder may have been in the way.
    bool unseen_holder = false;
    bool contended = false;    // somebody else asked meanwhile, and may wait first
    bool unseen_join = false;  // grant: of a token that an unseen holder may share
};

struct LockHistory {
    std::vector<Hold> holds;
    std::vector<Step> steps;  // ascending by invocation
    // What is wrong whatever the order, or nothing.
    std::string nonsense;
    std::string who;  // said that
};

// `calls` are of one name, and the deaths of processes.
[[nodiscard]] LockHistory prepare(const Calls& calls);

// A call of which it is not known whether and for how long it had the name.
[[nodiscard]] bool is_unseen(const Call& call);

}  // namespace mortise::check
