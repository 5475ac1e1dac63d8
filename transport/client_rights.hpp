// What a program that is no member may ask a member for. A certificate says so; without TLS nothing
// is known of a caller but where it is, and then that decides (docs/decisions/0016, 0031).
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

// Empty when it may. For a listing the name is the prefix; for Right::members it is empty.
[[nodiscard]] std::optional<core::Denied> client_denial(const Caller& caller, core::Right right,
                                                        std::string_view name);

}  // namespace mortise::transport
