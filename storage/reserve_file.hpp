// Room on the disk that is given back when no other is left: so that the store that still works,
// and the program around us, can end in order.
#pragma once

#include <cstdint>
#include <filesystem>
#include <memory>

#include "storage/files.hpp"

namespace mortise::storage {

class ReserveFile {
public:
    // So many bytes; on a small file system a small part of it, but 4 MiB at least. Errc::no_space
    // unless as much again is left: or a node on a full disk would start, to fail at once.
    static Result<std::shared_ptr<ReserveFile>> hold(const std::filesystem::path& path,
                                                     std::uint64_t bytes, FileProbe* probe);

    // Any thread, any number of times. Only the next start holds it again.
    void release() const;

    ReserveFile(std::filesystem::path path, FileProbe* probe);

private:
    std::filesystem::path path_;
    FileProbe* probe_;
};

}  // namespace mortise::storage
