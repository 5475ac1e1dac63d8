// A crash may cut the newest write short, which was not acknowledged. Any other error in a
// write-ahead log is damage. RocksDB does not distinguish the two.
#pragma once

#include <filesystem>

#include "storage/files/files.hpp"
#include "storage/rocks/ends_early.hpp"
#include "storage/rocks/rocks_settings.hpp"

namespace mortise::storage {

// Opens the database that `database` names, in which every write is synced by itself. A torn end is
// left out; a witness beside the database has to show whether something acknowledged was lost with
// it. Requires the recovery mode that does not take a bad record for the end. What is behind `ends`
// does not count; the files of the database must end there as well.
Result<void> open_after_crash(rocksdb::Options options, RocksDatabase& database,
                              const FileEnds& ends = {});

// Where the write-ahead logs in that directory end if the newest writes were not synced, and power
// was lost: at their first bad place, whatever follows in the same file. Such writes are in the
// newest file with writes only. So a bad place in an earlier one is damage, and has no end here.
Result<FileEnds> ends_after_power_loss(const std::filesystem::path& directory);

// Makes everything in the write-ahead logs in that directory durable. It also fails if the kernel
// has lost something of it and has told nobody yet.
Result<void> sync_logs(const std::filesystem::path& directory, FileProbe* probe);

// True if the write-ahead logs in that directory have a bad place that no later write follows, in
// the same log or a newer one. A start that was cut short itself may have left newer ones without
// writes. Requires that opening the database reported corruption.
Result<bool> ends_in_torn_write(const std::filesystem::path& directory, const FileEnds& ends = {});

// Errc::damaged if a write-ahead log in that directory has a hole: zeros where a write was, and a
// complete write behind them. RocksDB takes zeros for the end of their block, without an error.
Result<void> refuse_holes(const std::filesystem::path& directory, const FileEnds& ends = {});

}  // namespace mortise::storage
