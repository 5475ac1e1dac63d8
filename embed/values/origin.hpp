#pragma once

#include "core/locks/origin.hpp"
#include <mortise/info.hpp>

namespace mortise::detail {

[[nodiscard]] inline Origin from_core(const core::Origin& origin) {
    return {origin.host, origin.program, origin.pid, origin.address};
}
[[nodiscard]] inline core::Origin to_core(const Origin& origin) {
    return {origin.host, origin.program, origin.pid, origin.address};
}

// What this process says of itself, without its address.
[[nodiscard]] core::Origin own_origin();

}  // namespace mortise::detail
