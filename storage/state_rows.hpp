// The rows of state/, as bytes (docs/formats.md). There is one column family: "A" describes the
// state and names the generation of its rows; "R", a generation and a key is a row.
//
// A snapshot from another node is written beside the state in force, as the next generation. The
// row "A" that puts it in force comes last, and is one write.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include "core/raft/configuration.hpp"
#include "core/raft/entry.hpp"

namespace mortise::storage {

inline constexpr std::string_view applied_key = "A";
inline constexpr char row_prefix = 'R';
inline constexpr std::size_t row_key_head_bytes = 1 + 8;

struct AppliedRow {
    core::Incarnation incarnation;
    std::uint64_t generation = 0;
    core::LogId applied;
    core::Configuration configuration;  // in force at `applied`
    bool is_installed = false;  // it was installed from another node, and nothing was written since
};

[[nodiscard]] std::string encode_applied(const AppliedRow& row);
// Empty if damaged.
[[nodiscard]] std::optional<AppliedRow> decode_applied(std::string_view bytes);

[[nodiscard]] std::string row_key(std::uint64_t generation, std::string_view key);
// Less than every row of that generation, greater than every row of the earlier ones.
[[nodiscard]] std::string generation_begin(std::uint64_t generation);

}  // namespace mortise::storage
