#include "storage/directory_copy.hpp"

#include <array>
#include <string>
#include <system_error>
#include <vector>

#include <fcntl.h>

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

fs::path place(const fs::path& directory, std::size_t number) {
    return directory / ("before-recovery-" + std::to_string(number));
}

}  // namespace

Result<fs::path> copy_directory(const fs::path& directory, FileProbe* probe) {
    std::error_code failed;
    const auto unfinished = directory / "before-recovery.unfinished";
    fs::remove_all(unfinished, failed);
    if (failed) return io_error("cannot remove " + unfinished.string(), failed.value());
    if (auto made = make_directory(unfinished, probe); !made) return std::move(made).error();
    for (const auto* part : parts) {
        auto copied = copy_part(directory / part, unfinished / part, probe);
        if (!copied) return std::move(copied).error();
    }
    if (auto synced = sync_directory(unfinished, probe); !synced) return std::move(synced).error();
    std::size_t number = 1;
    while (fs::exists(fs::symlink_status(place(directory, number), failed)))
        ++number;
    auto to = place(directory, number);
    if (auto moved = move(unfinished, to, probe); !moved) return std::move(moved).error();
    if (auto synced = sync_directory(directory, probe); !synced) return std::move(synced).error();
    return to;
}

}  // namespace mortise::storage
