#pragma once

#include <cstdint>
#include <string>
#include <string_view>

namespace mortise::detail {

// 16 digits, the form in which incarnations are shown.
[[nodiscard]] inline std::string hexadecimal(std::uint64_t number) {
    constexpr std::string_view digits = "0123456789abcdef";
    std::string text(16, '0');
    for (auto digit = text.rbegin(); digit != text.rend(); ++digit, number >>= 4U)
        *digit = digits[number & 15U];
    return text;
}

}  // namespace mortise::detail
