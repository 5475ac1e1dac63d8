// The examples in bytes of docs/formats.md. A line of such a block has bytes as two digits each,
// and after two blanks what they mean. Tests run in the top folder of the tree.
#pragma once

#include <fstream>
#include <string>
#include <string_view>

namespace mortise {

// The bytes of the block whose first line begins with `first`; empty if the page has none.
inline std::string bytes_on_formats_page(std::string_view first) {
    std::ifstream page{"docs/formats.md"};
    std::string line;
    while (std::getline(page, line) && !line.starts_with(first)) {
    }
    std::string bytes;
    for (; page && line != "```"; std::getline(page, line)) {
        const auto digits = line.substr(0, line.find("  "));
        for (std::size_t at = 0; at + 1 < digits.size(); at += 3)
            bytes.push_back(static_cast<char>(std::stoi(digits.substr(at, 2), nullptr, 16)));
    }
    return bytes;
}

}  // namespace mortise
