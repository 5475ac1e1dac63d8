// Measures how long an entry takes from the log of the leader until it is committed.
#pragma once

#include <array>
#include <cstddef>
#include <optional>

#include "core/base/ids.hpp"
#include "core/base/instant.hpp"

namespace mortise::detail {

// It remembers the oldest entries on their way, as many as fit, and uses no memory of its own.
class CommitTimes {
public:
    // The leader appended entries up to `last`.
    void appended(core::LogIndex last, core::Instant now) {
        if (count_ == places) return;
        entries_[(first_ + count_) % places] = {last, now};
        ++count_;
    }
    // The entry was applied. Empty if entries after it were appended together with it, or if it is
    // not known.
    [[nodiscard]] std::optional<core::Nanoseconds> applied(core::LogIndex index,
                                                           core::Instant now) {
        std::optional<core::Nanoseconds> took;
        while (count_ > 0 && entries_[first_].last <= index) {
            if (entries_[first_].last == index) took = now - entries_[first_].at;
            first_ = (first_ + 1) % places;
            --count_;
        }
        return took;
    }
    // This node does not lead: others decide what its entries become.
    void clear() { count_ = 0; }

private:
    static constexpr std::size_t places = 64;

    struct Appended {
        core::LogIndex last;
        core::Instant at;
    };
    std::array<Appended, places> entries_{};
    std::size_t first_ = 0;
    std::size_t count_ = 0;
};

}  // namespace mortise::detail
