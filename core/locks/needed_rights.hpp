// Which rights a request needs. What a session does with a hold that it has got needs none.
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

// Empty when the access allows the request. Of several names the first one that it does not allow.
[[nodiscard]] std::optional<MissingRight> missing_right(const Access& access,
                                                        const RequestBody& body);
[[nodiscard]] std::optional<MissingRight> missing_right(const Access& access,
                                                        const Acquire& request);
[[nodiscard]] std::optional<MissingRight> missing_right(const Access& access,
                                                        const AcquireSeveral& request);
// The name would point into what is gone.
void missing_right(const Access& access, RequestBody&& body) = delete;

}  // namespace mortise::core
