#include "storage/files/log_room.hpp"

#include <algorithm>
#include <system_error>

#include <sys/stat.h>

#include "core/locks/limits.hpp"

namespace mortise::storage {

namespace {

namespace fs = std::filesystem;

// An entry is a batch of commands with a head.
constexpr std::uint64_t entry_bytes = core::batch_bytes_max + (std::uint64_t{1} << 10U);

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

// RocksDB's one thread may get as little time as it likes: then all memtables are full, each of the
// four tables that it compacts has what four memtables had, and the compaction reads and writes all
// that is kept. That is 5 times four memtables, 5/32 of the room, and twice a seventh.
LogRoom log_room(std::uint64_t bytes) {
    constexpr std::uint64_t least = std::uint64_t{256} << 10U;
    LogRoom room;
    room.memtable_bytes = std::clamp(bytes / (32 * LogRoom::memtables), least, room.memtable_bytes);
    room.log_bytes = std::clamp(bytes / 7, least, room.log_bytes);
    return room;
}

// A memtable is full when it is exceeded by a tenth at most, and then takes one more write.
std::uint64_t LogRoom::opening_bytes() const {
    constexpr std::uint64_t small_files = std::uint64_t{768} << 10U;
    const auto fullest =
        memtable_bytes + memtable_bytes / 10 + std::max<std::uint64_t>(write_bytes(), entry_bytes);
    return memtables * fullest + small_files;
}

std::optional<std::uint64_t> room_of(const fs::path& directory) {
    std::error_code failed;
    const auto volume = fs::space(directory, failed);
    if (failed) return std::nullopt;
    return volume.available + taken_in(directory / "log") + taken_in(directory / "state");
}

}  // namespace mortise::storage
