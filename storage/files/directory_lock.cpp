#include "storage/files/directory_lock.hpp"

#include <cerrno>
#include <cstdint>
#include <optional>
#include <sstream>
#include <string>
#include <utility>

#include <fcntl.h>
#include <sys/file.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

namespace mortise::storage {

namespace {

// "4711 4026531836": the process, and the pid namespace in which it has that number. Earlier
// versions wrote and read the first number alone.
std::string name_of_this_process() {
    const auto space = pid_namespace();
    return std::to_string(::getpid()) + (space == 0 ? "" : " " + std::to_string(space)) + "\n";
}

std::string process_named_by(const std::string& text) {
    std::istringstream words{text};
    long pid = 0;
    if (!(words >> pid) || pid <= 0) return "a process";
    const auto process = "process " + std::to_string(pid);
    const auto ours = pid_namespace();
    std::uint64_t space = 0;
    const bool is_known = words >> space && ours != 0;
    if (is_known && space != ours)
        return process + " of another pid namespace, such as that of a container";
    if (pid != ::getpid()) return process;
    return is_known
               ? "this process"
               : "this process, or process " + std::to_string(pid) + " of another pid namespace";
}

// LOCK names the process, unless the file was removed.
Error in_use(const std::filesystem::path& directory) {
    constexpr std::size_t bytes_max = 40;
    const auto text = read_file(directory / "LOCK", bytes_max, nullptr);
    const auto by = text && *text ? process_named_by(**text) : "a process";
    return make_error(Errc::locked, directory.string() + " is in use by " + by);
}

// False if the name refers to another file meanwhile: the lock would then exclude nobody.
Result<bool> is_still_named(const struct stat& mine, const std::filesystem::path& path) {
    struct stat named {};
    const bool is_there = ::lstat(path.c_str(), &named) == 0;
    if (!is_there && errno != ENOENT) return io_error("cannot look at " + path.string(), errno);
    return is_there && named.st_dev == mine.st_dev && named.st_ino == mine.st_ino;
}

// False if another process has it.
Result<bool> lock(const File& file, int how = LOCK_EX) {
    while (::flock(file.descriptor(), how | LOCK_NB) != 0) {
        if (errno == EWOULDBLOCK) return false;
        if (errno != EINTR) return io_error("cannot lock " + file.path().string(), errno);
    }
    return true;
}

// Some file systems cannot lock directories; there the file has to do.
bool is_locked_by_another(const File& directory) {
    const auto locked = lock(directory);
    return locked && !*locked;
}

struct KeptOut {
    File directory;
    std::optional<File> file;
};

constexpr std::size_t mapping_bytes = 1;  // one page, which is never read

// Not inherited by a child of a fork, which must not keep the lock.
void* keep_open(int descriptor) {
    void* const mapping = ::mmap(nullptr, mapping_bytes, PROT_NONE, MAP_SHARED, descriptor, 0);
    if (mapping == MAP_FAILED) return nullptr;
    ::madvise(mapping, mapping_bytes, MADV_DONTFORK);
    return mapping;
}

}  // namespace

DirectoryLock::DirectoryLock(File directory, File file, Life life)
    : directory_{std::move(directory)},
      file_{std::move(file)},
      life_{std::move(life)},
      owner_{::getpid()},
      mapping_{keep_open(file_.descriptor())} {}

DirectoryLock::~DirectoryLock() {
    if (owner_ != ::getpid()) return;
    if (mapping_ != nullptr) ::munmap(mapping_, mapping_bytes);
    if (file_.is_ours()) ::flock(file_.descriptor(), LOCK_UN);
    if (directory_.is_ours()) ::flock(directory_.descriptor(), LOCK_UN);
}

Result<void> DirectoryLock::check() {
    // The path of directory_ ends with a dot.
    const auto place = [this] { return directory_.path().parent_path().string(); };
    if (!is_held()) return closed_error(place());
    struct stat mine {};
    struct stat named {};
    const bool is_open = ::fstat(directory_.descriptor(), &mine) == 0;
    const bool is_there = ::stat(directory_.path().c_str(), &named) == 0;
    // A path that this user may not look at any more says nothing.
    const bool is_gone = !is_there && (errno == ENOENT || errno == ENOTDIR);
    const bool is_another =
        is_open && is_there && (named.st_dev != mine.st_dev || named.st_ino != mine.st_ino);
    if (is_gone || is_another)
        return make_error(Errc::io, place() + " was moved or removed while it is in use");
    return {};
}

bool DirectoryLock::is_held() noexcept {
    if (!is_lost_ && (!file_.is_ours() || !directory_.is_ours())) is_lost_ = true;
    return !is_lost_;
}

Result<std::shared_ptr<DirectoryLock>> DirectoryLock::take(const std::filesystem::path& directory,
                                                           FileProbe* probe) {
    // The dot: if the path is a symbolic link, this opens the directory that it leads to.
    auto whole = File::open(directory / ".", O_RDONLY | O_DIRECTORY, probe);
    if (!whole) return std::move(whole).error();
    const auto path = directory / "LOCK";
    if (is_locked_by_another(*whole)) {
        const auto left = File::open(path, O_RDWR, probe);
        if (left && lock(*left).value_or(false))
            return make_error(Errc::locked, directory.string() +
                                                " is locked by another program, "
                                                "as flock(1) does it");
        return in_use(directory);
    }
    auto file = File::open(path, O_RDWR | O_CREAT, probe);
    if (!file) return std::move(file).error();
    const auto locked = lock(*file);
    if (!locked) return locked.error();
    if (!*locked) return in_use(directory);
    struct stat mine {};
    if (::fstat(file->descriptor(), &mine) != 0)
        return io_error("cannot look at " + path.string(), errno);
    const auto is_named = is_still_named(mine, path);
    if (!is_named) return is_named.error();
    if (!*is_named)
        return make_error(Errc::locked, path.string() + " is being replaced by another process");
    // Information for the process that comes second; nothing depends on it.
    auto cleared = ::ftruncate(file->descriptor(), 0);
    if (cleared == 0) {
        if (auto told = file->write_at(0, name_of_this_process()); !told)
            return std::move(told).error();
    }
    return std::make_shared<DirectoryLock>(*std::move(whole), *std::move(file),
                                           Life{kernel_boot_id(), mine.st_dev, mine.st_ino});
}

// LOCK is only read, and is locked only if the directory cannot be: so a node that tries to open
// the directory meanwhile reports another program, and not the process that LOCK names.
Result<std::shared_ptr<const void>> DirectoryLock::keep_out(const std::filesystem::path& directory,
                                                            FileProbe* probe) {
    auto whole = File::open(directory / ".", O_RDONLY | O_DIRECTORY, probe);
    if (!whole) return std::move(whole).error();
    const auto locked = lock(*whole, LOCK_SH);
    if (locked && !*locked) return in_use(directory);
    auto kept = std::make_shared<KeptOut>(KeptOut{*std::move(whole), std::nullopt});
    auto file = File::open(directory / "LOCK", O_RDONLY, probe);
    if (!file) {
        if (file.error().code == std::errc::no_such_file_or_directory || locked)
            return std::shared_ptr<const void>{std::move(kept)};
        return std::move(file).error();
    }
    const auto free = lock(*file, LOCK_SH);
    if (!free) return free.error();
    if (!*free) return in_use(directory);
    if (!locked) kept->file = *std::move(file);
    return std::shared_ptr<const void>{std::move(kept)};
}

}  // namespace mortise::storage
