// Measures how long a lock is on its way from one caller of this node to the next one. A grant
// names the token of the hold before it, so its release is found without a search.
#pragma once

#include <array>
#include <cstddef>
#include <optional>

#include "core/base/ids.hpp"
#include "core/base/instant.hpp"

namespace mortise::detail {

// Times are on the steady clock. It remembers the newest releases only, and uses no memory of its
// own.
class HandOvers {
public:
    void released(core::FencingToken token, core::Instant now) { place(token) = {token, now}; }
    // The time since the release of the hold with the token `before`, if a caller of this node held
    // it and the new holder waited since `began`, which was before that release.
    [[nodiscard]] std::optional<core::Nanoseconds> granted(core::FencingToken before,
                                                           core::Instant began, core::Instant now) {
        const auto& release = place(before);
        if (before == core::FencingToken{} || release.token != before) return std::nullopt;
        if (began > release.at) return std::nullopt;
        return now - release.at;
    }

private:
    static constexpr std::size_t places = 256;

    struct Release {
        core::FencingToken token;
        core::Instant at;
    };

    [[nodiscard]] Release& place(core::FencingToken token) {
        return releases_[static_cast<std::size_t>(token.raw() % places)];
    }

    std::array<Release, places> releases_{};
};

}  // namespace mortise::detail
