#pragma once

#include <cstdint>
#include <string_view>

namespace mortise::storage {

// CRC-32C as RocksDB stores it: turned and shifted, since what it is over may itself contain
// checksums.
[[nodiscard]] std::uint32_t stored_crc32c(std::string_view bytes);

}  // namespace mortise::storage
