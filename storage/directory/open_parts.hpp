// open_directory with what a test inserts between it and the system.
#pragma once

#include <chrono>
#include <memory>

#include "storage/directory/data_directory.hpp"
#include "storage/files/files.hpp"

namespace rocksdb {
class FileSystem;
}

namespace mortise::storage {

struct Seams {
    // below both databases; null: the system's file system
    std::shared_ptr<rocksdb::FileSystem> files;
    FileProbe* probe = nullptr;  // outlives the stores
    // How long a shortage of descriptors is tolerated before it is an error.
    std::chrono::milliseconds patience{4'000};
};

[[nodiscard]] Result<Opened> open_directory(const std::filesystem::path& path,
                                            const OpenOptions& options, const Seams& seams);

}  // namespace mortise::storage
