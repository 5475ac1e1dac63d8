#include "embed/json_form/json_text.hpp"

#include <cstddef>

#include "embed/json_form/fields.hpp"

namespace mortise::json_form {

namespace {

std::optional<std::string> bytes_of_hex(const std::string& text) {
    std::string bytes;
    if (text.size() % 2 != 0) return std::nullopt;
    for (std::size_t at = 0; at < text.size(); at += 2) {
        const auto high = hex_digits.find(text[at]);
        const auto low = hex_digits.find(text[at + 1]);
        if (high == std::string_view::npos || low == std::string_view::npos) return std::nullopt;
        bytes += static_cast<char>(high << 4U | low);
    }
    return bytes;
}

}  // namespace

Json json_text(std::string_view bytes) {
    return Fields<Json>::text(bytes);
}

std::optional<std::string> bytes_of(const Json& text) {
    if (text.is_string()) return text.get<std::string>();
    const auto found = text.is_object() ? text.find("hex") : text.end();
    if (found == text.end() || !found->is_string()) return std::nullopt;
    return bytes_of_hex(found->get<std::string>());
}

Json json_ms(Duration time) {
    return Fields<Json>::ms(time);
}

}  // namespace mortise::json_form
