#pragma once

#include <string>
#include <vector>

namespace mortise::cli {

// A table with columns as wide as their widest cell and two spaces between them; the first row has
// the titles. Cells must be escaped for display.
class Table {
public:
    explicit Table(std::vector<std::string> titles);

    void add(std::vector<std::string> cells);
    // `bold` marks the titles for a terminal.
    [[nodiscard]] std::string text(bool bold) const;

private:
    std::vector<std::vector<std::string>> rows_;
};

// The number of columns that a terminal needs for the text.
[[nodiscard]] std::size_t width_of(const std::string& utf8);

}  // namespace mortise::cli
