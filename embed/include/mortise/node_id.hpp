#pragma once

#include <cstdint>

namespace mortise {

// The configured number of a member: 1 or more. 0 means none.
using NodeId = std::uint64_t;

// Numbers the sessions of a cluster; never reused. 0 means none.
using SessionId = std::uint64_t;

}  // namespace mortise
