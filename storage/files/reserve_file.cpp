#include "storage/files/reserve_file.hpp"

#include <algorithm>
#include <limits>
#include <string>
#include <utility>

#include <fcntl.h>
#include <sys/resource.h>

#include "storage/files/log_room.hpp"

namespace mortise::storage {

namespace {

// The largest allowed size of a file of this process.
std::uint64_t file_size_limit() {
    rlimit limit{};
    if (::getrlimit(RLIMIT_FSIZE, &limit) != 0 || limit.rlim_cur == RLIM_INFINITY)
        return std::numeric_limits<std::uint64_t>::max();
    return limit.rlim_cur;
}

// A large reserve is useless where files cannot become large. On a small volume it is what the next
// opening needs: that must be possible when everything else is full.
std::uint64_t bytes_for(std::uint64_t wanted, const std::filesystem::path& directory) {
    wanted = std::min(wanted, file_size_limit() / 4);
    std::error_code failed;
    const auto disk = std::filesystem::space(directory, failed);
    if (failed) return wanted;
    return std::min(wanted, log_room(disk.capacity).opening_bytes());
}

std::string in_mebibytes(std::uint64_t bytes) {
    constexpr std::uint64_t mebibyte = std::uint64_t{1} << 20U;
    return std::to_string((bytes + mebibyte - 1) / mebibyte) + " MiB";
}

}  // namespace

ReserveFile::ReserveFile(std::filesystem::path path, FileProbe* probe)
    : path_{std::move(path)}, probe_{probe} {}

Result<std::shared_ptr<ReserveFile>> ReserveFile::hold(const std::filesystem::path& path,
                                                       std::uint64_t bytes, FileProbe* probe) {
    auto file = File::open(path, O_RDWR | O_CREAT, probe);
    if (!file) return std::move(file).error();
    const auto kept = bytes_for(bytes, path.parent_path());
    std::error_code ignored;
    const auto before = std::min<std::uint64_t>(std::filesystem::file_size(path, ignored), kept);
    if (auto room = file->allocate(2 * kept); !room) {
        // A reserve that is only partly allocated would only take space from everybody.
        static_cast<void>(file->truncate(before));
        auto error = std::move(room).error();
        error.what += "; a node starts with " + in_mebibytes(2 * kept) + " of free space or more";
        return error;
    }
    if (auto left = file->truncate(kept); !left) return std::move(left).error();
    return std::make_shared<ReserveFile>(path, probe);
}

void ReserveFile::release() const {
    static_cast<void>(remove_file(path_, probe_));
}

}  // namespace mortise::storage
