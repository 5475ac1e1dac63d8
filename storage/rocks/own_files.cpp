#include "storage/rocks/own_files.hpp"

#include <algorithm>
#include <cerrno>
#include <optional>
#include <string>
#include <utility>

#include <fcntl.h>
#include <unistd.h>

#include "storage/files/files.hpp"

namespace mortise::storage {

namespace {

using rocksdb::FileOptions;
using rocksdb::IODebugContext;
using rocksdb::IOOptions;
using rocksdb::IOStatus;

// RocksDB recognizes a missing file and a full disk by the kind of the error, and everything else
// by its text.
IOStatus to_status(const Error& error) {
    return error.code == Errc::no_space ? IOStatus::NoSpace(error.what)
                                        : IOStatus::IOError(error.what);
    // NOLINTNEXTLINE(clang-analyzer-cplusplus.NewDeleteLeaks): the status owns its text.
}

// The members that all files of a directory share.
class Directory {
public:
    explicit Directory(std::shared_ptr<DirectoryLock> lock) : lock_{std::move(lock)} {}

    [[nodiscard]] IOStatus check(const std::string& name) const {
        return lock_->is_held() ? IOStatus::OK() : to_status(closed_error(name));
    }
    // For what uses the path: its directory may be another one by now.
    [[nodiscard]] IOStatus check_path() const {
        const auto checked = lock_->check();
        return checked ? IOStatus::OK() : to_status(checked.error());
    }
    template <class T>
    [[nodiscard]] IOStatus outcome(const Result<T>& result) const {
        if (result) return IOStatus::OK();
        if (result.error().code == Errc::closed) lock_->lose();
        return to_status(result.error());
    }
    // For opening a file that should exist. It also examines the name, because an Error does not
    // say whether the file is missing. RocksDB takes a missing file for damage, so this must not be
    // used for a file that is to be created.
    [[nodiscard]] IOStatus outcome_of_existing(const Result<File>& opened,
                                               const std::string& name) const {
        if (!opened && ::access(name.c_str(), F_OK) != 0 && errno == ENOENT)
            return IOStatus::PathNotFound(opened.error().what);
        return outcome<File>(opened);
    }

private:
    std::shared_ptr<DirectoryLock> lock_;
};

class OwnSequentialFile final : public rocksdb::FSSequentialFile {
public:
    OwnSequentialFile(File file, Directory directory)
        : file_{std::move(file)}, directory_{std::move(directory)} {}

    IOStatus Read(std::size_t bytes, const IOOptions& /*options*/, rocksdb::Slice* result,
                  char* scratch, IODebugContext* /*debug*/) override {
        const auto done = file_.read_at(position_, scratch, bytes);
        *result = {scratch, done ? *done : 0};
        position_ += result->size();
        return directory_.outcome(done);
    }
    IOStatus Skip(std::uint64_t bytes) override {
        position_ += bytes;
        return IOStatus::OK();
    }
    IOStatus InvalidateCache(std::size_t /*offset*/, std::size_t /*length*/) override {
        return IOStatus::OK();
    }

private:
    File file_;
    Directory directory_;
    std::uint64_t position_ = 0;
};

class OwnRandomAccessFile final : public rocksdb::FSRandomAccessFile {
public:
    OwnRandomAccessFile(File file, Directory directory)
        : file_{std::move(file)}, directory_{std::move(directory)} {}

    // NOLINTNEXTLINE(readability-function-size): RocksDB says what it takes.
    IOStatus Read(std::uint64_t offset, std::size_t bytes, const IOOptions& /*options*/,
                  rocksdb::Slice* result, char* scratch, IODebugContext* /*debug*/) const override {
        const auto done = file_.read_at(offset, scratch, bytes);
        *result = {scratch, done ? *done : 0};
        return directory_.outcome(done);
    }
    void Hint(AccessPattern pattern) override {
        const int advice = pattern == kRandom       ? POSIX_FADV_RANDOM
                           : pattern == kSequential ? POSIX_FADV_SEQUENTIAL
                                                    : POSIX_FADV_NORMAL;
        if (file_.is_ours()) static_cast<void>(::posix_fadvise(file_.descriptor(), 0, 0, advice));
    }
    IOStatus InvalidateCache(std::size_t /*offset*/, std::size_t /*length*/) override {
        return IOStatus::OK();
    }

private:
    File file_;
    Directory directory_;
};

class OwnWritableFile final : public rocksdb::FSWritableFile {
public:
    OwnWritableFile(File file, std::uint64_t size, const FileOptions& options, Directory directory)
        : FSWritableFile{options},
          file_{std::move(file)},
          name_{file_->path().string()},
          size_{size},
          directory_{std::move(directory)} {}

