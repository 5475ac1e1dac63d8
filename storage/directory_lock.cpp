#include "storage/directory_lock.hpp"

#include <cerrno>
#include <charconv>
#include <utility>

#include <fcntl.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

namespace mortise::storage {

namespace {

Error in_use(const std::filesystem::path& directory, File& file) {
    constexpr std::size_t digits_max = 20;
    std::string by = "a process";
    if (auto text = file.read(digits_max); text) {
        long pid = 0;
        const auto* end = text->data() + text->size();
        const auto parsed = std::from_chars(text->data(), end, pid);
        if (parsed.ec == std::errc{} && pid > 0)
            by = pid == ::getpid() ? "this process" : "process " + std::to_string(pid);
    }
    return make_error(Errc::locked, directory.string() + " is in use by " + by);
}

// False when the name was given to another file meanwhile: the lock would hold nobody off.
bool is_still_named(const struct stat& mine, const std::filesystem::path& path) {
    struct stat named {};
    return ::lstat(path.c_str(), &named) == 0 && named.st_dev == mine.st_dev &&
           named.st_ino == mine.st_ino;
}

}  // namespace

DirectoryLock::DirectoryLock(File file, Life life)
    : file_{std::move(file)}, life_{std::move(life)}, owner_{::getpid()} {}

DirectoryLock::~DirectoryLock() {
    if (owner_ == ::getpid()) ::flock(file_.descriptor(), LOCK_UN);
}

Result<std::shared_ptr<DirectoryLock>> DirectoryLock::take(const std::filesystem::path& directory,
                                                           FileProbe* probe) {
    const auto path = directory / "LOCK";
    auto file = File::open(path, O_RDWR | O_CREAT, probe);
    if (!file) return std::move(file).error();
    while (::flock(file->descriptor(), LOCK_EX | LOCK_NB) != 0) {
        if (errno == EWOULDBLOCK) return in_use(directory, *file);
        if (errno != EINTR) return io_error("cannot lock " + path.string(), errno);
    }
    struct stat mine {};
    if (::fstat(file->descriptor(), &mine) != 0)
        return io_error("cannot look at " + path.string(), errno);
    if (!is_still_named(mine, path))
        return make_error(Errc::locked, path.string() + " is being replaced by somebody");
    // For whoever comes second; nothing depends on it.
    auto cleared = ::ftruncate(file->descriptor(), 0);
    if (cleared == 0) {
        if (auto told = file->write_at(0, std::to_string(::getpid()) + "\n"); !told)
            return std::move(told).error();
    }
    return std::make_shared<DirectoryLock>(*std::move(file),
                                           Life{kernel_boot_id(), mine.st_dev, mine.st_ino});
}

}  // namespace mortise::storage
