// A crash may cut the newest write short, which was not acknowledged. Any other error in a
// write-ahead log is damage. RocksDB does not distinguish the two.
#pragma once

#include <filesystem>

#include "storage/rocks/rocks_settings.hpp"

namespace mortise::storage {

// Opens the database that `database` names, in which every write is synced by itself. A torn end is
// left out; a witness beside the database has to show whether something acknowledged was lost with
// it. Requires the recovery mode that does not take a bad record for the end.
Result<void> open_after_crash(rocksdb::Options options, RocksDatabase& database);

// True if the write-ahead logs in that directory have a bad place that no later write follows, in
// the same log or a newer one. A start that was cut short itself may have left newer ones without
// writes. Requires that opening the database reported corruption.
Result<bool> ends_in_torn_write(const std::filesystem::path& directory);

// Errc::damaged if a write-ahead log in that directory has a hole: zeros where a write was, and a
// complete write behind them. RocksDB takes zeros for the end of their block, without an error.
Result<void> refuse_holes(const std::filesystem::path& directory);

}  // namespace mortise::storage
