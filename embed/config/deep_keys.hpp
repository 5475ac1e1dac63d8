// Finds keys of so many parts that the TOML parser, which recurses for each, would overflow the
// stack or take minutes.
#pragma once

#include <cstddef>
#include <optional>
#include <string_view>

namespace mortise::detail {

constexpr std::size_t key_dots_max = 16;

// The line, counted from 1, of the first key or table header with more dots than that. The text may
// be anything.
[[nodiscard]] std::optional<std::size_t> line_of_deep_key(std::string_view toml);

}  // namespace mortise::detail
