#pragma once

#include <memory>

#include "storage/files/directory_lock.hpp"
#include "storage/files/reserve_file.hpp"

namespace mortise::storage {

// What both stores of a directory keep while they live.
struct Held {
    std::shared_ptr<DirectoryLock> lock;
    std::shared_ptr<ReserveFile> reserve;  // null: none was requested
};

}  // namespace mortise::storage
