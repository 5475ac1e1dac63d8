// How often one who waits was passed by those who came later, and the bounds on that (P9, S29,
// S31). Written from the rules: shares nothing with core/locks, nor with LockSpec.
#pragma once

#include <cstddef>
#include <set>

#include "core/base/ids.hpp"
#include "core/locks/command.hpp"

namespace mortise::spec {

// S31: in a mode that conflicts with itself.
[[nodiscard]] bool is_writing(core::LockMode mode);

class Overtaken {
public:
    // It waits for this mode, and so many writers wait in front of it.
    Overtaken(core::LockMode mode, std::size_t writers_ahead)
        : mode_{mode}, writers_ahead_{writers_ahead} {}

    // Somebody who came later and conflicts with it enters in this mode, at that index. What is
    // wrong with that; null when nothing is. `has_priorities`: somebody on the name ever had one.
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