    using FSWritableFile::Append;
    IOStatus Append(const rocksdb::Slice& bytes, const IOOptions& /*options*/,
                    IODebugContext* /*debug*/) override {
        auto status = change([&](File& file) {
            return file.write_at(size_, {bytes.data(), bytes.size()});
        });
        if (status.ok()) size_ += bytes.size();
        return status;
    }
    using FSWritableFile::PositionedAppend;
    IOStatus PositionedAppend(const rocksdb::Slice& bytes, std::uint64_t offset,
                              const IOOptions& /*options*/, IODebugContext* /*debug*/) override {
        auto status = change([&](File& file) {
            return file.write_at(offset, {bytes.data(), bytes.size()});
        });
        if (status.ok()) size_ = std::max<std::uint64_t>(size_, offset + bytes.size());
        return status;
    }
    IOStatus Truncate(std::uint64_t size, const IOOptions& /*options*/,
                      IODebugContext* /*debug*/) override {
        auto status = change([&](File& file) { return file.truncate(size); });
        if (status.ok()) size_ = size;
        return status;
    }
    IOStatus Close(const IOOptions& /*options*/, IODebugContext* /*debug*/) override {
        if (!file_) return IOStatus::OK();
        file_.reset();
        return directory_.check(name_);
    }
    IOStatus Flush(const IOOptions& /*options*/, IODebugContext* /*debug*/) override {
        return IOStatus::OK();
    }
    // The lock must be held until then: otherwise a process that has the directory now may not have
    // seen what is synced.
    IOStatus Sync(const IOOptions& /*options*/, IODebugContext* /*debug*/) override {
        auto status = change([](File& file) { return file.sync(); });
        return status.ok() ? directory_.check(name_) : status;
    }
    IOStatus Fsync(const IOOptions& /*options*/, IODebugContext* /*debug*/) override {
        auto status = change([](File& file) { return file.sync_all(); });
        return status.ok() ? directory_.check(name_) : status;
    }
    [[nodiscard]] bool IsSyncThreadSafe() const override { return true; }
    std::uint64_t GetFileSize(const IOOptions& /*options*/, IODebugContext* /*debug*/) override {
        return size_;
    }
    IOStatus InvalidateCache(std::size_t /*offset*/, std::size_t /*length*/) override {
        return IOStatus::OK();
    }

private:
    template <class Change>
    IOStatus change(Change call) {
        if (!file_) return IOStatus::IOError(name_ + " was closed before");
        auto status = directory_.check(name_);
        return status.ok() ? directory_.outcome(call(*file_)) : status;
    }

    std::optional<File> file_;  // empty after Close()
    const std::string name_;    // for messages, also after Close()
    std::uint64_t size_;        // where Append() continues
    Directory directory_;
};

class OwnDirectory final : public rocksdb::FSDirectory {
public:
    OwnDirectory(File file, Directory directory)
        : file_{std::move(file)}, directory_{std::move(directory)} {}

    IOStatus Fsync(const IOOptions& /*options*/, IODebugContext* /*debug*/) override {
        return file_ ? directory_.outcome(file_->sync_all()) : IOStatus::IOError("was closed");
    }
    IOStatus Close(const IOOptions& /*options*/, IODebugContext* /*debug*/) override {
        file_.reset();
        return IOStatus::OK();
    }

private:
    std::optional<File> file_;
    Directory directory_;
};

class OwnFileLock final : public rocksdb::FileLock {
public:
    explicit OwnFileLock(File file) : file_{std::move(file)} {}

private:
    File file_;
};

class OwnFiles final : public rocksdb::FileSystemWrapper {
public:
    explicit OwnFiles(std::shared_ptr<DirectoryLock> lock)
        : FileSystemWrapper{rocksdb::FileSystem::Default()}, directory_{std::move(lock)} {}

    [[nodiscard]] const char* Name() const override { return "MortiseOwnFiles"; }

