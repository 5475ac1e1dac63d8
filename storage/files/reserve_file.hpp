// Reserved space on the disk, which is released when the disk is full, so that the store that still
// works, and the host program, can end in order.
#pragma once

#include <cstdint>
#include <filesystem>
#include <memory>

#include "storage/files/files.hpp"

namespace mortise::storage {

class ReserveFile {
public:
    // Reserves this many bytes; on a small file system what the next opening needs at most
    // (LogRoom::opening_bytes).
    // Errc::no_space unless the same amount is free besides: otherwise a node on a full disk would
    // start and fail at once.
    static Result<std::shared_ptr<ReserveFile>> hold(const std::filesystem::path& path,
                                                     std::uint64_t bytes, FileProbe* probe);

    // May be called on any thread, any number of times. Only the next start reserves the space
    // again.
    void release() const;

    ReserveFile(std::filesystem::path path, FileProbe* probe);

private:
    std::filesystem::path path_;
    FileProbe* probe_;
};

}  // namespace mortise::storage
