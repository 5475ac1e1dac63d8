// Members of two versions: the older one reads the first format of commands only.
#pragma once

#include <cstdint>
#include <optional>
#include <vector>

#include "core/codec/command_codec.hpp"

namespace mortise::sim {

constexpr std::uint8_t earlier_format = core::command_format_oldest;
constexpr std::uint8_t later_format = core::command_format_newest;
static_assert(earlier_format < later_format);

// The commands of a batch in either format.
[[nodiscard]] inline std::optional<std::vector<core::Command>> commands_in(
    const core::Bytes& payload) {
    return core::decode_batch(payload, later_format);
}

}  // namespace mortise::sim
