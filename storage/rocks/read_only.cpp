#include "storage/rocks/read_only.hpp"

namespace mortise::storage {

Result<void> open_read_only(const rocksdb::Options& options, RocksDatabase& database) {
    rocksdb::DB* db = nullptr;
    const auto status = open_before_exit(
        [&] { return rocksdb::DB::OpenForReadOnly(options, database.path.string(), &db); });
    database.db.reset(db);
    if (!status.ok()) return to_error(status, database.path);
    return {};
}

std::string row_of(const RocksDatabase& database, std::string_view key) {
    std::string row;
    const rocksdb::Slice name{key.data(), key.size()};
    return database.db->Get({}, name, &row).ok() ? row : std::string{};
}

}  // namespace mortise::storage
