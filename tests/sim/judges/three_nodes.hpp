// The nodes of the judges' tests.
#pragma once

#include "core/base/ids.hpp"

namespace mortise::sim {

inline constexpr core::NodeId a{1};
inline constexpr core::NodeId b{2};
inline constexpr core::NodeId c{3};

}  // namespace mortise::sim
