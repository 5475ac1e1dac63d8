// What `mortise top` shows, as lines of text.
#pragma once

#include <cstddef>
#include <string>
#include <vector>

#include "tools/mortise/top/sparkline.hpp"
#include <mortise/activity.hpp>

namespace mortise::cli {

struct FrameForm {
    std::size_t columns = 80;
    std::size_t rows = 0;  // zero: as many as there are lines
    Glyphs glyphs = Glyphs::ascii;
    bool bold = false;      // of titles, for a terminal
    std::string prefix{};   // of the names that are shown; empty: all
    std::string problem{};  // one line, while no member answers; empty: none
};

// The lines, none of which is wider than the terminal.
[[nodiscard]] std::vector<std::string> frame_of(const Activity& activity, const FrameForm& form);

}  // namespace mortise::cli
