// How much of its volume the log of a node may take. A node must not fill a volume by itself: what
// it appends while others are slow, or before RocksDB frees what was purged, would end it, and the
// next start as well (docs/decisions/0073).
#pragma once

#include <cstdint>
#include <filesystem>
#include <optional>

namespace mortise::storage {

struct LogRoom {
    // One of RocksDB's memtables, as long as which a file of the write-ahead log becomes; it may be
    // exceeded by one write. There are at most `memtables`.
    std::uint64_t memtable_bytes = std::uint64_t{64} << 20U;
    // Of the entries that are kept for slow members.
    std::uint64_t log_bytes = std::uint64_t{1} << 30U;

    static constexpr int memtables = 4;
    static constexpr std::uint64_t ahead_bytes_max = std::uint64_t{256} << 20U;

    // The bytes of entries that one write to the database may have. A single entry may be longer.
    [[nodiscard]] std::uint64_t write_bytes() const { return memtable_bytes / 8; }
    // What an opening writes at most: all that is in the write-ahead log, if nothing of it was
    // purged, as one table, and the small files that RocksDB begins anew.
    [[nodiscard]] std::uint64_t opening_bytes() const;
};

// The largest that fit into this many bytes, together with what compaction writes beside them, and
// leave a fifth for the state.
[[nodiscard]] LogRoom log_room(std::uint64_t bytes);
// What is free on the volume of a data directory, and what its databases have; empty if that
// cannot be learned.
[[nodiscard]] std::optional<std::uint64_t> room_of(const std::filesystem::path& directory);

}  // namespace mortise::storage
