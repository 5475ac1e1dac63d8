// Says in one sentence what an access does not allow, and why:
//   node 3 may not acquire "orders/42": its certificate allows acquire on "jobs/"
#pragma once

#include <string>
#include <string_view>

#include "core/access/identity.hpp"

namespace mortise::core {

// A call was refused, because an access does not allow it.
struct Denied {
    std::string why;  // one sentence, without a full stop; names in it are as they are, not escaped

    friend bool operator==(const Denied&, const Denied&) = default;
};

// `who` is the result of Identity::name(). For Right::members the name is empty.
[[nodiscard]] Denied denial(std::string_view who, const Access& access, Right right,
                            std::string_view name);

}  // namespace mortise::core
