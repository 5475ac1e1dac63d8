#include "tools/mortise/top/sparkline.hpp"

#include <algorithm>
#include <array>
#include <cctype>
#include <cmath>
#include <cstdlib>
#include <string_view>

#include "tools/mortise/table.hpp"

namespace mortise::cli {

namespace {

// From low to high.
constexpr std::array<std::string_view, 8> blocks{"▁", "▂", "▃", "▄", "▅", "▆", "▇", "█"};
constexpr std::array<std::string_view, 8> letters{"_", ".", ":", "-", "=", "+", "*", "#"};

// The first of them that is set decides, as in setlocale().
std::string locale_of_characters() {
    for (const auto* name : {"LC_ALL", "LC_CTYPE", "LANG"}) {
        const char* const value = std::getenv(name);
        if (value != nullptr && *value != '\0') return value;
    }
    return {};
}

}  // namespace

Glyphs glyphs_of_terminal() {
    auto locale = locale_of_characters();
    std::ranges::transform(locale, locale.begin(),
                           [](unsigned char c) { return static_cast<char>(std::tolower(c)); });
    const bool is_utf8 =
        locale.find("utf-8") != std::string::npos || locale.find("utf8") != std::string::npos;
    return is_utf8 ? Glyphs::unicode : Glyphs::ascii;
}

std::string sparkline(const std::vector<double>& values, std::size_t columns, Glyphs glyphs) {
    if (values.empty() || columns == 0) return {};
    const auto& bars = glyphs == Glyphs::unicode ? blocks : letters;
    const auto highest = *std::ranges::max_element(values);
    const auto joined = (values.size() + columns - 1) / columns;
    std::string line;
    for (std::size_t begin = 0; begin < values.size(); begin += joined) {
        const auto end = std::min(begin + joined, values.size());
        double largest = 0;
        for (auto at = begin; at < end; ++at)
            largest = std::max(largest, values[at]);
        if (largest <= 0) {
            line += ' ';
            continue;
        }
        const auto height = std::ceil(largest / highest * static_cast<double>(bars.size()));
        line += bars[std::clamp<std::size_t>(static_cast<std::size_t>(height), 1, bars.size()) - 1];
    }
    return line;
}

std::string cut_to(const std::string& utf8, std::size_t columns, Glyphs glyphs) {
    if (width_of(utf8) <= columns) return utf8;
    if (columns == 0) return {};
    std::size_t bytes = 0;
    std::size_t shown = 0;
    for (; bytes < utf8.size(); ++bytes) {
        const bool begins = (static_cast<unsigned char>(utf8[bytes]) >> 6U) != 2U;
        if (begins && ++shown == columns) break;
    }
    return utf8.substr(0, bytes) + (glyphs == Glyphs::unicode ? "…" : "~");
}

}  // namespace mortise::cli
