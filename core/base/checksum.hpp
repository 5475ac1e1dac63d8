// A checksum against damage, not against an adversary: XXH3, 64 bits (docs/decisions/0001).
#pragma once

#include <cstdint>
#include <string_view>

namespace mortise::core {

// A checksum over several fields: each is combined with the checksum of those before it.
class Checksum {
public:
    void number(std::uint64_t value);
    void text(std::string_view value);
    [[nodiscard]] std::uint64_t value() const { return sum_; }

private:
    std::uint64_t sum_ = 0;
};

// The hash of a text, for tables in memory. It is neither sent nor written to disk.
[[nodiscard]] std::uint64_t hash_of(std::string_view text);

}  // namespace mortise::core
