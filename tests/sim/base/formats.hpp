// Members of two versions. There is one format of commands so far, so the simulation invents the
// next one: its content is the same, only its number differs (core/codec/command_codec.hpp).
#pragma once

#include <cstdint>
#include <optional>
#include <vector>

#include "core/codec/command_codec.hpp"

namespace mortise::sim {

constexpr std::uint8_t later_format = core::command_format_newest + 1;

// The commands of a batch in either format.
[[nodiscard]] inline std::optional<std::vector<core::Command>> commands_in(
    const core::Bytes& payload) {
    return core::decode_batch(payload, later_format);
}

}  // namespace mortise::sim
