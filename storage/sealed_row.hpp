// A row of ours in RocksDB, with a checksum over its key and content at its end. RocksDB guards its
// blocks, but not what its memory did to a row before, nor a row under a key that is not its own.
#pragma once

#include <optional>
#include <string>
#include <string_view>

namespace mortise::storage {

[[nodiscard]] std::string seal(std::string_view key, std::string content);
// The content, within `row`; empty when it is not what was sealed under that key.
[[nodiscard]] std::optional<std::string_view> unseal(std::string_view key, std::string_view row);

}  // namespace mortise::storage
