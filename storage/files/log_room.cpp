#include "storage/files/log_room.hpp"

#include <algorithm>
#include <system_error>

#include <sys/stat.h>

namespace mortise::storage {

namespace {

namespace fs = std::filesystem;

std::uint64_t taken_in(const fs::path& folder) {
    constexpr std::uint64_t block_bytes = 512;
    std::uint64_t taken = 0;
    std::error_code failed;
    for (fs::directory_iterator each{folder, failed}, end; !failed && each != end;
         each.increment(failed)) {
        struct stat about {};
        if (::lstat(each->path().c_str(), &about) == 0)
            taken += static_cast<std::uint64_t>(about.st_blocks) * block_bytes;
    }
    return taken;
}

}  // namespace

// An eighth is for the write-ahead log. While members are slow, entries are in tables: those that a
// compaction has not read yet take a fifth, what it has written before a quarter, and what it
// writes a fifth.
LogRoom log_room(std::uint64_t bytes) {
    constexpr std::uint64_t least = std::uint64_t{256} << 10U;
    LogRoom room;
    room.memtable_bytes = std::clamp(bytes / (8 * LogRoom::memtables), least, room.memtable_bytes);
    room.log_bytes = std::clamp(bytes / 7, least, room.log_bytes);
    return room;
}

std::optional<std::uint64_t> room_of(const fs::path& directory) {
    std::error_code failed;
    const auto volume = fs::space(directory, failed);
    if (failed) return std::nullopt;
    return volume.available + taken_in(directory / "log") + taken_in(directory / "state");
}

}  // namespace mortise::storage
