#include "storage/directory_copy.hpp"

#include <array>
#include <cerrno>
#include <string>
#include <system_error>
#include <vector>

#include <fcntl.h>
#include <sys/stat.h>

namespace mortise::storage {

namespace {

namespace fs = std::filesystem;

constexpr std::size_t block_bytes = std::size_t{1} << 20U;
// LOCK and the reserve have no content.
constexpr std::array<const char*, 5> parts{"meta", "log", "state", "countdowns", "countdowns.2"};

Result<void> copy_file(const fs::path& from, const fs::path& to, FileProbe* probe) {
    const auto source = File::open(from, O_RDONLY, probe);
    if (!source) return source.error();
    auto target = File::open(to, O_WRONLY | O_CREAT | O_EXCL, probe);
    if (!target) return std::move(target).error();
    std::string block(block_bytes, '\0');
    for (std::uint64_t at = 0;;) {
        const auto got = source->read_at(at, block.data(), block.size());
        if (!got) return got.error();
        if (*got == 0) return target->sync();
        const std::string_view bytes{block.data(), *got};
        if (auto written = target->write_at(at, bytes); !written) return written;
        at += *got;
    }
}

Result<void> copy_folder(const fs::path& from, const fs::path& to, FileProbe* probe) {
    if (auto made = make_directory(to, probe); !made) return made;
    std::error_code failed;
    for (fs::directory_iterator each{from, failed}, end; !failed && each != end;
         each.increment(failed)) {
        if (!each->is_regular_file()) continue;
        const auto name = each->path().filename();
        if (auto copied = copy_file(from / name, to / name, probe); !copied) return copied;
    }
    if (failed) return io_error("cannot list " + from.string(), failed.value());
    return sync_directory(to, probe);
}

Result<void> copy_part(const fs::path& from, const fs::path& to, FileProbe* probe) {
    std::error_code failed;
    const auto status = fs::symlink_status(from, failed);
    if (!fs::exists(status)) return {};
    return fs::is_directory(status) ? copy_folder(from, to, probe) : copy_file(from, to, probe);
}

// What is written next would be closed to the node. Only root can write for another user, and in a
// container perhaps not even root.
Result<void> check_owner(const fs::path& directory, const fs::path& made) {
    struct stat node {};
    struct stat own {};
    if (::lstat((directory / "meta").c_str(), &node) != 0)
        return io_error("cannot look at " + (directory / "meta").string(), errno);
    if (::lstat(made.c_str(), &own) != 0) return io_error("cannot look at " + made.string(), errno);
    if (own.st_uid == node.st_uid) return {};
    return make_error(Errc::denied, directory.string() + " belongs to user " +
                                        std::to_string(node.st_uid) +
                                        ", for whom this process cannot create files: do this as "
                                        "that user; nothing was changed");
}

Result<void> copy_parts(const fs::path& directory, const fs::path& to, FileProbe* probe) {
    if (auto made = make_directory(to, probe); !made) return made;
    if (auto checked = check_owner(directory, to); !checked) return checked;
    for (const auto* part : parts) {
        if (auto copied = copy_part(directory / part, to / part, probe); !copied) return copied;
    }
    return sync_directory(to, probe);
}

fs::path place(const fs::path& directory, std::size_t number) {
    return directory / ("before-recovery-" + std::to_string(number));
}

}  // namespace

Result<fs::path> copy_directory(const fs::path& directory, FileProbe* probe) {
    std::error_code failed;
    const auto unfinished = directory / "before-recovery.unfinished";
    fs::remove_all(unfinished, failed);
    if (failed) return io_error("cannot remove " + unfinished.string(), failed.value());
    if (auto copied = copy_parts(directory, unfinished, probe); !copied) {
        // It may have filled the volume.
        fs::remove_all(unfinished, failed);
        return std::move(copied).error();
    }
    std::size_t number = 1;
    while (fs::exists(fs::symlink_status(place(directory, number), failed)))
        ++number;
    auto to = place(directory, number);
    if (auto moved = move(unfinished, to, probe); !moved) return std::move(moved).error();
    if (auto synced = sync_directory(directory, probe); !synced) return std::move(synced).error();
    return to;
}

}  // namespace mortise::storage
