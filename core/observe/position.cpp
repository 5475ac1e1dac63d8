#include "core/observe/position.hpp"

#include <charconv>

namespace mortise::core {

namespace {

// Empty unless the whole text is a number without superfluous zeros.
template <class Number>
std::optional<Number> number_from(std::string_view text) {
    Number number = 0;
    const auto* end = text.data() + text.size();
    const auto [stop, error] = std::from_chars(text.data(), end, number);
    const bool has_zeros = text.size() > 1 && text.front() == '0';
    if (error != std::errc{} || stop != end || has_zeros) return std::nullopt;
    return number;
}

}  // namespace

std::string to_text(Position position) {
    auto text = std::to_string(position.index.raw());
    if (!position.is_set() || position.ordinal == Position::whole_entry) return text;
    return text + "." + std::to_string(position.ordinal);
}

std::optional<Position> position_from(std::string_view text) {
    const auto dot = text.find('.');
    const auto index = number_from<std::uint64_t>(text.substr(0, dot));
    if (!index) return std::nullopt;
    if (dot == std::string_view::npos)
        return *index == 0 ? Position{} : Position::after(LogIndex{*index});
    const auto ordinal = number_from<std::uint32_t>(text.substr(dot + 1));
    const bool is_change = ordinal && *ordinal != 0 && *ordinal != Position::whole_entry;
    if (*index == 0 || !is_change) return std::nullopt;
    return Position{LogIndex{*index}, *ordinal};
}

}  // namespace mortise::core
