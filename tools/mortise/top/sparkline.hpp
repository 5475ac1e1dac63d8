// A small chart in one line of text.
#pragma once

#include <cstddef>
#include <string>
#include <vector>

namespace mortise::cli {

// What the terminal can show.
enum class Glyphs { ascii, unicode };

// By the locale in the environment.
[[nodiscard]] Glyphs glyphs_of_terminal();

// Each value as a bar, of which the highest has the full height and zero has none. If there are
// more values than columns, each column shows the largest of some neighbours.
[[nodiscard]] std::string sparkline(const std::vector<double>& values, std::size_t columns,
                                    Glyphs glyphs);

// At most so many columns of the text; what is cut off is marked.
[[nodiscard]] std::string cut_to(const std::string& utf8, std::size_t columns, Glyphs glyphs);

}  // namespace mortise::cli
