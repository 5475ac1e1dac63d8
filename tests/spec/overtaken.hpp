// How often later requests have overtaken a waiter, and the bounds on that (P9, S29, S31). Written
// from the rules: it shares nothing with core/locks or with LockSpec.
#pragma once

#include <cstddef>
#include <set>

#include "core/base/ids.hpp"
#include "core/locks/command.hpp"

namespace mortise::spec {

// S31: whether the mode conflicts with itself.
[[nodiscard]] bool is_writing(core::LockMode mode);

class Overtaken {
public:
    // The waiter's mode, and how many writers wait in front of it.
    Overtaken(core::LockMode mode, std::size_t writers_ahead)
        : mode_{mode}, writers_ahead_{writers_ahead} {}

    // A later request that conflicts with the waiter is granted in this mode, at that index.
    // Returns what is wrong with that; null if nothing is. `has_priorities`: a request for the name
    // ever had one.
    [[nodiscard]] const char* by(core::LockMode mode, core::LogIndex at, core::QueuePolicy policy,
                                 bool has_priorities);

    [[nodiscard]] std::size_t times() const { return times_; }

private:
    [[nodiscard]] const char* by_phases(core::LockMode mode, core::LogIndex at, std::size_t more);

    core::LockMode mode_;
    std::size_t writers_ahead_;
    std::size_t writers_past_ = 0;
    std::set<core::LogIndex> batches_past_;
    std::size_t times_ = 0;
};

}  // namespace mortise::spec
