#include "storage/directory/directory_copy.hpp"

#include <array>
#include <cerrno>
#include <span>
#include <string>
#include <system_error>
#include <vector>

#include <fcntl.h>
#include <sys/stat.h>

namespace mortise::storage {

namespace {

namespace fs = std::filesystem;

constexpr std::size_t block_bytes = std::size_t{1} << 20U;
constexpr std::array<const char*, 7> parts{"meta",         "log",  "state",  "countdowns",
                                           "countdowns.2", "LOCK", "reserve"};
constexpr std::size_t parts_with_content = 5;

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

// Errc::denied if the file is there and belongs to another user.
Result<void> check_owner(const fs::path& file, uid_t user) {
    struct stat about {};
    if (::lstat(file.c_str(), &about) != 0)
        return errno == ENOENT ? Result<void>{}
                               : io_error("cannot look at " + file.string(), errno);
    if (about.st_uid == user) return {};
    return make_error(Errc::denied, file.string() + " belongs to user " +
                                        std::to_string(about.st_uid) + ", and its node is user " +
                                        std::to_string(user));
}

Result<void> check_part(const fs::path& part, uid_t user) {
    if (auto checked = check_owner(part, user); !checked) return checked;
    std::error_code failed;
    for (fs::directory_iterator each{part, failed}, end; !failed && each != end;
         each.increment(failed)) {
        if (auto checked = check_owner(each->path(), user); !checked) return checked;
    }
    return {};
}

Result<void> copy_parts(const fs::path& directory, const fs::path& to, FileProbe* probe) {
    if (auto made = make_directory(to, probe); !made) return made;
    if (auto checked = check_owners(directory, to); !checked) return checked;
    for (const auto* part : std::span{parts}.first(parts_with_content)) {
        if (auto copied = copy_part(directory / part, to / part, probe); !copied) return copied;
    }
    if (auto checked = check_owners(directory, to); !checked) return checked;
    return sync_directory(to, probe);
}

fs::path place(const fs::path& directory, std::size_t number) {
    return directory / ("before-recovery-" + std::to_string(number));
}

}  // namespace

Result<void> check_owners(const fs::path& directory, const fs::path& made) {
    struct stat node {};
    if (::lstat((directory / "meta").c_str(), &node) != 0)
        return io_error("cannot look at " + (directory / "meta").string(), errno);
    // The directory itself may be root's, as on the volume of a container.
    if (made != directory) {
        if (auto checked = check_owner(made, node.st_uid); !checked) return checked;
    }
    for (const auto* part : parts) {
        if (auto checked = check_part(made / part, node.st_uid); !checked) return checked;
    }
    return {};
}

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
