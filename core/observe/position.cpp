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
    if (!position.is_set()) return text;
    const bool is_change = position.ordinal != Position::whole_entry;
    if (is_change) text += "." + std::to_string(position.ordinal);
    if (position.cluster == 0) return text;
    return text + (is_change ? "." : ".0.") + std::to_string(position.cluster);
}

std::optional<Position> position_from(std::string_view text) {
    const auto dot = text.find('.');
    const auto index = number_from<std::uint64_t>(text.substr(0, dot));
    if (!index) return std::nullopt;
    auto position = *index == 0 ? Position{} : Position::after(LogIndex{*index});
    if (dot == std::string_view::npos) return position;
    const auto rest = text.substr(dot + 1);
    const auto second_dot = rest.find('.');
    const auto ordinal = number_from<std::uint32_t>(rest.substr(0, second_dot));
    if (!position.is_set() || !ordinal || *ordinal == Position::whole_entry) return std::nullopt;
    if (*ordinal != 0) position.ordinal = *ordinal;
    if (second_dot == std::string_view::npos)
        return *ordinal != 0 ? std::optional{position} : std::nullopt;
    const auto cluster = number_from<std::uint32_t>(rest.substr(second_dot + 1));
    if (!cluster || *cluster == 0) return std::nullopt;
    position.cluster = *cluster;
    return position;
}

}  // namespace mortise::core
