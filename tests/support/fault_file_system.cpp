#include "tests/support/fault_file_system.hpp"

#include <algorithm>
#include <cerrno>
#include <fstream>
#include <iterator>
#include <system_error>
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

// Operations that make a file longer, or create one.
bool needs_room(std::string_view kind) {
    return kind == "append" || kind == "create" || kind == "allocate";
}

bool only_reads(std::string_view kind) {
    return kind == "open" || kind == "read";
}

class FaultyFile final : public rocksdb::FSWritableFileOwnerWrapper {
public:
    FaultyFile(std::unique_ptr<FSWritableFile>&& file, std::string path, FaultyDisk& disk)
        : FSWritableFileOwnerWrapper{std::move(file)}, path_{std::move(path)}, disk_{disk} {}

    IOStatus Append(const Slice& data, const IOOptions& options, IODebugContext* debug) override {
        if (auto taken = disk_.take("append", path_); !taken.ok()) {
            if (disk_.is_off()) return taken;
            // A disk that fails, or is full, may have written a part of it.
            const Slice half{data.data(), data.size() / 2};
            if (FSWritableFileWrapper::Append(half, options, debug).ok()) note_size(options, debug);
            return taken;
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
    // Needs room only beyond the end of the file.
    IOStatus PositionedAppend(const Slice& data, std::uint64_t offset, const IOOptions& options,
                              IODebugContext* debug) override {
        const bool is_within = offset + data.size() <= size_;
        const auto taken = disk_.take(is_within ? "write" : "append", path_);
        if (!taken.ok() && disk_.is_off()) return taken;
        const Slice part{data.data(), taken.ok() ? data.size() : data.size() / 2};
        auto status = FSWritableFileWrapper::PositionedAppend(part, offset, options, debug);
        if (status.ok()) {
            size_ = std::max<std::uint64_t>(size_, offset + part.size());
            disk_.written(path_, offset, {part.data(), part.size()});
        }
        return taken.ok() ? status : taken;
    }
    // Does not allocate space for a whole log, which is expensive if files are in memory.
    void PrepareWrite(std::size_t /*offset*/, std::size_t /*size*/, const IOOptions& /*options*/,
                      IODebugContext* /*debug*/) override {}
    IOStatus Truncate(std::uint64_t size, const IOOptions& options,
                      IODebugContext* debug) override {
        if (disk_.is_off()) return broken(path_);
        auto status = FSWritableFileWrapper::Truncate(size, options, debug);
        if (status.ok()) disk_.truncated(path_, size_ = size);
        return status;
    }
    IOStatus Sync(const IOOptions& options, IODebugContext* debug) override {
        if (auto taken = disk_.take("sync", path_); !taken.ok()) return taken;
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
    std::uint64_t size_ = 0;  // of a file that is written in place
};

class MisreadFile final : public rocksdb::FSRandomAccessFileOwnerWrapper {
public:
    MisreadFile(std::unique_ptr<rocksdb::FSRandomAccessFile>&& file, std::string path,
                FaultyDisk& disk)
        : FSRandomAccessFileOwnerWrapper{std::move(file)}, path_{std::move(path)}, disk_{disk} {}

    IOStatus Read(std::uint64_t offset, std::size_t size, const IOOptions& options, Slice* result,
                  char* scratch, IODebugContext* debug) const override {
        auto status = target()->Read(offset, size, options, result, scratch, debug);
        if (status.ok()) disk_.read(path_, result, scratch);
        return status;
    }
    IOStatus MultiRead(rocksdb::FSReadRequest* requests, std::size_t count,
                       const IOOptions& options, IODebugContext* debug) override {
        return FSRandomAccessFile::MultiRead(requests, count, options, debug);
    }

private:
    std::string path_;
    FaultyDisk& disk_;
};

class MisreadSequence final : public rocksdb::FSSequentialFileOwnerWrapper {
public:
    MisreadSequence(std::unique_ptr<rocksdb::FSSequentialFile>&& file, std::string path,
                    FaultyDisk& disk)
        : FSSequentialFileOwnerWrapper{std::move(file)}, path_{std::move(path)}, disk_{disk} {}

    IOStatus Read(std::size_t size, const IOOptions& options, Slice* result, char* scratch,
                  IODebugContext* debug) override {
        auto status = target()->Read(size, options, result, scratch, debug);
        if (status.ok()) disk_.read(path_, result, scratch);
        return status;
    }

private:
    std::string path_;
    FaultyDisk& disk_;
};

class FaultyDirectory final : public rocksdb::FSDirectoryWrapper {
public:
    FaultyDirectory(std::unique_ptr<FSDirectory>&& directory, std::string path, FaultyDisk& disk)
        : FSDirectoryWrapper{std::move(directory)}, path_{std::move(path)}, disk_{disk} {}

    IOStatus Fsync(const IOOptions& options, IODebugContext* debug) override {
        if (auto taken = disk_.take("sync directory", path_); !taken.ok()) return taken;
        auto status = FSDirectoryWrapper::Fsync(options, debug);
        if (status.ok()) disk_.directory_synced(path_);
        return status;
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
        if (auto taken = disk_.take("open", path); !taken.ok()) return taken;
        auto status = target()->NewSequentialFile(path, options, file, debug);
        if (status.ok()) *file = std::make_unique<MisreadSequence>(std::move(*file), path, disk_);
        return status;
    }
    IOStatus NewRandomAccessFile(const std::string& path, const FileOptions& options,
                                 std::unique_ptr<rocksdb::FSRandomAccessFile>* file,
                                 IODebugContext* debug) override {
        if (auto taken = disk_.take("open", path); !taken.ok()) return taken;
        auto status = target()->NewRandomAccessFile(path, options, file, debug);
        if (status.ok()) *file = std::make_unique<MisreadFile>(std::move(*file), path, disk_);
        return status;
    }
    IOStatus NewWritableFile(const std::string& path, const FileOptions& options,
                             std::unique_ptr<FSWritableFile>* file,
                             IODebugContext* debug) override {
        if (auto taken = disk_.take("create", path); !taken.ok()) return taken;
        auto status = target()->NewWritableFile(path, options, file, debug);
        if (!status.ok()) return status;
        disk_.gone(path);
        disk_.appended(path, 0);
        *file = std::make_unique<FaultyFile>(std::move(*file), path, disk_);
        return status;
    }
    IOStatus NewDirectory(const std::string& path, const IOOptions& options,
                          std::unique_ptr<FSDirectory>* directory, IODebugContext* debug) override {
        if (auto taken = disk_.take("open", path); !taken.ok()) return taken;
        auto status = target()->NewDirectory(path, options, directory, debug);
        if (!status.ok()) return status;
        *directory = std::make_unique<FaultyDirectory>(std::move(*directory), path, disk_);
        return status;
    }
    IOStatus RenameFile(const std::string& from, const std::string& to, const IOOptions& options,
                        IODebugContext* debug) override {
        if (auto taken = disk_.take("rename", from); !taken.ok()) return taken;
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
        case storage::FileStep::allocate: return "allocate";
        case storage::FileStep::sync: return "sync";
        case storage::FileStep::rename: return "rename";
        case storage::FileStep::remove: return "remove";
        case storage::FileStep::sync_directory: return "sync directory";
    }
    return "?";
}

}  // namespace

void FaultyDisk::trouble_at(std::uint64_t step, Trouble trouble) {
    const std::scoped_lock lock{mutex_};
    trouble_at_ = step;
    trouble_ = trouble;
    in_trouble_ = false;
    steps_ = 0;
    reads_ = 0;
    failed_.clear();
    after_failure_.clear();
}

void FaultyDisk::watch_names(const std::filesystem::path& root) {
    const std::scoped_lock lock{mutex_};
    names_.watch(root);
}

void FaultyDisk::lie_about_syncs_of(std::string part) {
    const std::scoped_lock lock{mutex_};
    lied_about_ = std::move(part);
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

int FaultyDisk::count(const std::string& step, std::string_view kind) {
    const std::scoped_lock lock{mutex_};
    ++steps_;
    const bool changes = kind == "append" || kind == "write" || kind == "rename";
    if (!failed_.empty() && changes) after_failure_.push_back(step);
    if (trouble_ == Trouble::bit_flip) return 0;
    if (steps_ == trouble_at_) in_trouble_ = true;
    if (!in_trouble_ || !stops(kind, step)) return 0;
    if (failed_.empty()) failed_ = step;
    if (trouble_ == Trouble::once) in_trouble_ = false;
    if (lacks_room()) return trouble_ == Trouble::full ? ENOSPC : EDQUOT;
    if (trouble_ == Trouble::shortage) return EMFILE;
    return trouble_ == Trouble::read_only ? EROFS : EIO;
}

bool FaultyDisk::stops(std::string_view kind, const std::string& step) const {
    if (trouble_ == Trouble::read_only) return !only_reads(kind);
    if (trouble_ == Trouble::shortage) return kind == "open" || kind == "create";
    if (!lacks_room()) return true;
    return needs_room(kind) || (kind == "write" && step.ends_with(".new"));
}

IOStatus FaultyDisk::take(const char* step, const std::string& path) {
    const int error = count(std::string{step} + " " + path, step);
    if (error == 0) return IOStatus::OK();
    if (error == ENOSPC) return IOStatus::NoSpace("injected", path);
    // As RocksDB's own file system reports it.
    if (error == EDQUOT || error == EMFILE)
        return IOStatus::IOError(path, std::generic_category().message(error));
    return broken(path);
}

bool FaultyDisk::is_off() const {
    const std::scoped_lock lock{mutex_};
    return in_trouble_ && (trouble_ == Trouble::power_off || trouble_ == Trouble::read_only);
}

void FaultyDisk::read(const std::string& path, Slice* bytes, char* scratch) {
    const std::scoped_lock lock{mutex_};
    if (trouble_ != Trouble::bit_flip || bytes->empty()) return;
    if (++reads_ != trouble_at_) return;
    failed_ = "read " + path;
    core::Prng prng{trouble_at_};
    if (bytes->data() != scratch) std::copy_n(bytes->data(), bytes->size(), scratch);
    scratch[prng.below(bytes->size())] ^= static_cast<char>(1U << prng.below(7));
    *bytes = Slice{scratch, bytes->size()};
}

int FaultyDisk::before(storage::FileStep step, const std::filesystem::path& path) {
    return count(std::string{word(step)} + " " + path.string(), word(step));
}

void FaultyDisk::after(storage::FileStep step, const std::filesystem::path& path) {
    if (step == storage::FileStep::remove) {
        const std::scoped_lock lock{mutex_};
        if (lacks_room()) in_trouble_ = false;
    }
    if (step == storage::FileStep::sync_directory) return directory_synced(path.string());
    if (step != storage::FileStep::sync && step != storage::FileStep::rename) return;
    if (!std::filesystem::is_regular_file(path)) return;
    auto image = content_of(path.string());
    const std::scoped_lock lock{mutex_};
    images_[path.string()] = std::move(image);
}

void FaultyDisk::lose_unsynced(std::uint64_t seed, std::string_view part) {
    const std::scoped_lock lock{mutex_};
    core::Prng prng{seed};
    const auto is_meant = [&](const std::string& path) {
        return path.find(part) != std::string::npos;
    };
    for (const auto& [path, file] : grown_) {
        if (!is_meant(path)) continue;
        const auto lost = file.size - file.synced;
        const auto kept = file.synced + (prng.one_in(2) ? 0 : prng.below(lost + 1));
        if (std::filesystem::exists(path)) std::filesystem::resize_file(path, kept);
    }
    for (const auto& [path, image] : images_) {
        if (!is_meant(path) || !prng.one_in(2) || !std::filesystem::exists(path)) continue;
        std::ofstream{path, std::ios::binary | std::ios::trunc} << image;
    }
    bytes_.lose(prng, part);
    names_.lose(prng, part);
    grown_.clear();
    images_.clear();
    in_trouble_ = false;
    trouble_at_ = 0;
}

void FaultyDisk::appended(const std::string& path, std::uint64_t size) {
    const std::scoped_lock lock{mutex_};
    auto& file = grown_[path];
    file.size = size;
    if (size < file.synced) file.synced = size;
}

void FaultyDisk::written(const std::string& path, std::uint64_t offset, std::string_view bytes) {
    const std::scoped_lock lock{mutex_};
    grown_.erase(path);
    bytes_.written(path, offset, bytes);
}

void FaultyDisk::truncated(const std::string& path, std::uint64_t size) {
    const std::scoped_lock lock{mutex_};
    bytes_.truncated(path, size);
}

void FaultyDisk::synced(const std::string& path) {
    const std::scoped_lock lock{mutex_};
    if (!lied_about_.empty() && path.find(lied_about_) != std::string::npos) return;
    if (bytes_.has(path)) return bytes_.synced(path);
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
    bytes_.gone(path);
}

void FaultyDisk::directory_synced(const std::string& path) {
    const std::scoped_lock lock{mutex_};
    names_.synced(path);
}

std::shared_ptr<rocksdb::FileSystem> file_system_of(FaultyDisk& disk) {
    return std::make_shared<FaultyFileSystem>(disk);
}

}  // namespace mortise::test
