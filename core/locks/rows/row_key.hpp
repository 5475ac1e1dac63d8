// The common part of all rows of a lock machine: their keys, and the beginning of their values.
// docs/formats.md describes the rows. Readers refuse rows that are malformed in themselves;
// MachineLoader checks that rows agree with each other.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include "core/base/bytes.hpp"

namespace mortise::core {

// The format version that this build writes, the first byte of every value.
constexpr std::uint8_t row_format = 1;

// The first byte of a key. The rest is a name, or an id with its highest byte first.
enum class RowKind : char {
    ended_session = 'E',
    totals = 'G',
    incarnation = 'I',
    name = 'L',
    session = 'S',
    clock_mark = 'T',
};

[[nodiscard]] std::string row_key(RowKind kind, std::string_view name = {});
[[nodiscard]] std::string row_key(RowKind kind, std::uint64_t id);
// The id after the first byte; empty if it is not an id, or zero.
[[nodiscard]] std::optional<std::uint64_t> id_of_row(std::string_view key);

// A new value, which begins with its version.
[[nodiscard]] ByteWriter begin_row();
[[nodiscard]] ByteReader open_row(std::string_view value);

}  // namespace mortise::core
