#pragma once

#include <cstdint>
#include <string_view>

namespace mortise::storage {

// CRC-32C in the form in which RocksDB stores it: rotated and shifted, because the data may itself
// contain checksums.
[[nodiscard]] std::uint32_t stored_crc32c(std::string_view bytes);

}  // namespace mortise::storage
