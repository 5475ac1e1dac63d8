// A checksum over all rows of a state that is updated with the rows that change, so that replicas
// can compare their states at little cost. It does not depend on the order of the changes.
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <string_view>

namespace mortise::core {

class RowSum {
public:
    // Sets the value of the row, or removes the row.
    void put(std::string_view key, const std::optional<std::string_view>& value);
    // The same for rows whose checksums are remembered elsewhere: a row without one does not exist.
    [[nodiscard]] static std::uint64_t of(std::string_view key, std::string_view value);
    void replace(std::optional<std::uint64_t> before, std::optional<std::uint64_t> after);
    [[nodiscard]] std::uint64_t value() const { return sum_; }

private:
    std::map<std::uint64_t, std::uint64_t> rows_;  // checksums of rows, by the checksum of the key
    std::uint64_t sum_ = 0;
};

}  // namespace mortise::core
