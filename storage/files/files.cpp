#include "storage/files/files.hpp"

#include <cerrno>
#include <cstdio>
#include <string>
#include <utility>

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include "storage/base/descriptors.hpp"

namespace mortise::storage {

namespace {

Error failed(const char* verb, const std::filesystem::path& path, int errno_value) {
    return io_error(std::string{"cannot "} + verb + " " + path.string(), errno_value);
}

// Executes one step: a result of `call` below zero is an error with errno. Returns any other
// result, or the error.
template <class Call>
Result<ssize_t> take(FileStep step, const char* verb, const std::filesystem::path& path,
                     FileProbe* probe, Call call) {
    if (const int fault = probe != nullptr ? probe->before(step, path) : 0; fault != 0)
        return failed(verb, path, fault);
    ssize_t done = 0;
    do {
        done = call();
    } while (done < 0 && errno == EINTR);
    if (done < 0) return failed(verb, path, errno);
    if (probe != nullptr) probe->after(step, path);
    return done;
}

// User 0: nobody in particular.
struct Owner {
    uid_t user = 0;
    gid_t group = 0;
};

// Who is to have what root creates in this directory: whoever has what is in it, or the directory.
// Nobody but root may give files to others.
Owner owner_in(const std::filesystem::path& directory) {
    struct stat about {};
    if (::geteuid() != 0) return {};
    const bool is_known = ::lstat((directory / "meta").c_str(), &about) == 0 ||
                          ::stat(directory.c_str(), &about) == 0;
    return is_known ? Owner{about.st_uid, about.st_gid} : Owner{};
}

// If root has not the right to give it away, as in some containers, or its user namespace does not
// have that owner, root keeps it.
bool give(int descriptor, const Owner& owner) {
    return ::fchown(descriptor, owner.user, owner.group) == 0 || errno == EPERM || errno == EINVAL;
}

// For a file or a directory that could not be completed.
int fail_with(int error, int descriptor) {
    if (descriptor >= 0) ::close(descriptor);
    errno = error;
    return -1;
}

constexpr mode_t file_mode = 0600;
constexpr mode_t directory_mode = 0700;

// The file gets its name when it belongs to its owner: a process that is killed before leaves
// nothing.
int make_unnamed(const std::filesystem::path& path, int flags, const Owner& owner) {
    const int unnamed = (flags & ~(O_CREAT | O_EXCL | O_TRUNC | O_NOFOLLOW)) | O_TMPFILE;
    const int made = ::open((path.parent_path() / ".").c_str(), unnamed, file_mode);
    if (made < 0) return made;
    const auto itself = "/proc/self/fd/" + std::to_string(made);
    if (give(made, owner) &&
        ::linkat(AT_FDCWD, itself.c_str(), AT_FDCWD, path.c_str(), AT_SYMLINK_FOLLOW) == 0)
        return made;
    return fail_with(errno, made);
}

int make_named(const std::filesystem::path& path, int flags, const Owner& owner) {
    const int made = ::open(path.c_str(), flags | O_EXCL, file_mode);
    if (made < 0 || give(made, owner)) return made;
    const int error = errno;
    ::unlink(path.c_str());
    return fail_with(error, made);
}

// Some file systems have no files without a name, such as NFS, and others have no /proc.
bool needs_name(int error) {
    return error == EOPNOTSUPP || error == EISDIR || error == ENOENT || error == EPERM;
}

// A file that was there before keeps its owner, because the owner of the directory may have put
// somebody else's file there.
int open_for_owner(const std::filesystem::path& path, int flags) {
    const auto owner = (flags & O_CREAT) != 0 ? owner_in(path.parent_path()) : Owner{};
    if (owner.user == 0) return ::open(path.c_str(), flags, file_mode);
    const auto open_existing = [&] { return ::open(path.c_str(), flags & ~O_CREAT); };
    const bool may_exist = (flags & O_EXCL) == 0;
    if (const int found = may_exist ? open_existing() : -1; found >= 0) return found;
    if (may_exist && errno != ENOENT) return -1;
    int made = make_unnamed(path, flags, owner);
    if (made < 0 && needs_name(errno)) made = make_named(path, flags, owner);
    return made < 0 && errno == EEXIST && may_exist ? open_existing() : made;
}

// The same for a directory, which needs a name: until it belongs to its owner it has another one. A
// process that is killed may leave it there, empty.
int make_directory_for(const Owner& owner, const std::filesystem::path& path) {
    struct stat there {};
    if (::lstat(path.c_str(), &there) == 0) return fail_with(EEXIST, -1);
    auto draft = path;
    draft += ".unowned";
    ::rmdir(draft.c_str());
    if (::mkdir(draft.c_str(), directory_mode) != 0) return -1;
    const int made = ::open(draft.c_str(), O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
    const bool is_done = made >= 0 && ::fchmod(made, directory_mode) == 0 && give(made, owner) &&
                         std::rename(draft.c_str(), path.c_str()) == 0;
    const int error = errno == ENOTEMPTY ? EEXIST : errno;
    if (!is_done) ::rmdir(draft.c_str());
    if (!is_done) return fail_with(error, made);
    ::close(made);
    return 0;
}

// Does what mkdir(2) does, and gives the directory its owner and its mode, of which the umask may
// have removed permissions.
int make_one_directory(const std::filesystem::path& path, const std::filesystem::path& parent) {
    if (const auto owner = owner_in(parent); owner.user != 0)
        return make_directory_for(owner, path);
    const int made = ::mkdir(path.c_str(), directory_mode);
    return made == 0 ? ::chmod(path.c_str(), directory_mode) : made;
}

}  // namespace

File::File(std::filesystem::path path, int descriptor, FileProbe* probe)
    : path_{std::move(path)},
      descriptor_{descriptor},
      probe_{probe},
      identity_{OpenFile::at(descriptor)} {}

File::File(File&& other) noexcept
    : path_{std::move(other.path_)},
      descriptor_{std::exchange(other.descriptor_, -1)},
      probe_{other.probe_},
      identity_{other.identity_} {}

File& File::operator=(File&& other) noexcept {
    std::swap(path_, other.path_);
    std::swap(descriptor_, other.descriptor_);
    std::swap(probe_, other.probe_);
    std::swap(identity_, other.identity_);
    return *this;
}

File::~File() {
    if (descriptor_ >= 0 && is_ours()) ::close(descriptor_);
}

Result<void> File::check() const {
    if (!is_ours()) return closed_error(path_.string());
    return {};
}

Result<File> File::open(const std::filesystem::path& path, int flags, FileProbe* probe) {
    occupy_standard_descriptors();
    auto opened = take(FileStep::open, "open", path, probe,
                       [&] { return open_for_owner(path, flags | O_CLOEXEC | O_NOFOLLOW); });
    if (!opened) return std::move(opened).error();
    File file{path, static_cast<int>(*opened), probe};
    if (file.identity_.is_known()) return file;
    // It would be taken for closed, and stay open.
    static_cast<void>(fail_with(errno, std::exchange(file.descriptor_, -1)));
    return failed("look at", path, errno);
}

Result<std::uint64_t> File::size() const {
    struct stat about {};
    if (::fstat(descriptor_, &about) != 0) return failed("look at", path_, errno);
    return static_cast<std::uint64_t>(about.st_size);
}

Result<std::string> File::read(std::size_t bytes_max) const {
    std::string bytes(bytes_max, '\0');
    auto size = read_at(0, bytes.data(), bytes_max);
    if (!size) return std::move(size).error();
    bytes.resize(*size);
    return bytes;
}

Result<std::size_t> File::read_at(std::uint64_t offset, char* to, std::size_t bytes) const {
    if (auto ours = check(); !ours) return std::move(ours).error();
    std::size_t size = 0;
    while (size < bytes) {
        auto done = take(FileStep::read, "read", path_, probe_, [&] {
            return ::pread(descriptor_, to + size, bytes - size, static_cast<off_t>(offset + size));
        });
        if (!done) return std::move(done).error();
        if (*done == 0) break;
        size += static_cast<std::size_t>(*done);
    }
    return size;
}

Result<void> File::write_at(std::uint64_t offset, std::string_view bytes) {
    if (auto ours = check(); !ours) return ours;
    while (!bytes.empty()) {
        auto done = take(FileStep::write, "write", path_, probe_, [&] {
            return ::pwrite(descriptor_, bytes.data(), bytes.size(), static_cast<off_t>(offset));
        });
        if (!done) return std::move(done).error();
        offset += static_cast<std::uint64_t>(*done);
        bytes.remove_prefix(static_cast<std::size_t>(*done));
    }
    return {};
}

Result<void> File::allocate(std::uint64_t bytes) {
    if (auto ours = check(); !ours) return ours;
    auto done = take(FileStep::allocate, "make room for", path_, probe_, [&] {
        const int failed = ::posix_fallocate(descriptor_, 0, static_cast<off_t>(bytes));
        errno = failed;
        return failed == 0 ? 0 : -1;
    });
    if (!done) return std::move(done).error();
    return {};
}

Result<void> File::truncate(std::uint64_t bytes) {
    if (auto ours = check(); !ours) return ours;
    auto done = take(FileStep::allocate, "shorten", path_, probe_,
                     [&] { return ::ftruncate(descriptor_, static_cast<off_t>(bytes)); });
    if (!done) return std::move(done).error();
    return {};
}

Result<void> File::sync() {
    if (auto ours = check(); !ours) return ours;
    auto done =
        take(FileStep::sync, "sync", path_, probe_, [this] { return ::fdatasync(descriptor_); });
    if (!done) return std::move(done).error();
    return {};
}

Result<void> File::sync_all() {
    if (auto ours = check(); !ours) return ours;
    auto done = take(FileStep::sync_directory, "sync", path_, probe_,
                     [this] { return ::fsync(descriptor_); });
    if (!done) return std::move(done).error();
    return {};
}

Result<std::optional<std::string>> read_file(const std::filesystem::path& path,
                                             std::size_t bytes_max, FileProbe* probe) {
    std::error_code ignored;
    const auto status = std::filesystem::symlink_status(path, ignored);
    if (status.type() == std::filesystem::file_type::not_found) return std::optional<std::string>{};
    auto file = File::open(path, O_RDONLY, probe);
    if (!file) return std::move(file).error();
    auto bytes = file->read(bytes_max);
    if (!bytes) return std::move(bytes).error();
    return std::optional{*std::move(bytes)};
}

Result<void> replace_file(const std::filesystem::path& path, std::string_view bytes,
                          Durable durable, FileProbe* probe) {
    auto next = path;
    next += ".new";
    // What a killed process has left there may belong to somebody else.
    ::unlink(next.c_str());
    auto file = File::open(next, O_WRONLY | O_CREAT | O_TRUNC, probe);
    if (!file) return std::move(file).error();
    if (auto written = file->write_at(0, bytes); !written) return written;
    if (durable == Durable::yes) {
        if (auto synced = file->sync(); !synced) return synced;
    }
    if (auto moved = move(next, path, probe); !moved) return moved;
    return durable == Durable::yes ? sync_directory(path.parent_path(), probe) : Result<void>{};
}

// The run that created it may have been killed before it synced the name.
Result<void> make_directory(const std::filesystem::path& path, FileProbe* probe) {
    const auto parent = path.has_parent_path() ? path.parent_path() : std::filesystem::path{"."};
    bool is_new = make_one_directory(path, parent) == 0;
    if (!is_new && errno == ENOENT && path.has_relative_path() && path.has_parent_path()) {
        if (auto made = make_directory(parent, probe); !made) return made;
        is_new = make_one_directory(path, parent) == 0;
    }
    if (!is_new && errno != EEXIST) return failed("make", path, errno);
    // Such a directory is not ours, and this library did not create the name.
    if (!is_new && ::access(parent.c_str(), R_OK) != 0 && errno == EACCES) return {};
    return sync_directory(parent, probe);
}

Result<void> move(const std::filesystem::path& from, const std::filesystem::path& to,
                  FileProbe* probe) {
    auto renamed = take(FileStep::rename, "rename something to", to, probe,
                        [&] { return std::rename(from.c_str(), to.c_str()); });
    if (!renamed) return std::move(renamed).error();
    return {};
}

Result<void> remove_file(const std::filesystem::path& path, FileProbe* probe) {
    auto removed = take(FileStep::remove, "remove", path, probe,
                        [&] { return ::unlink(path.c_str()) == 0 || errno == ENOENT ? 0 : -1; });
    if (!removed) return std::move(removed).error();
    return {};
}

Result<void> sync_directory(const std::filesystem::path& path, FileProbe* probe) {
    // Opened by its name inside the directory, because `path` may be a symbolic link.
    auto directory = File::open(path / ".", O_RDONLY | O_DIRECTORY, probe);
    if (!directory) return std::move(directory).error();
    return directory->sync_all();
}

}  // namespace mortise::storage
