// Opens RocksDB for reading only: nothing changes in the directory.
#pragma once

#include <string>
#include <string_view>

#include "storage/rocks/rocks_settings.hpp"

namespace mortise::storage {

// Opens the database that `database` names. How much can be read depends on the recovery mode of
// `options`.
Result<void> open_read_only(const rocksdb::Options& options, RocksDatabase& database);

// Empty if the row is missing or cannot be read.
[[nodiscard]] std::string row_of(const RocksDatabase& database, std::string_view key);

}  // namespace mortise::storage
