// The encoding of a configuration, which is the payload of a configuration entry.
#pragma once

#include <optional>

#include "core/base/bytes.hpp"
#include "core/raft/configuration.hpp"

namespace mortise::core {

[[nodiscard]] Bytes encode_configuration(const Configuration& configuration);
// Empty if the bytes are not a configuration, or have a later version.
[[nodiscard]] std::optional<Configuration> decode_configuration(const Bytes& bytes);

}  // namespace mortise::core
