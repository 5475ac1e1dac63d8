// The calls on one name, prepared for the search: the holds, the earliest time at which each may
// end by itself, and the steps that must be ordered.
#pragma once

#include <limits>
#include <string>
#include <vector>

#include "tests/check/call.hpp"

namespace mortise::check {

inline constexpr Time never = std::numeric_limits<Time>::max();

struct Hold {
    std::size_t owner = 0;  // equal for holds that cannot be distinguished
    core::LockMode mode = core::LockMode::exclusive;
    std::uint64_t token = 0;
    // Before this time it is valid for its holder; from then on the cluster may end it, at any time
    // or never (lazy expiry). Never: nothing says that it was not valid.
    Time may_end = never;
};

struct Step {
    enum class Kind : std::uint8_t {
        grant,
        busy,
        release,
        miss,  // the cluster has no such hold
        loss,  // its process knows that it is over; the cluster may still have it
    };

    Kind kind = Kind::grant;
    std::size_t call = 0;  // the position of its call
    Time invoked = 0;
    Time returned = 0;
    core::LockMode mode = core::LockMode::exclusive;
    std::uint64_t token = 0;
    std::size_t hold = 0;   // for a grant
    std::size_t owner = 0;  // for a release, miss or loss
    // Busy: a process that the history does not show as a holder may have had the name.
    bool unseen_holder = false;
    bool contended = false;    // another process requested it meanwhile, and may be queued first
    bool unseen_join = false;  // for a grant: its token may be shared by an unseen holder
};

struct LockHistory {
    std::vector<Hold> holds;
    std::vector<Step> steps;  // ascending by their calls
    // What is wrong in any order, or nothing.
    std::string nonsense;
    std::string who;  // the process that reported it
};

// `calls` are those of one name, and the deaths of processes.
[[nodiscard]] LockHistory prepare(const Calls& calls);

// A call that may have had the name for an unknown time.
[[nodiscard]] bool is_unseen(const Call& call);

}  // namespace mortise::check
