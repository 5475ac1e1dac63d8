#include "tools/mortise/table.hpp"

#include <algorithm>
#include <cstddef>
#include <utility>

namespace mortise::cli {

std::size_t width_of(const std::string& utf8) {
    const auto is_start = [](char byte) { return (static_cast<unsigned char>(byte) >> 6U) != 2U; };
    return static_cast<std::size_t>(std::ranges::count_if(utf8, is_start));
}

Table::Table(std::vector<std::string> titles) {
    add(std::move(titles));
}

void Table::add(std::vector<std::string> cells) {
    rows_.push_back(std::move(cells));
}

std::string Table::text(bool bold) const {
    std::vector<std::size_t> widths;
    for (const auto& row : rows_) {
        widths.resize(std::max(widths.size(), row.size()));
        for (std::size_t i = 0; i < row.size(); ++i)
            widths[i] = std::max(widths[i], width_of(row[i]));
    }
    std::string text;
    for (std::size_t r = 0; r < rows_.size(); ++r) {
        std::string line;
        std::size_t column = 0;
        for (const auto& cell : rows_[r]) {
            line += cell + std::string(widths[column] - width_of(cell) + 2, ' ');
            ++column;
        }
        line.erase(line.find_last_not_of(' ') + 1);
        text += bold && r == 0 ? "\x1b[1m" + line + "\x1b[0m\n" : line + "\n";
    }
    return text;
}

}  // namespace mortise::cli
