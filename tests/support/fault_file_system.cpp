#include "tests/support/fault_file_system.hpp"

#include <cerrno>
#include <fstream>
#include <iterator>
#include <utility>

namespace mortise::test {

namespace {

using rocksdb::FileOptions;
using rocksdb::FSDirectory;
using rocksdb::FSWritableFile;
using rocksdb::IODebugContext;
using rocksdb::IOOptions;
using rocksdb::IOStatus;
using rocksdb::Slice;

std::string content_of(const std::string& path) {
    std::ifstream file{path, std::ios::binary};
    return {std::istreambuf_iterator<char>{file}, {}};
}

IOStatus broken(const std::string& path) {
    return IOStatus::IOError("injected", path);
}

class FaultyFile final : public rocksdb::FSWritableFileOwnerWrapper {
public:
    FaultyFile(std::unique_ptr<FSWritableFile>&& file, std::string path, FaultyDisk& disk)
        : FSWritableFileOwnerWrapper{std::move(file)}, path_{std::move(path)}, disk_{disk} {}

    IOStatus Append(const Slice& data, const IOOptions& options, IODebugContext* debug) override {
        if (disk_.fails("append", path_)) {
            if (disk_.is_off()) return broken(path_);
            // A disk that fails may have taken some of it.
            const Slice half{data.data(), data.size() / 2};
            if (FSWritableFileWrapper::Append(half, options, debug).ok()) note_size(options, debug);
            return broken(path_);
        }
        auto status = FSWritableFileWrapper::Append(data, options, debug);
        note_size(options, debug);
        return status;
    }
    IOStatus Append(const Slice& data, const IOOptions& options,
                    const rocksdb::DataVerificationInfo& /*checksum*/,
                    IODebugContext* debug) override {
        return Append(data, options, debug);
    }
    IOStatus Truncate(std::uint64_t size, const IOOptions& options,
                      IODebugContext* debug) override {
        if (disk_.is_off()) return broken(path_);
        return FSWritableFileWrapper::Truncate(size, options, debug);
    }
    IOStatus Sync(const IOOptions& options, IODebugContext* debug) override {
        if (disk_.fails("sync", path_)) return broken(path_);
        auto status = FSWritableFileWrapper::Sync(options, debug);
        if (status.ok()) disk_.synced(path_);
        return status;
    }
    IOStatus Fsync(const IOOptions& options, IODebugContext* debug) override {
        return Sync(options, debug);
    }

private:
    void note_size(const IOOptions& options, IODebugContext* debug) {
        disk_.appended(path_, GetFileSize(options, debug));
    }

    std::string path_;
    FaultyDisk& disk_;
};

class FaultyDirectory final : public rocksdb::FSDirectoryWrapper {
public:
    FaultyDirectory(std::unique_ptr<FSDirectory>&& directory, std::string path, FaultyDisk& disk)
        : FSDirectoryWrapper{std::move(directory)}, path_{std::move(path)}, disk_{disk} {}

    IOStatus Fsync(const IOOptions& options, IODebugContext* debug) override {
        if (disk_.fails("sync directory", path_)) return broken(path_);
        return FSDirectoryWrapper::Fsync(options, debug);
    }
    IOStatus FsyncWithDirOptions(const IOOptions& options, IODebugContext* debug,
                                 const rocksdb::DirFsyncOptions& /*why*/) override {
        return Fsync(options, debug);
    }

private:
    std::string path_;
    FaultyDisk& disk_;
};

class FaultyFileSystem final : public rocksdb::FileSystemWrapper {
public:
    explicit FaultyFileSystem(FaultyDisk& disk)
        : FileSystemWrapper{rocksdb::FileSystem::Default()}, disk_{disk} {}

    [[nodiscard]] const char* Name() const override { return "MortiseFaultyFileSystem"; }

