// By which member a client enters the cluster: one after the other, from a random one on. After a
// round in which none served it, the client pauses.
#pragma once

#include <cstddef>
#include <cstdint>
#include <limits>
#include <optional>

#include "core/base/instant.hpp"
#include "core/base/prng.hpp"

namespace mortise::core {

class MemberChoice {
public:
    // Requires at least one member.
    MemberChoice(std::size_t members, Prng prng);

    // The place in the list of the member that is to be tried, once it is time for that.
    [[nodiscard]] std::optional<std::size_t> take_due(Instant now);
    // That member does not serve the client, or does not any more.
    void failed(Instant now);
    // That member is to be tried now, instead of the present one.
    void go_to(std::size_t place, Instant now) {
        place_ = place;
        due_ = now;
    }
    // The one that was tried last.
    [[nodiscard]] std::size_t place() const { return place_; }
    // It does: something that the client asked for was applied.
    void served() { failures_ = 0; }
    [[nodiscard]] Instant due() const { return due_; }

private:
    std::size_t members_;
    Prng prng_;
    std::size_t place_;
    std::size_t failures_ = 0;  // in a row
    Instant due_{std::numeric_limits<std::int64_t>::min()};
};

}  // namespace mortise::core
