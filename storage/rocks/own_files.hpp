// The files of a database, implemented on File, so that the descriptor of each is known, and no
// descriptor is written to or closed after the program closed or reused it. RocksDB's own files do
// not expose their descriptors.
#pragma once

#include <memory>

#include <rocksdb/file_system.h>

#include "storage/files/directory_lock.hpp"

namespace mortise::storage {

// Once the lock is lost nothing is changed in the directory, and every call fails. The lock is lost
// when one of the descriptors turns out to be closed.
[[nodiscard]] std::shared_ptr<rocksdb::FileSystem> own_files(std::shared_ptr<DirectoryLock> lock);

// True if `status` reports the lost lock.
[[nodiscard]] bool is_closed(const rocksdb::Status& status);

}  // namespace mortise::storage
