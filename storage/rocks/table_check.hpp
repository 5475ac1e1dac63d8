// Checks a table of RocksDB before RocksDB reads it. RocksDB compares a block with its checksum
// before it uses it, except for the properties of the table; and it trusts the footer, which has no
// checksum, for the places of the blocks. Debian builds RocksDB with assertions, so a flipped bit
// there would end the host process.
#pragma once

#include <cstdint>

#include <rocksdb/file_system.h>

namespace mortise::storage {

// Returns Corruption if the table is damaged in these parts, and ok also for damage that RocksDB
// detects itself. In a table with checksums of another kind only the places are checked.
[[nodiscard]] rocksdb::IOStatus check_table(const rocksdb::FSRandomAccessFile& table,
                                            std::uint64_t bytes);

}  // namespace mortise::storage
