// Histories generated from a seed: a small simulation of locks with leases, so that they are
// correct by construction; and faults that can be inserted in one place.
#pragma once

#include <array>
#include <cstdint>
#include <string_view>

#include "core/base/prng.hpp"
#include "tests/check/call.hpp"

namespace mortise::check {

struct MadeOptions {
    std::uint64_t seed = 1;
    std::size_t names = 1;
    std::size_t processes = 5;  // at the same time, for each name
    std::size_t calls = 200;    // for each name, approximately
};

[[nodiscard]] Calls made_history(const MadeOptions& options);

enum class Breakage : std::uint8_t {
    overlap,
    token_twice,
    stranger_releases,
    released_twice,
    release_missing,
    busy_for_nobody,
    lost_too_late,
};

inline constexpr std::array<std::pair<Breakage, std::string_view>, 7> breakages{
    {{Breakage::overlap, "overlap"},
     {Breakage::token_twice, "token_twice"},
     {Breakage::stranger_releases, "stranger_releases"},
     {Breakage::released_twice, "released_twice"},
     {Breakage::release_missing, "release_missing"},
     {Breakage::busy_for_nobody, "busy_for_nobody"},
     {Breakage::lost_too_late, "lost_too_late"}}};

// False if the history has no place for it and is unchanged.
[[nodiscard]] bool break_history(Calls& calls, Breakage breakage, core::Prng& prng);

}  // namespace mortise::check
