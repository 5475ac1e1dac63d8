// A crash may cut the newest write short, and that write was never acknowledged. Anything else that
// is wrong with a write-ahead log is damage. RocksDB does not tell the two apart.
#pragma once

#include <filesystem>
#include <string_view>

#include "storage/rocks_settings.hpp"

namespace mortise::storage {

// Opens what `database` names, of which every write is synced by itself. An end that is torn is
// left out: whether something acknowledged went with it a witness beside the database has to tell.
// Requires the recovery mode that takes no bad record for the end.
Result<void> open_after_crash(rocksdb::Options options, RocksDatabase& database);

// Iff the newest write-ahead log in that directory goes bad and no later write follows the bad
// place, while every other log is whole. Requires that opening the database found it corrupt.
Result<bool> ends_in_torn_write(const std::filesystem::path& directory);

enum class LogShape : std::uint8_t {
    whole,
    cut_short,  // ends within a write, or in rubbish
    damaged,    // rubbish, and a write after it
};

// Of one file in the format of RocksDB's logs: blocks of 32 KiB, in them records of checksum,
// length, type and bytes; a write that does not fit a block is several records.
[[nodiscard]] LogShape shape_of_log(std::string_view bytes);

}  // namespace mortise::storage
