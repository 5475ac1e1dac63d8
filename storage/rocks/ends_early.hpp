// Files that are read up to a place, as if they ended there.
#pragma once

#include <cstdint>
#include <map>
#include <memory>
#include <string>

#include <rocksdb/file_system.h>

namespace mortise::storage {

// Where files end, by their names without a directory.
using FileEnds = std::map<std::string, std::uint64_t>;

// Null stands for the system's file system.
[[nodiscard]] std::shared_ptr<rocksdb::FileSystem> ends_early(
    std::shared_ptr<rocksdb::FileSystem> files, FileEnds ends);

}  // namespace mortise::storage
