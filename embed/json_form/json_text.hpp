// Texts, times and numbers as JSON.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include <nlohmann/json.hpp>

#include "embed/json_form/plain_text.hpp"
#include <mortise/duration.hpp>

namespace mortise::json_form {

using Json = nlohmann::ordered_json;

// Text that is valid UTF-8 is a string; other bytes are {"hex": "...", "shown": "..."}.
[[nodiscard]] Json json_text(std::string_view bytes);
// The bytes of such a text; empty if it is none.
[[nodiscard]] std::optional<std::string> bytes_of(const Json& text);

// In milliseconds, rounded up; null if it is not set.
[[nodiscard]] Json json_ms(Duration time);

}  // namespace mortise::json_form
