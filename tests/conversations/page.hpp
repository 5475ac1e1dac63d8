// A page: its two blocks of code, the picture and the conversation, are made anew.
#pragma once

#include <string>
#include <vector>

#include "tests/conversations/transcript.hpp"

namespace mortise::conversations {

// Columns of lines, broken where they would be too wide.
[[nodiscard]] std::string as_text(const std::vector<Line>& lines);
// A sequence diagram for Mermaid.
[[nodiscard]] std::string as_picture(const std::vector<Arrow>& arrows);
// Throws unless the page has one block of `mermaid` and one of `text`.
[[nodiscard]] std::string make_page(const std::string& page, const Transcript& transcript);

}  // namespace mortise::conversations
