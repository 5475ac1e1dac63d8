// What a file in the format of RocksDB's write-ahead logs consists of: blocks of 32 KiB with
// records of checksum, length, type and bytes; a write that does not fit a block has several
// records. Zeros at the end are space that was not used yet (zeroed_ahead.hpp).
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string_view>

namespace mortise::storage {

constexpr std::size_t log_block_bytes = 32768;

enum class LogShape : std::uint8_t {
    whole,
    cut_short,  // it ends within a write, or in garbage
    damaged,    // garbage, and a write after it
};

struct LogContent {
    LogShape shape = LogShape::whole;
    bool has_writes = false;
    std::size_t whole_bytes = 0;  // up to the end of the last write before a bad place
};

[[nodiscard]] LogContent content_of_log(std::string_view bytes);

// The place in a block at which RocksDB's reader leaves it, because it finds neither a type nor a
// length (log::Reader::ReadPhysicalRecord).
[[nodiscard]] std::optional<std::size_t> zeros_in(std::string_view block);
[[nodiscard]] bool are_zeros(std::string_view bytes);
// `at` is behind the start of a block, with which `bytes` begins. A write may begin at any byte.
[[nodiscard]] bool write_begins_after(std::string_view bytes, std::size_t at);

}  // namespace mortise::storage
