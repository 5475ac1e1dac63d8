// Listings as JSON. Tokens are strings: they have 63 bits, and many JSON readers support only 53.
// Names and labels that are not UTF-8 become {"hex": "..."}.
#pragma once

#include <string_view>

#include <nlohmann/json.hpp>

#include <mortise/info.hpp>
#include <mortise/observe.hpp>
#include <mortise/remote.hpp>

namespace mortise::cli {

using Json = nlohmann::ordered_json;

[[nodiscard]] Json json_text(std::string_view bytes);
void print(const Json& json);
[[nodiscard]] Json json_of(const LockInfo& lock);
[[nodiscard]] Json json_of(const MemberReport& report);
[[nodiscard]] Json json_of(const SessionInfo& session);
[[nodiscard]] Json json_of(const Event& event);

}  // namespace mortise::cli
