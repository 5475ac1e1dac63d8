#include "embed/json_form/json_text.hpp"

#include <chrono>
#include <cstddef>

#include <mortise/escaped.hpp>

namespace mortise::json_form {

namespace {

constexpr std::string_view digits = "0123456789abcdef";

bool is_utf8(std::string_view bytes) {
    try {
        return !Json(std::string{bytes}).dump().empty();
    } catch (const Json::type_error&) {
        return false;
    }
}

std::string hex_of(std::string_view bytes) {
    std::string text;
    for (const char byte : bytes) {
        const auto value = static_cast<unsigned char>(byte);
        text += digits[value >> 4U];
        text += digits[value & 15U];
    }
    return text;
}

std::optional<std::string> bytes_of_hex(const std::string& text) {
    std::string bytes;
    if (text.size() % 2 != 0) return std::nullopt;
    for (std::size_t at = 0; at < text.size(); at += 2) {
        const auto high = digits.find(text[at]);
        const auto low = digits.find(text[at + 1]);
        if (high == std::string_view::npos || low == std::string_view::npos) return std::nullopt;
        bytes += static_cast<char>(high << 4U | low);
    }
    return bytes;
}

}  // namespace

Json json_text(std::string_view bytes) {
    if (is_utf8(bytes)) return std::string{bytes};
    return {{"hex", hex_of(bytes)}, {"shown", escaped_name(bytes)}};
}

std::optional<std::string> bytes_of(const Json& text) {
    if (text.is_string()) return text.get<std::string>();
    const auto found = text.is_object() ? text.find("hex") : text.end();
    if (found == text.end() || !found->is_string()) return std::nullopt;
    return bytes_of_hex(found->get<std::string>());
}

Json json_ms(Duration time) {
    if (!time.is_set()) return nullptr;
    return std::chrono::ceil<std::chrono::milliseconds>(time.to_nanoseconds()).count();
}

std::string hexadecimal(std::uint64_t number) {
    std::string text(16, '0');
    for (auto digit = text.rbegin(); digit != text.rend(); ++digit, number >>= 4U)
        *digit = digits[number & 15U];
    return text;
}

}  // namespace mortise::json_form
