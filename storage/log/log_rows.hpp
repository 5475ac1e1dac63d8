// The rows of log/, as bytes (docs/formats.md). There is one column family: "E" and a big-endian
// index is an entry, "H" the hard state, "M" the beginning of the log and its owner.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include "core/raft/write.hpp"
#include "storage/files/meta_file.hpp"
#include "storage/log/log_store.hpp"

namespace mortise::storage {

inline constexpr char entry_prefix = 'E';
inline constexpr std::string_view hard_state_key = "H";
inline constexpr std::string_view log_head_key = "M";

[[nodiscard]] std::string entry_key(core::LogIndex index);
// Empty if the key is not that of an entry.
[[nodiscard]] std::optional<core::LogIndex> index_of_key(std::string_view key);

// An entry has the checksum of the entry before it. So a rewritten entry whose successors were lost
// is detected, although each row is undamaged.
struct EntryRow {
    core::Entry entry;
    std::uint64_t previous = 0;
};

// The part of an entry's row before the payload.
[[nodiscard]] std::string encode_entry_head(const core::Entry& entry, std::uint64_t previous);
// Empty if damaged.
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
// Empty if damaged.
[[nodiscard]] std::optional<LogHead> decode_log_head(std::string_view bytes);

// Empty bytes if there is no configuration.
[[nodiscard]] std::string encode_optional(const core::Configuration& configuration);
[[nodiscard]] std::optional<core::Configuration> decode_optional(std::string_view bytes);

// Whether the version byte at the beginning of a row is that of a later release.
[[nodiscard]] bool is_of_later_version(std::string_view row);

}  // namespace mortise::storage
