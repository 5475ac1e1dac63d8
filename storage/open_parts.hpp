// open_directory with what a test puts between it and the system.
#pragma once

#include <chrono>
#include <memory>

#include "storage/data_directory.hpp"
#include "storage/files.hpp"

namespace rocksdb {
class FileSystem;
}

namespace mortise::storage {

struct Seams {
    std::shared_ptr<rocksdb::FileSystem> files;  // below both databases; null: the system's
    FileProbe* probe = nullptr;                  // outlives the stores
    // How long a shortage of descriptors is waited out before it is an error.
    std::chrono::milliseconds patience{4'000};
};

[[nodiscard]] Result<Opened> open_directory(const std::filesystem::path& path,
                                            const OpenOptions& options, const Seams& seams);

}  // namespace mortise::storage
