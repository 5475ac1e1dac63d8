// The rows of log/, as bytes (docs/formats.md). One column family: "E" and a big-endian index is an
// entry, "H" the hard state, "M" where the log begins and whose it is.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include "core/raft/write.hpp"
#include "storage/log_store.hpp"
#include "storage/meta_file.hpp"

namespace mortise::storage {

inline constexpr char entry_prefix = 'E';
inline constexpr std::string_view hard_state_key = "H";
inline constexpr std::string_view log_head_key = "M";

[[nodiscard]] std::string entry_key(core::LogIndex index);
// Empty when it is no entry's.
[[nodiscard]] std::optional<core::LogIndex> index_of_key(std::string_view key);

// An entry names the checksum of the one before it: an entry that was rewritten and then lost its
// successors' company shows, though each of them is whole.
struct EntryRow {
    core::Entry entry;
    std::uint64_t previous = 0;
};

// What comes before the payload in an entry's row.
[[nodiscard]] std::string encode_entry_head(const core::Entry& entry, std::uint64_t previous);
// Empty when damaged.
[[nodiscard]] std::optional<EntryRow> decode_entry(core::LogIndex index, std::string_view bytes);

[[nodiscard]] std::string encode_hard_state(const core::HardState& state);
[[nodiscard]] std::optional<core::HardState> decode_hard_state(std::string_view bytes);

struct LogHead {
    core::NodeId node;
    core::Incarnation incarnation;
    LogBase base;
    std::uint64_t base_checksum = 0;
};

[[nodiscard]] std::string encode_log_head(const LogHead& head);
// Empty when damaged.
[[nodiscard]] std::optional<LogHead> decode_log_head(std::string_view bytes);

// Not formed is no bytes.
[[nodiscard]] std::string encode_optional(const core::Configuration& configuration);
[[nodiscard]] std::optional<core::Configuration> decode_optional(std::string_view bytes);

// The version byte that every row begins with is one of a later release.
[[nodiscard]] bool is_of_later_version(std::string_view row);

}  // namespace mortise::storage
