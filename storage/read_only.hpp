// RocksDB for those who only look: it changes nothing in the directory.
#pragma once

#include <string>
#include <string_view>

#include "storage/rocks_settings.hpp"

namespace mortise::storage {

// Opens what `database` names. How far it can be read depends on the recovery mode of `options`.
Result<void> open_read_only(const rocksdb::Options& options, RocksDatabase& database);

// Empty when there is none, or when it cannot be read.
[[nodiscard]] std::string row_of(const RocksDatabase& database, std::string_view key);

}  // namespace mortise::storage