    IOStatus NewSequentialFile(const std::string& path, const FileOptions& options,
                               std::unique_ptr<rocksdb::FSSequentialFile>* file,
                               IODebugContext* debug) override {
        if (disk_.fails("open", path)) return broken(path);
        return target()->NewSequentialFile(path, options, file, debug);
    }
    IOStatus NewRandomAccessFile(const std::string& path, const FileOptions& options,
                                 std::unique_ptr<rocksdb::FSRandomAccessFile>* file,
                                 IODebugContext* debug) override {
        if (disk_.fails("open", path)) return broken(path);
        return target()->NewRandomAccessFile(path, options, file, debug);
    }
    IOStatus NewWritableFile(const std::string& path, const FileOptions& options,
                             std::unique_ptr<FSWritableFile>* file,
                             IODebugContext* debug) override {
        if (disk_.fails("create", path)) return broken(path);
        auto status = target()->NewWritableFile(path, options, file, debug);
        if (!status.ok()) return status;
        disk_.appended(path, 0);
        *file = std::make_unique<FaultyFile>(std::move(*file), path, disk_);
        return status;
    }
    IOStatus NewDirectory(const std::string& path, const IOOptions& options,
                          std::unique_ptr<FSDirectory>* directory, IODebugContext* debug) override {
        if (disk_.fails("open", path)) return broken(path);
        auto status = target()->NewDirectory(path, options, directory, debug);
        if (!status.ok()) return status;
        *directory = std::make_unique<FaultyDirectory>(std::move(*directory), path, disk_);
        return status;
    }
    IOStatus RenameFile(const std::string& from, const std::string& to, const IOOptions& options,
                        IODebugContext* debug) override {
        if (disk_.fails("rename", from)) return broken(from);
        auto status = target()->RenameFile(from, to, options, debug);
        if (status.ok()) disk_.renamed(from, to);
        return status;
    }
    IOStatus DeleteFile(const std::string& path, const IOOptions& options,
                        IODebugContext* debug) override {
        if (disk_.is_off()) return broken(path);
        auto status = target()->DeleteFile(path, options, debug);
        if (status.ok()) disk_.gone(path);
        return status;
    }

private:
    FaultyDisk& disk_;
};

const char* word(storage::FileStep step) {
    switch (step) {
        case storage::FileStep::open: return "open";
        case storage::FileStep::read: return "read";
        case storage::FileStep::write: return "write";
        case storage::FileStep::sync: return "sync";
        case storage::FileStep::rename: return "rename";
        case storage::FileStep::sync_directory: return "sync directory";
    }
    return "?";
}

}  // namespace

void FaultyDisk::fail_at(std::uint64_t step) {
    const std::scoped_lock lock{mutex_};
    fail_at_ = step;
    cuts_power_ = false;
    steps_ = 0;
    failed_.clear();
    after_failure_.clear();
}

void FaultyDisk::power_off_at(std::uint64_t step) {
    fail_at(step);
    const std::scoped_lock lock{mutex_};
    cuts_power_ = true;
}

bool FaultyDisk::has_failed() const {
    const std::scoped_lock lock{mutex_};
    return !failed_.empty();
}

std::string FaultyDisk::failed_step() const {
    const std::scoped_lock lock{mutex_};
    return failed_;
}

std::vector<std::string> FaultyDisk::written_after_failure() const {
    const std::scoped_lock lock{mutex_};
    return after_failure_;
}

bool FaultyDisk::count(const std::string& step, bool changes_content) {
    const std::scoped_lock lock{mutex_};
    ++steps_;
    if (!failed_.empty() && changes_content) after_failure_.push_back(step);
    if (steps_ != fail_at_) return off_;
    failed_ = step;
    off_ = cuts_power_;
    return true;
}

bool FaultyDisk::fails(const char* step, const std::string& path) {
    return count(std::string{step} + " " + path, std::string_view{step} == "append");
}

bool FaultyDisk::is_off() const {
    const std::scoped_lock lock{mutex_};
    return off_;
}

int FaultyDisk::before(storage::FileStep step, const std::filesystem::path& path) {
    const bool changes = step == storage::FileStep::write || step == storage::FileStep::rename;
    return count(std::string{word(step)} + " " + path.string(), changes) ? EIO : 0;
}

void FaultyDisk::after(storage::FileStep step, const std::filesystem::path& path) {
    if (step != storage::FileStep::sync && step != storage::FileStep::rename) return;
    if (!std::filesystem::is_regular_file(path)) return;
    auto image = content_of(path.string());
    const std::scoped_lock lock{mutex_};
    images_[path.string()] = std::move(image);
}

void FaultyDisk::lose_unsynced(std::uint64_t seed) {
    const std::scoped_lock lock{mutex_};
    core::Prng prng{seed};
    for (const auto& [path, file] : grown_) {
        const auto lost = file.size - file.synced;
        const auto kept = file.synced + (prng.one_in(2) ? 0 : prng.below(lost + 1));
        if (std::filesystem::exists(path)) std::filesystem::resize_file(path, kept);
    }
    for (const auto& [path, image] : images_) {
        if (!prng.one_in(2) || !std::filesystem::exists(path)) continue;
        std::ofstream{path, std::ios::binary | std::ios::trunc} << image;
    }
    grown_.clear();
    images_.clear();
    off_ = false;
}

void FaultyDisk::appended(const std::string& path, std::uint64_t size) {
    const std::scoped_lock lock{mutex_};
    auto& file = grown_[path];
    file.size = size;
    if (size < file.synced) file.synced = size;
}

void FaultyDisk::synced(const std::string& path) {
    const std::scoped_lock lock{mutex_};
    auto& file = grown_[path];
    file.synced = file.size;
}

void FaultyDisk::renamed(const std::string& from, const std::string& to) {
    const std::scoped_lock lock{mutex_};
    if (auto file = grown_.extract(from)) {
        grown_.erase(to);
        file.key() = to;
        grown_.insert(std::move(file));
    }
}

void FaultyDisk::gone(const std::string& path) {
    const std::scoped_lock lock{mutex_};
    grown_.erase(path);
}

std::shared_ptr<rocksdb::FileSystem> file_system_of(FaultyDisk& disk) {
    return std::make_shared<FaultyFileSystem>(disk);
}

}  // namespace mortise::test
