// Bytes and numbers as text.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>

namespace mortise::json_form {

inline constexpr std::string_view hex_digits = "0123456789abcdef";

// How many bytes the character that begins the text has; 0 if it is not one of UTF-8 (RFC 3629).
[[nodiscard]] inline std::size_t utf8_length(std::string_view text) noexcept {
    const auto at = [&](std::size_t i) {
        return i < text.size() ? static_cast<unsigned char>(text[i]) : 0U;
    };
    const auto first = at(0);
    if (first < 0x80) return 1;
    const std::size_t length = first >= 0xf0 ? 4 : first >= 0xe0 ? 3 : 2;
    for (std::size_t i = 1; i < length; ++i)
        if ((at(i) & 0xc0U) != 0x80) return 0;
    const bool is_too_long =
        first < 0xc2 || (first == 0xe0 && at(1) < 0xa0) || (first == 0xf0 && at(1) < 0x90);
    const bool is_surrogate = first == 0xed && at(1) >= 0xa0;
    const bool is_too_great = first > 0xf4 || (first == 0xf4 && at(1) >= 0x90);
    return is_too_long || is_surrogate || is_too_great ? 0 : length;
}

[[nodiscard]] inline bool is_utf8(std::string_view bytes) noexcept {
    while (!bytes.empty()) {
        const auto length = utf8_length(bytes);
        if (length == 0) return false;
        bytes.remove_prefix(length);
    }
    return true;
}

[[nodiscard]] inline std::string hex_of(std::string_view bytes) {
    std::string text;
    for (const char byte : bytes) {
        const auto value = static_cast<unsigned char>(byte);
        text += hex_digits[value >> 4U];
        text += hex_digits[value & 15U];
    }
    return text;
}

// 16 digits, the form in which incarnations are shown.
[[nodiscard]] inline std::string hexadecimal(std::uint64_t number) {
    std::string text(16, '0');
    for (auto digit = text.rbegin(); digit != text.rend(); ++digit, number >>= 4U)
        *digit = hex_digits[number & 15U];
    return text;
}

}  // namespace mortise::json_form
