// The files of a database, on File: so that it is known which descriptor each has, and nothing is
// written or closed that is not ours any more. RocksDB's own keep theirs to themselves.
#pragma once

#include <memory>

#include <rocksdb/file_system.h>

#include "storage/directory_lock.hpp"

namespace mortise::storage {

// Once the lock is lost nothing is changed in the directory: every call fails, and it is lost when
// any of the descriptors turns out to be closed.
[[nodiscard]] std::shared_ptr<rocksdb::FileSystem> own_files(std::shared_ptr<DirectoryLock> lock);

// Whether `status` comes from that.
[[nodiscard]] bool is_closed(const rocksdb::Status& status);

}  // namespace mortise::storage
