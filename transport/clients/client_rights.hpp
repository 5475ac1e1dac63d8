// Which requests of a client are allowed. Its certificate decides; without TLS the only known fact
// about a caller is its address, and that decides (docs/decisions/0016, 0031).
#pragma once

#include <optional>
#include <string_view>

#include "core/access/denial.hpp"
#include "core/access/identity.hpp"

namespace mortise::transport {

struct Caller {
    const core::Identity* identity = nullptr;  // null without TLS
    bool is_local = false;
};

// Empty if it is allowed. For a listing the name is the prefix; for Right::members it is empty.
[[nodiscard]] std::optional<core::Denied> client_denial(const Caller& caller, core::Right right,
                                                        std::string_view name);

}  // namespace mortise::transport