    IOStatus NewSequentialFile(const std::string& name, const FileOptions& /*options*/,
                               std::unique_ptr<rocksdb::FSSequentialFile>* file,
                               IODebugContext* /*debug*/) override {
        return open_to_read<OwnSequentialFile>(name, O_RDONLY, *file);
    }
    IOStatus NewRandomAccessFile(const std::string& name, const FileOptions& /*options*/,
                                 std::unique_ptr<rocksdb::FSRandomAccessFile>* file,
                                 IODebugContext* /*debug*/) override {
        return open_to_read<OwnRandomAccessFile>(name, O_RDONLY, *file);
    }
    IOStatus NewWritableFile(const std::string& name, const FileOptions& options,
                             std::unique_ptr<rocksdb::FSWritableFile>* file,
                             IODebugContext* /*debug*/) override {
        return open_to_write(name, O_WRONLY | O_CREAT | O_TRUNC, options, *file);
    }
    IOStatus ReopenWritableFile(const std::string& name, const FileOptions& options,
                                std::unique_ptr<rocksdb::FSWritableFile>* file,
                                IODebugContext* /*debug*/) override {
        return open_to_write(name, O_WRONLY | O_CREAT, options, *file);
    }
    // Follows a symbolic link.
    IOStatus NewDirectory(const std::string& name, const IOOptions& /*options*/,
                          std::unique_ptr<rocksdb::FSDirectory>* directory,
                          IODebugContext* /*debug*/) override {
        return open_to_read<OwnDirectory>(name + "/.", O_RDONLY | O_DIRECTORY, *directory);
    }
    // RocksDB's own ends the process, by an assertion, for other errors than two.
    IOStatus FileExists(const std::string& name, const IOOptions& /*options*/,
                        IODebugContext* /*debug*/) override {
        if (::access(name.c_str(), F_OK) == 0) return IOStatus::OK();
        if (errno == ENOENT || errno == ENOTDIR) return IOStatus::NotFound(name);
        return to_status(io_error("cannot look at " + name, errno));
    }
    // For RocksDB's tools; nodes are excluded by the lock of the directory.
    IOStatus LockFile(const std::string& name, const IOOptions& /*options*/,
                      rocksdb::FileLock** lock, IODebugContext* /*debug*/) override {
        if (auto held = directory_.check_path(); !held.ok()) return held;
        auto opened = File::open(name, O_RDWR | O_CREAT, nullptr);
        if (!opened) return directory_.outcome(opened);
        struct flock whole {};
        whole.l_type = F_WRLCK;
        whole.l_whence = SEEK_SET;
        if (::fcntl(opened->descriptor(), F_SETLK, &whole) != 0)
            return to_status(io_error("cannot lock " + name, errno));
        *lock = new OwnFileLock{*std::move(opened)};
        return IOStatus::OK();
    }
    IOStatus UnlockFile(rocksdb::FileLock* lock, const IOOptions& /*options*/,
                        IODebugContext* /*debug*/) override {
        delete lock;
        return IOStatus::OK();
    }

    IOStatus CreateDir(const std::string& name, const IOOptions& options,
                       IODebugContext* debug) override {
        return change([&] { return target()->CreateDir(name, options, debug); });
    }
    IOStatus CreateDirIfMissing(const std::string& name, const IOOptions& /*options*/,
                                IODebugContext* /*debug*/) override {
        return change([&] { return directory_.outcome(make_directory(name, nullptr)); });
    }
    IOStatus DeleteFile(const std::string& name, const IOOptions& options,
                        IODebugContext* debug) override {
        return change([&] { return target()->DeleteFile(name, options, debug); });
    }
    IOStatus DeleteDir(const std::string& name, const IOOptions& options,
                       IODebugContext* debug) override {
        return change([&] { return target()->DeleteDir(name, options, debug); });
    }
    IOStatus RenameFile(const std::string& from, const std::string& to, const IOOptions& options,
                        IODebugContext* debug) override {
        return change([&] { return target()->RenameFile(from, to, options, debug); });
    }
    IOStatus LinkFile(const std::string& from, const std::string& to, const IOOptions& options,
                      IODebugContext* debug) override {
        return change([&] { return target()->LinkFile(from, to, options, debug); });
    }
    IOStatus Truncate(const std::string& name, std::size_t size, const IOOptions& options,
                      IODebugContext* debug) override {
        return change([&] { return target()->Truncate(name, size, options, debug); });
    }

private:
    template <class Change>
    IOStatus change(Change call) const {
        auto held = directory_.check_path();
        return held.ok() ? call() : held;
        // NOLINTNEXTLINE(clang-analyzer-cplusplus.NewDeleteLeaks): the status owns its text.
    }

    template <class Own, class Any>
    IOStatus open_to_read(const std::string& name, int flags, std::unique_ptr<Any>& file) const {
        auto opened = File::open(name, flags, nullptr);
        if (!opened) return directory_.outcome_of_existing(opened, name);
        file = std::make_unique<Own>(*std::move(opened), directory_);
        return IOStatus::OK();
    }

    IOStatus open_to_write(const std::string& name, int flags, const FileOptions& options,
                           std::unique_ptr<rocksdb::FSWritableFile>& file) const {
        if (auto held = directory_.check_path(); !held.ok()) return held;
        auto opened = File::open(name, flags, nullptr);
        if (!opened) return directory_.outcome(opened);
        const auto size = opened->size();
        if (!size) return directory_.outcome(size);
        file = std::make_unique<OwnWritableFile>(*std::move(opened), *size, options, directory_);
        return IOStatus::OK();
    }

    Directory directory_;
};

}  // namespace

std::shared_ptr<rocksdb::FileSystem> own_files(std::shared_ptr<DirectoryLock> lock) {
    return std::make_shared<OwnFiles>(std::move(lock));
}

bool is_closed(const rocksdb::Status& status) {
    return !status.ok() && status.ToString().find(closed_words) != std::string::npos;
}

}  // namespace mortise::storage
