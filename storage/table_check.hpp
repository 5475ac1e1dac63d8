// Looks at a table of RocksDB before RocksDB does. That compares a block with its checksum before
// it reads what is in it, with one exception, the properties of the table; and it believes the
// footer, which has no checksum, where the blocks are. Debian builds it with its assertions, so a
// bit that flipped there would end the process, which is not ours.
#pragma once

#include <cstdint>

#include <rocksdb/file_system.h>

namespace mortise::storage {

// Corruption when that is so; ok also for what RocksDB finds out by itself. Of a table with
// checksums of another kind than ours only the places are checked.
[[nodiscard]] rocksdb::IOStatus check_table(const rocksdb::FSRandomAccessFile& table,
                                            std::uint64_t bytes);

}  // namespace mortise::storage
