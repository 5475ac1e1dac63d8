#include "tools/mortise/doctor/finding.hpp"

#include <algorithm>
#include <iterator>
#include <utility>

#include <mortise/escaped.hpp>

namespace mortise::cli {

std::string_view to_string(Severity severity) {
    switch (severity) {
        case Severity::ok: return "ok";
        case Severity::warning: return "warning";
        case Severity::error: break;
    }
    return "error";
}

Finding fine(std::string about, std::string text) {
    return {Severity::ok, std::move(about), std::move(text), {}};
}

Finding warning(std::string about, std::string text, std::string advice) {
    return {Severity::warning, std::move(about), std::move(text), std::move(advice)};
}

Finding problem(std::string about, std::string text, std::string advice) {
    return {Severity::error, std::move(about), std::move(text), std::move(advice)};
}

void append(Findings& to, Findings more) {
    std::ranges::move(more, std::back_inserter(to));
}

std::size_t count(const Findings& findings, Severity severity) {
    return static_cast<std::size_t>(std::ranges::count(findings, severity, &Finding::severity));
}

std::string line_of(const Finding& finding) {
    constexpr std::size_t width = 9;
    std::string line{to_string(finding.severity)};
    line.resize(width, ' ');
    line += escaped(finding.about + ": " + finding.text);
    if (!finding.advice.empty()) line += escaped("; " + finding.advice);
    return line;
}

Json json_of(const Findings& findings) {
    auto list = Json::array();
    for (const auto& finding : findings) {
        Json json{{"severity", to_string(finding.severity)},
                  {"about", json_text(finding.about)},
                  {"text", json_text(finding.text)}};
        if (!finding.advice.empty()) json["advice"] = json_text(finding.advice);
        list.push_back(std::move(json));
    }
    return {{"errors", count(findings, Severity::error)},
            {"warnings", count(findings, Severity::warning)},
            {"findings", std::move(list)}};
}

}  // namespace mortise::cli
