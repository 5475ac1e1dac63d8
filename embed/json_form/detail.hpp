#pragma once

#include <cstddef>
#include <cstdint>

namespace mortise::json_form {

// How much of a lock or of a change is told.
struct Detail {
    bool value_bytes = false;                // the value itself; its version is always told
    std::size_t value_bytes_max = SIZE_MAX;  // longer ones are left out all the same
    bool barrier_members = true;       // who has arrived at a barrier; the numbers are always told
    std::size_t slots_max = SIZE_MAX;  // of one holder; `slots_total` is how many it has
};

}  // namespace mortise::json_form
