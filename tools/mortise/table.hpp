#pragma once

#include <string>
#include <vector>

namespace mortise::cli {

// Columns as wide as their widest cell, two spaces apart, the first row above the others. Cells are
// expected to be fit for showing.
class Table {
public:
    explicit Table(std::vector<std::string> titles);

    void add(std::vector<std::string> cells);
    // `bold` marks the titles for a terminal.
    [[nodiscard]] std::string text(bool bold) const;

private:
    std::vector<std::vector<std::string>> rows_;
};

// How many columns a terminal needs for it.
[[nodiscard]] std::size_t width_of(const std::string& utf8);

}  // namespace mortise::cli
