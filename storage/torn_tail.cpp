#include "storage/torn_tail.hpp"

#include <algorithm>
#include <charconv>
#include <cstdint>
#include <map>
#include <optional>

#include <fcntl.h>
#include <rocksdb/file_system.h>

#include "core/base/bytes.hpp"
#include "storage/files.hpp"
#include "storage/rocks_crc.hpp"

namespace mortise::storage {

namespace {

constexpr std::size_t block_bytes = 32768;
constexpr std::size_t head_bytes = 7;

// The position of a record within its write.
enum RecordType : std::uint8_t { full = 1, first = 2, middle = 3, last = 4 };

struct Record {
    std::uint8_t type = 0;
    std::size_t bytes = 0;  // including its head
};

// The complete record that begins here, if there is one. `rest` is the rest of the block.
std::optional<Record> record_at(std::string_view rest) {
    if (rest.size() < head_bytes) return std::nullopt;
    core::ByteReader in{rest};
    const auto crc = in.u32();
    const std::size_t length = in.u16();
    const auto type = in.u8();
    if (type < full || type > last || head_bytes + length > rest.size()) return std::nullopt;
    constexpr std::size_t type_at = head_bytes - 1;
    if (crc != stored_crc32c(rest.substr(type_at, 1 + length))) return std::nullopt;
    return Record{type, head_bytes + length};
}

bool begins_write(const Record& record) {
    return record.type == full || record.type == first;
}

// After a bad place the next record may begin at any byte.
bool write_begins_in(std::string_view block) {
    for (std::size_t i = 0; i < block.size(); ++i) {
        const auto record = record_at(block.substr(i));
        if (record && begins_write(*record)) return true;
    }
    return false;
}

bool write_begins_after(std::string_view bytes, std::size_t at) {
    while (at < bytes.size()) {
        const auto block_end = std::min(bytes.size(), (at / block_bytes + 1) * block_bytes);
        if (write_begins_in(bytes.substr(at, block_end - at))) return true;
        at = block_end;
    }
    return false;
}

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
    if (failed) return io_error("cannot list " + directory.string(), failed.value());
    return found;
}

Result<LogShape> shape_of_file(const std::filesystem::path& path) {
    auto file = File::open(path, O_RDONLY, nullptr);
    if (!file) return std::move(file).error();
    std::error_code failed;
    const auto size = std::filesystem::file_size(path, failed);
    if (failed) return io_error("cannot look at " + path.string(), failed.value());
    auto bytes = file->read(size);
    if (!bytes) return std::move(bytes).error();
    return shape_of_log(*bytes);
}

rocksdb::Status open_database(const rocksdb::Options& options, RocksDatabase& database) {
    rocksdb::DB* db = nullptr;
    auto status =
        open_before_exit([&] { return rocksdb::DB::Open(options, database.path.string(), &db); });
    database.db.reset(db);
    return status;
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

Result<void> open_after_crash(rocksdb::Options options, RocksDatabase& database) {
    auto status = open_database(options, database);
    if (status.IsCorruption()) {
        auto is_torn = ends_in_torn_write(database.path);
        if (!is_torn) return std::move(is_torn).error();
        options.wal_recovery_mode = rocksdb::WALRecoveryMode::kPointInTimeRecovery;
        if (*is_torn) status = open_database(options, database);
    }
    if (!status.ok()) return to_error(status, database.path);
    // The torn write must be gone for ever: beside a newer log with a torn end it would be damage.
    return sync_names(database);
}

LogShape shape_of_log(std::string_view bytes) {
    bool within_write = false;
    std::size_t at = 0;
    while (at < bytes.size()) {
        const auto block_left = block_bytes - at % block_bytes;
        if (block_left < head_bytes) {  // filler
            at += block_left;
            continue;
        }
        const auto record = record_at(bytes.substr(at, block_left));
        if (!record || begins_write(*record) == within_write) {
            return write_begins_after(bytes, at) ? LogShape::damaged : LogShape::cut_short;
        }
        within_write = record->type == first || record->type == middle;
        at += record->bytes;
    }
    return within_write ? LogShape::cut_short : LogShape::whole;
}

Result<bool> ends_in_torn_write(const std::filesystem::path& directory) {
    auto files = log_files(directory);
    if (!files) return std::move(files).error();
    for (const auto& [number, path] : *files) {
        auto shape = shape_of_file(path);
        if (!shape) return std::move(shape).error();
        const bool is_newest = number == files->rbegin()->first;
        if (*shape != (is_newest ? LogShape::cut_short : LogShape::whole)) return false;
    }
    return !files->empty();
}

}  // namespace mortise::storage
