// A row in RocksDB with a checksum over its key and content at its end. RocksDB checks its blocks,
// but does not detect a row that was damaged in memory before, or a row under the wrong key.
#pragma once

#include <optional>
#include <string>
#include <string_view>

namespace mortise::storage {

[[nodiscard]] std::string seal(std::string_view key, std::string content);
// The content, within `row`; empty if it is not what was sealed under that key.
[[nodiscard]] std::optional<std::string_view> unseal(std::string_view key, std::string_view row);

}  // namespace mortise::storage
