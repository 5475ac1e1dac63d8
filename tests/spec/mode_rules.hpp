// The rules of the specification about modes (S26, S31).
#pragma once

#include <array>
#include <cstddef>
#include <string_view>

#include "core/locks/lock_mode.hpp"

namespace mortise::spec {

// In the order of the modes: which modes a holder of the row's mode admits.
constexpr std::array<std::string_view, 6> admitted{
    "yyyyyn",  // IS: IS IX S SIX U
    "yynnnn",  // IX: IS IX
    "ynynyn",  // S: IS S U
    "ynnnnn",  // SIX: IS
    "ynynnn",  // U: IS S
    "nnnnnn",  // X
};

constexpr bool clash(core::LockMode held, core::LockMode wanted) {
    return admitted[static_cast<std::size_t>(held)][static_cast<std::size_t>(wanted)] == 'n';
}

constexpr bool is_a_writer(core::LockMode mode) {
    return clash(mode, mode);
}

}  // namespace mortise::spec
