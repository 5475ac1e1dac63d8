// What `mortise doctor` reports: findings, one line each.
#pragma once

#include <cstddef>
#include <string>
#include <string_view>
#include <vector>

#include "tools/mortise/json_form.hpp"

namespace mortise::cli {

enum class Severity { ok, warning, error };

[[nodiscard]] std::string_view to_string(Severity severity);

// Neither text has a full stop at its end.
struct Finding {
    Severity severity = Severity::ok;
    std::string about;   // what was examined: "configuration", "node 2"
    std::string text;    // what was found
    std::string advice;  // what to do about it; empty for Severity::ok

    friend bool operator==(const Finding&, const Finding&) = default;
};

using Findings = std::vector<Finding>;

[[nodiscard]] Finding fine(std::string about, std::string text);
[[nodiscard]] Finding warning(std::string about, std::string text, std::string advice);
[[nodiscard]] Finding problem(std::string about, std::string text, std::string advice);

void append(Findings& to, Findings more);
[[nodiscard]] std::size_t count(const Findings& findings, Severity severity);

// One line, escaped for a terminal: "error    node 2: ...; start node 2".
[[nodiscard]] std::string line_of(const Finding& finding);
[[nodiscard]] Json json_of(const Findings& findings);

}  // namespace mortise::cli
