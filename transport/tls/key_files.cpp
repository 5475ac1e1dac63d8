#include "transport/tls/key_files.hpp"

#include <cerrno>
#include <cstdio>
#include <optional>
#include <utility>

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

namespace mortise::transport {

namespace {

namespace fs = std::filesystem;

constexpr mode_t key_mode = 0600;
constexpr mode_t certificate_mode = 0644;

core::Error of_system(const std::string& what, int number) {
    const auto code = std::error_code{number, std::generic_category()};
    return {code, what + ": " + code.message()};
}

core::Error refused(std::errc code, std::string what) {
    return {std::make_error_code(code), std::move(what)};
}

class Descriptor {
public:
    explicit Descriptor(int fd) : fd_{fd} {}
    ~Descriptor() {
        if (fd_ >= 0) ::close(fd_);
    }
    Descriptor(const Descriptor&) = delete;
    Descriptor& operator=(const Descriptor&) = delete;

    [[nodiscard]] int get() const { return fd_; }

private:
    int fd_;
};

// Reads the whole file. `status` is that of the open file, so the file cannot be exchanged in
// between. The text never grows, so no copy of a key is left in memory.
core::Result<std::string> read_all(const Descriptor& file, const struct stat& status,
                                   const std::string& name) {
    if (!S_ISREG(status.st_mode))
        return refused(std::errc::bad_message, name + " is not a regular file");
    if (std::cmp_greater(status.st_size, certificate_file_bytes_max))
        return refused(std::errc::bad_message, name + " is too large for a PEM file");
    std::string text(static_cast<std::size_t>(status.st_size), '\0');
    std::size_t done = 0;
    while (done < text.size()) {
        const auto got = ::read(file.get(), text.data() + done, text.size() - done);
        if (got < 0 && errno == EINTR) continue;
        if (got < 0) return of_system("cannot read " + name, errno);
        if (got == 0) break;
        done += static_cast<std::size_t>(got);
    }
    text.resize(done);
    return text;
}

bool is_exposed(const struct stat& status) {
    const mode_t allowed = status.st_uid == 0 ? S_IRWXU | S_IRGRP : S_IRWXU;
    return (status.st_mode & (S_IRWXU | S_IRWXG | S_IRWXO) & ~allowed) != 0;
}

enum class FileKind { certificate, key };

core::Result<std::string> read_file(const fs::path& path, FileKind kind) {
    const Descriptor file{::open(path.c_str(), O_RDONLY | O_CLOEXEC | O_NONBLOCK)};
    struct stat status {};
    if (file.get() < 0 || ::fstat(file.get(), &status) != 0)
        return of_system("cannot open " + path.string(), errno);
    if (kind == FileKind::key && S_ISREG(status.st_mode) && is_exposed(status)) {
        return refused(std::errc::operation_not_permitted,
                       path.string() + " can be read by others; run: chmod 600 " + path.string());
    }
    return read_all(file, status, path.string());
}

fs::path directory_of(const fs::path& path) {
    return path.has_parent_path() ? path.parent_path() : fs::path{"."};
}

core::Result<void> sync_directory(const fs::path& directory) {
    const Descriptor open{::open(directory.c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC)};
    if (open.get() < 0 || ::fsync(open.get()) != 0)
        return of_system("cannot sync " + directory.string(), errno);
    return {};
}

bool write_all(int fd, std::string_view text) {
    while (!text.empty()) {
        const auto put = ::write(fd, text.data(), text.size());
        if (put < 0 && errno == EINTR) continue;
        if (put < 0) return false;
        text.remove_prefix(static_cast<std::size_t>(put));
    }
    return true;
}

// Fails with EEXIST if the file exists. Some file systems do not support this rename, others do not
// support links.
int move_without_replacing(const char* from, const char* to) {
    if (::renameat2(AT_FDCWD, from, AT_FDCWD, to, RENAME_NOREPLACE) == 0) return 0;
    if (errno != EINVAL && errno != ENOSYS) return errno;
    if (::link(from, to) != 0) return errno;
    ::unlink(from);
    return 0;
}

// A file that gets its name only when all of it is on disk, and is removed unless it is kept.
class NewFile {
public:
    explicit NewFile(fs::path path) : path_{std::move(path)} {}
    NewFile(const NewFile&) = delete;
    NewFile& operator=(const NewFile&) = delete;
    ~NewFile() {
        if (!is_kept_ && !present_.empty()) ::unlink(present_.c_str());
    }

    // Writes it under a temporary name in the same directory.
    core::Result<void> write(std::string_view text, mode_t mode) {
        auto name = (directory_of(path_) / ("." + path_.filename().string() + ".XXXXXX")).string();
        const Descriptor file{::mkostemp(name.data(), O_CLOEXEC)};
        if (file.get() < 0) return failed("cannot create");
        present_ = name;
        if (::fchmod(file.get(), mode) != 0 || !write_all(file.get(), text) ||
            ::fsync(file.get()) != 0)
            return failed("cannot write");
        return {};
    }
    core::Result<void> move_into_place() {
        const int problem = move_without_replacing(present_.c_str(), path_.c_str());
        if (problem == EEXIST) return exists(path_);
        if (problem != 0) return of_system("cannot create " + path_.string(), problem);
        present_ = path_;
        return {};
    }
    void keep() { is_kept_ = true; }

    static core::Error exists(const fs::path& path) {
        return refused(std::errc::file_exists,
                       path.string() + " exists, and is not written over; move it away first");
    }

private:
    [[nodiscard]] core::Error failed(const char* what) const {
        return of_system(std::string{what} + ' ' + path_.string(), errno);
    }

    fs::path path_;
    fs::path present_;  // the name that it has now
    bool is_kept_ = false;
};

bool is_there(const fs::path& path) {
    struct stat status {};
    return ::lstat(path.c_str(), &status) == 0;
}

}  // namespace

core::Result<std::string> read_certificate_file(const fs::path& path) {
    return read_file(path, FileKind::certificate);
}

core::Result<Secret> read_key_file(const fs::path& path) {
    auto text = read_file(path, FileKind::key);
    if (!text) return text.error();
    return Secret{*std::move(text)};
}

core::Result<void> write_key_pair(const KeyPairPaths& paths, const Issued& issued) {
    for (const auto* path : {&paths.certificate, &paths.key})
        if (is_there(*path)) return NewFile::exists(*path);
    NewFile key{paths.key};
    NewFile certificate{paths.certificate};
    if (auto done = key.write(issued.key.text(), key_mode); !done) return done;
    if (auto done = certificate.write(issued.certificate, certificate_mode); !done) return done;
    if (auto done = key.move_into_place(); !done) return done;
    if (auto done = certificate.move_into_place(); !done) return done;
    for (const auto* path : {&paths.key, &paths.certificate})
        if (auto done = sync_directory(directory_of(*path)); !done) return done;
    key.keep();
    certificate.keep();
    return {};
}

}  // namespace mortise::transport
