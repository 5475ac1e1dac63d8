// The rights that a request needs. A request about the session's own hold needs none.
#pragma once

#include <optional>
#include <string_view>

#include "core/access/identity.hpp"
#include "core/locks/command.hpp"

namespace mortise::core {

struct MissingRight {
    Right right = Right::acquire;
    std::string_view name;  // points into the request

    friend bool operator==(const MissingRight&, const MissingRight&) = default;
};

// Empty if the access allows the request. For several names, the first one that it does not allow.
[[nodiscard]] std::optional<MissingRight> missing_right(const Access& access,
                                                        const RequestBody& body);
[[nodiscard]] std::optional<MissingRight> missing_right(const Access& access,
                                                        const Acquire& request);
// The name would refer to a destroyed request.
void missing_right(const Access& access, RequestBody&& body) = delete;

}  // namespace mortise::core
