// A configuration as bytes: the payload of an entry of that kind.
#pragma once

#include <optional>

#include "core/base/bytes.hpp"
#include "core/raft/configuration.hpp"

namespace mortise::core {

[[nodiscard]] Bytes encode_configuration(const Configuration& configuration);
// Empty when the bytes are not a configuration, or one of a later version.
[[nodiscard]] std::optional<Configuration> decode_configuration(const Bytes& bytes);

}  // namespace mortise::core
