// A page: a template with its text, in which two marks are replaced.
#pragma once

#include <string>
#include <vector>

#include "tests/conversations/transcript.hpp"

namespace mortise::conversations {

// Columns of lines, broken where they would be too wide.
[[nodiscard]] std::string as_text(const std::vector<Line>& lines);
// A sequence diagram for Mermaid.
[[nodiscard]] std::string as_picture(const std::vector<Arrow>& arrows);
// Throws if the template lacks a mark.
[[nodiscard]] std::string make_page(const std::string& text, const Transcript& transcript);

}  // namespace mortise::conversations
