#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>

#include <mortise/escaped.hpp>

namespace mortise {

namespace {

struct Lead {
    std::uint8_t mask;
    std::uint8_t bits;
    std::size_t length;
    char32_t lowest;  // a smaller value has a shorter form, and is not valid UTF-8
};
constexpr std::array leads{Lead{0x80, 0x00, 1, 0}, Lead{0xe0, 0xc0, 2, 0x80},
                           Lead{0xf0, 0xe0, 3, 0x800}, Lead{0xf8, 0xf0, 4, 0x10000}};

// Moves the cursor, hides text or reverses its direction, so that a line looks different from what
// it is.
bool misleads(char32_t point) {
    const auto within = [point](char32_t first, char32_t last) {
        return first <= point && point <= last;
    };
    return point < 0x20 || within(0x7f, 0x9f) || point == 0xad || within(0x200b, 0x200f) ||
           within(0x2028, 0x202e) || within(0x2060, 0x206f) || point == 0x61c || point == 0xfeff ||
           within(0xd800, 0xdfff) || within(0xe0000, 0xe0fff) || point > 0x10ffff;
}

// The length of the first character of `bytes`, if it may be shown; otherwise 0.
std::size_t shown_length(std::string_view bytes) {
    const auto first = static_cast<std::uint8_t>(bytes[0]);
    const auto* lead = std::find_if(leads.begin(), leads.end(), [first](const Lead& candidate) {
        return (first & candidate.mask) == candidate.bits;
    });
    if (lead == leads.end() || bytes.size() < lead->length) return 0;
    char32_t point = first & static_cast<std::uint8_t>(~lead->mask);
    for (std::size_t i = 1; i < lead->length; ++i) {
        const auto next = static_cast<std::uint8_t>(bytes[i]);
        if ((next & 0xc0U) != 0x80U) return 0;
        point = (point << 6U) | (next & 0x3fU);
    }
    return point < lead->lowest || misleads(point) ? 0 : lead->length;
}

constexpr std::string_view digits = "0123456789abcdef";

std::string escaped_beside(std::string_view bytes, std::string_view backslash) {
    std::string text;
    text.reserve(bytes.size());
    while (!bytes.empty()) {
        const std::size_t shown = shown_length(bytes);
        if (bytes[0] == '\\') {
            text += backslash;
        } else if (shown != 0) {
            text += bytes.substr(0, shown);
        } else {
            const auto byte = static_cast<std::uint8_t>(bytes[0]);
            text += {'\\', 'x', digits[byte >> 4U], digits[byte & 0xfU]};
        }
        bytes.remove_prefix(std::max<std::size_t>(shown, 1));
    }
    return text;
}

// The byte that the text behind a backslash stands for, and how long it is; empty if for none.
struct Escape {
    char byte;
    std::size_t length;
};

std::optional<Escape> escape_in(std::string_view text) {
    if (text.starts_with('\\')) return Escape{'\\', 1};
    if (text.size() < 3 || text[0] != 'x') return std::nullopt;
    const auto high = digits.find(text[1]);
    const auto low = digits.find(text[2]);
    if (high == std::string_view::npos || low == std::string_view::npos) return std::nullopt;
    return Escape{static_cast<char>(high << 4U | low), 3};
}

}  // namespace

std::string escaped(std::string_view bytes) {
    return escaped_beside(bytes, "\\");
}

std::string escaped_name(std::string_view name) {
    return escaped_beside(name, "\\\\");
}

std::optional<std::string> unescaped_name(std::string_view text) {
    std::string name;
    while (!text.empty()) {
        const auto first = text[0];
        text.remove_prefix(1);
        if (first != '\\') {
            name += first;
            continue;
        }
        const auto escape = escape_in(text);
        if (!escape) return std::nullopt;
        name += escape->byte;
        text.remove_prefix(escape->length);
    }
    return name;
}

}  // namespace mortise
