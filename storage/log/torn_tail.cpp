#include "storage/log/torn_tail.hpp"

#include <algorithm>
#include <charconv>
#include <cstdint>
#include <iterator>
#include <map>

#include <fcntl.h>
#include <rocksdb/file_system.h>

#include "storage/files/files.hpp"
#include "storage/log/log_shape.hpp"

namespace mortise::storage {

namespace {

using LogFiles = std::map<std::uint64_t, std::filesystem::path>;

Result<LogFiles> log_files(const std::filesystem::path& directory) {
    LogFiles found;
    std::error_code failed;
    for (std::filesystem::directory_iterator i{directory, failed}, end; !failed && i != end;
         i.increment(failed)) {
        const auto name = i->path().stem().string();
        std::uint64_t number = 0;
        const auto parsed = std::from_chars(name.data(), name.data() + name.size(), number);
        if (i->path().extension() == ".log" && parsed.ptr == name.data() + name.size())
            found.emplace(number, i->path());
    }
    if (failed && failed != std::errc::no_such_file_or_directory)
        return io_error("cannot list " + directory.string(), failed.value());
    return found;
}

// The file up to its end.
Result<std::uint64_t> size_of(const File& file, const FileEnds& ends) {
    const auto size = file.size();
    const auto end = ends.find(file.path().filename().string());
    return size && end != ends.end() ? std::min(*size, end->second) : size;
}

Result<LogContent> content_of_file(const std::filesystem::path& path, const FileEnds& ends) {
    auto file = File::open(path, O_RDONLY, nullptr);
    if (!file) return std::move(file).error();
    const auto size = size_of(*file, ends);
    if (!size) return size.error();
    auto bytes = file->read(*size);
    if (!bytes) return std::move(bytes).error();
    return content_of_log(*bytes);
}

// True if a write begins behind the first zeros that end the reading of a block.
Result<bool> has_hole(const std::filesystem::path& path, const FileEnds& ends) {
    if (ends.contains(path.filename().string())) return false;
    auto file = File::open(path, O_RDONLY, nullptr);
    if (!file) return std::move(file).error();
    std::string block(log_block_bytes, '\0');
    for (std::uint64_t offset = 0;; offset += log_block_bytes) {
        const auto read = file->read_at(offset, block.data(), log_block_bytes);
        if (!read) return read.error();
        const auto zeros = zeros_in(std::string_view{block}.substr(0, *read));
        if (!zeros && *read == log_block_bytes) continue;
        if (!zeros) return false;
        const auto size = file->size();
        if (!size) return size.error();
        std::string rest(*size - offset, '\0');
        const auto rest_read = file->read_at(offset, rest.data(), rest.size());
        if (!rest_read) return rest_read.error();
        return !are_zeros(std::string_view{rest}.substr(*zeros)) &&
               write_begins_after(rest, *zeros);
    }
}

rocksdb::Status open_database(const rocksdb::Options& options, RocksDatabase& database) {
    rocksdb::DB* db = nullptr;
    auto status =
        open_before_exit([&] { return rocksdb::DB::Open(options, database.path.string(), &db); });
    database.db.reset(db);
    return status;
}

// An open database has the content of earlier logs in its tables. RocksDB keeps a log of which it
// used nothing until the next flush, and such a log may have a torn end.
Result<void> remove_earlier_logs(const RocksDatabase& database) {
    auto files = log_files(database.path);
    if (!files) return std::move(files).error();
    if (!files->empty()) files->erase(std::prev(files->end()));
    for (const auto& [number, path] : *files) {
        const auto status = database.env->DeleteFile(path.string());
        const bool is_gone = status.IsPathNotFound() || status.IsNotFound();
        if (!status.ok() && !is_gone) return to_error(status, path);
    }
    return {};
}

Result<void> sync_names(const RocksDatabase& database) {
    std::unique_ptr<rocksdb::FSDirectory> directory;
    rocksdb::Status status = database.env->GetFileSystem()->NewDirectory(database.path.string(), {},
                                                                         &directory, nullptr);
    if (status.ok()) status = directory->FsyncWithDirOptions({}, nullptr, {});
    if (!status.ok()) return to_error(status, database.path);
    return {};
}

}  // namespace

Result<void> refuse_holes(const std::filesystem::path& directory, const FileEnds& ends) {
    const auto files = log_files(directory);
    if (!files) return files.error();
    for (const auto& [number, path] : *files) {
        const auto found = has_hole(path, ends);
        if (!found) return found.error();
        if (*found) return make_error(Errc::damaged, path.string() + ": a write became zeros");
    }
    return {};
}

Result<void> open_after_crash(rocksdb::Options options, RocksDatabase& database,
                              const FileEnds& ends) {
    if (auto whole = refuse_holes(database.path, ends); !whole) return whole;
    auto status = open_database(options, database);
    if (status.IsCorruption()) {
        auto is_torn = ends_in_torn_write(database.path, ends);
        if (!is_torn) return std::move(is_torn).error();
        options.wal_recovery_mode = rocksdb::WALRecoveryMode::kPointInTimeRecovery;
        if (*is_torn) status = open_database(options, database);
    }
    if (!status.ok()) return to_error(status, database.path);
    // The torn write must be gone for ever: beside a newer log with a torn end it would be damage.
    if (auto removed = remove_earlier_logs(database); !removed) return removed;
    return sync_names(database);
}

Result<bool> ends_in_torn_write(const std::filesystem::path& directory, const FileEnds& ends) {
    const auto files = log_files(directory);
    if (!files) return files.error();
    bool is_torn = false;
    for (const auto& [number, path] : *files) {
        const auto content = content_of_file(path, ends);
        if (!content) return content.error();
        if (is_torn ? content->has_writes : content->shape == LogShape::damaged) return false;
        is_torn = is_torn || content->shape == LogShape::cut_short;
    }
    return is_torn;
}

Result<FileEnds> ends_after_power_loss(const std::filesystem::path& directory) {
    const auto files = log_files(directory);
    if (!files) return files.error();
    FileEnds ends;
    for (const auto& [number, path] : *files) {
        const auto content = content_of_file(path, {});
        if (!content) return content.error();
        if (!ends.empty() && content->has_writes) return FileEnds{};
        if (content->shape != LogShape::whole)
            ends.emplace(path.filename().string(), content->whole_bytes);
    }
    return ends;
}

Result<void> sync_logs(const std::filesystem::path& directory, FileProbe* probe) {
    const auto files = log_files(directory);
    if (!files) return files.error();
    for (const auto& [number, path] : *files) {
        auto file = File::open(path, O_RDONLY, probe);
        if (!file) return std::move(file).error();
        if (auto synced = file->sync(); !synced) return synced;
    }
    return {};
}

}  // namespace mortise::storage
