// What all rows of a lock machine have in common: how their keys are made, and how a value begins.
// docs/formats.md describes the rows. Readers refuse what is malformed in itself; MachineLoader
// sees to it that rows agree with each other.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include "core/base/bytes.hpp"

namespace mortise::core {

// The version of the form that this build writes, the first byte of every value.
constexpr std::uint8_t row_format = 1;

// The first byte of a key. The rest is a name, or an id with its highest byte first.
enum class RowKind : char {
    ended_session = 'E',
    totals = 'G',
    incarnation = 'I',
    name = 'L',
    session = 'S',
};

[[nodiscard]] std::string row_key(RowKind kind, std::string_view name = {});
[[nodiscard]] std::string row_key(RowKind kind, std::uint64_t id);
// The id behind the first byte; empty when it is not one, or zero.
[[nodiscard]] std::optional<std::uint64_t> id_of_row(std::string_view key);

// A value, behind or up to its version.
[[nodiscard]] ByteWriter begin_row();
[[nodiscard]] ByteReader open_row(std::string_view value);

}  // namespace mortise::core
