// The rows of state/, as bytes (docs/formats.md). There is one column family. The row "A" describes
// the state and has the number of its row set. A key of "R", the number of a row set and the row's
// key holds one row.
//
// A snapshot from another node is written beside the state in force, as the next row set. The row
// "A" that puts it in force comes last, and is one write.
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
    std::uint64_t row_set = 0;
    core::LogId applied;
    core::Configuration configuration;  // in force at `applied`
    bool is_installed = false;  // it was installed from another node, and nothing was written since
};

[[nodiscard]] std::string encode_applied(const AppliedRow& row);
// Empty if damaged.
[[nodiscard]] std::optional<AppliedRow> decode_applied(std::string_view bytes);

[[nodiscard]] std::string row_key(std::uint64_t row_set, std::string_view key);
// Returns a key that sorts before every row of that row set and after every row of earlier ones.
[[nodiscard]] std::string row_set_begin(std::uint64_t row_set);

}  // namespace mortise::storage
