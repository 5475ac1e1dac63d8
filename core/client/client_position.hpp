// How much of the log a client has received. A member on which less is applied reports nothing to
// it. One number, which versions without eras read as an index.
#pragma once

#include <compare>
#include <cstdint>

#include "core/base/ids.hpp"

namespace mortise::core {

class ClientPosition {
public:
    constexpr ClientPosition() = default;
    // An era (docs/decisions/0095) begins with a log that may have fewer entries than there were,
    // so an index alone would be behind what a client has received before. No era loses as many
    // entries as each one adds here, so everything that is applied since is ahead.
    constexpr ClientPosition(LogIndex index, std::uint64_t eras = 0)
        : raw_{index.raw() + eras * indexes_of_an_era} {}

    [[nodiscard]] constexpr LogIndex index() const { return LogIndex{raw_ % indexes_of_an_era}; }
    static constexpr ClientPosition from_raw(std::uint64_t raw) { return LogIndex{raw}; }
    [[nodiscard]] constexpr std::uint64_t raw() const { return raw_; }
    [[nodiscard]] constexpr bool is_set() const { return raw_ != 0; }

    friend constexpr bool operator==(ClientPosition, ClientPosition) = default;
    friend constexpr auto operator<=>(ClientPosition, ClientPosition) = default;

private:
    static constexpr std::uint64_t indexes_of_an_era = std::uint64_t{1} << 52U;

    std::uint64_t raw_ = 0;
};

}  // namespace mortise::core
