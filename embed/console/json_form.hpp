// The JSON of the console's answers; docs/console.md describes it. It is that of the command line
// (`mortise locks --json`), with a few more members.
#pragma once

#include <optional>
#include <string>
#include <string_view>

#include <nlohmann/json.hpp>

#include <mortise/event.hpp>
#include <mortise/info.hpp>
#include <mortise/observe.hpp>

namespace mortise::console {

using Json = nlohmann::ordered_json;

// Text that is valid UTF-8 is a string; other bytes are {"hex": "..."}.
[[nodiscard]] Json json_text(std::string_view bytes);
// The bytes of such a text; empty if it is none.
[[nodiscard]] std::optional<std::string> bytes_of(const Json& text);

[[nodiscard]] Json json_of(const LockInfo& lock);
[[nodiscard]] Json json_of(const Status& status);
[[nodiscard]] Json json_of(const Event& event);
[[nodiscard]] Json json_of(const NodeEvent& event);

// In milliseconds, rounded up; null if it is not set.
[[nodiscard]] Json json_ms(Duration time);
[[nodiscard]] std::string text_of(const Json& json);

}  // namespace mortise::console
