// A sync is cheaper when the file has not become longer, and the blocks were written before: then
// the file system has nothing of its own to write (docs/decisions/0045).
#pragma once

#include <memory>

#include <rocksdb/file_system.h>

namespace mortise::storage {

// Writes RocksDB's write-ahead logs, files named *.log, over zeros that were written before. While
// such a file is open, and after a crash, it has zeros behind its data; closing it removes them.
// `files` must implement PositionedAppend().
[[nodiscard]] std::shared_ptr<rocksdb::FileSystem> zeroed_ahead(
    const std::shared_ptr<rocksdb::FileSystem>& files);

}  // namespace mortise::storage
