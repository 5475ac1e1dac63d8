#include "core/base/checksum.hpp"

#define XXH_INLINE_ALL
#include <xxhash.h>

namespace mortise::core {

void Checksum::number(std::uint64_t value) {
    sum_ = XXH3_64bits_withSeed(&value, sizeof value, sum_);
}

void Checksum::text(std::string_view value) {
    number(value.size());
    sum_ = XXH3_64bits_withSeed(value.data(), value.size(), sum_);
}

std::uint64_t hash_of(std::string_view text) {
    return XXH3_64bits(text.data(), text.size());
}

}  // namespace mortise::core
