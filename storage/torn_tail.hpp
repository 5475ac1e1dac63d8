// A crash may cut the newest write short, which was not acknowledged. Any other error in a
// write-ahead log is damage. RocksDB does not distinguish the two.
#pragma once

#include <filesystem>
#include <string_view>

#include "storage/rocks_settings.hpp"

namespace mortise::storage {

// Opens the database that `database` names, in which every write is synced by itself. A torn end is
// left out; a witness beside the database has to show whether something acknowledged was lost with
// it. Requires the recovery mode that does not take a bad record for the end.
Result<void> open_after_crash(rocksdb::Options options, RocksDatabase& database);

// True if the newest write-ahead log in that directory has a bad place that no later write follows,
// and every other log is undamaged. Requires that opening the database reported corruption.
Result<bool> ends_in_torn_write(const std::filesystem::path& directory);

enum class LogShape : std::uint8_t {
    whole,
    cut_short,  // it ends within a write, or in garbage
    damaged,    // garbage, and a write after it
};

// Examines one file in the format of RocksDB's logs: blocks of 32 KiB with records of checksum,
// length, type and bytes; a write that does not fit a block has several records.
[[nodiscard]] LogShape shape_of_log(std::string_view bytes);

}  // namespace mortise::storage
