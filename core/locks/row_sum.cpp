#include "core/locks/row_sum.hpp"

#include "core/base/checksum.hpp"

namespace mortise::core {

void RowSum::put(std::string_view key, const std::optional<std::string_view>& value) {
    Checksum of_key;
    of_key.text(key);
    const auto place = of_key.value();
    const auto known = rows_.find(place);
    if (known != rows_.end()) sum_ -= known->second;  // wraps around, as the addition did
    if (!value) {
        if (known != rows_.end()) rows_.erase(known);
        return;
    }
    of_key.text(*value);
    rows_[place] = of_key.value();
    sum_ += of_key.value();
}

std::uint64_t RowSum::of(std::string_view key, std::string_view value) {
    Checksum both;
    both.text(key);
    both.text(value);
    return both.value();
}

void RowSum::replace(std::optional<std::uint64_t> before, std::optional<std::uint64_t> after) {
    sum_ -= before.value_or(0);
    sum_ += after.value_or(0);
}

}  // namespace mortise::core
