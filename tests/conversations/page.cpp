#include "tests/conversations/page.hpp"

#include <algorithm>
#include <map>
#include <stdexcept>

namespace mortise::conversations {

namespace {

constexpr std::size_t time_width = 13;
constexpr std::size_t who_width = 24;
constexpr std::size_t text_width = 88;
constexpr std::size_t label_width = 64;

std::string padded(std::string text, std::size_t width) {
    text.resize(std::max(text.size() + 1, width), ' ');
    return text;
}

std::string right_aligned(const std::string& text, std::size_t width) {
    return text.size() < width ? std::string(width - text.size(), ' ') + text : text;
}

// At spaces; a longer word stays whole.
std::vector<std::string> broken(std::string text, std::size_t width) {
    std::vector<std::string> parts;
    while (text.size() > width) {
        auto space = text.rfind(' ', width);
        if (space == std::string::npos || space == 0) space = text.find(' ', width);
        if (space == std::string::npos) break;
        parts.push_back(text.substr(0, space));
        text.erase(0, space + 1);
    }
    parts.push_back(std::move(text));
    return parts;
}

// What a label of Mermaid may contain.
std::string as_label(std::string text) {
    std::ranges::replace(text, ';', ',');
    const auto parts = broken(std::move(text), label_width);
    return parts.front() + (parts.size() > 1 ? " ..." : "");
}

// The page with another content of its only block of code in this language.
std::string with_block(std::string page, const std::string& language, const std::string& content) {
    const auto begin = "\n```" + language + "\n";
    const auto at = page.find(begin);
    const auto end = at == std::string::npos ? at : page.find("\n```", at + begin.size() - 1);
    if (end == std::string::npos || page.find(begin, end) != std::string::npos)
        throw std::runtime_error{"the page has not one block of " + language};
    return page.replace(at + begin.size(), end + 1 - at - begin.size(), content);
}

}  // namespace

std::string as_text(const std::vector<Line>& lines) {
    std::string text;
    for (const auto& line : lines) {
        if (line.who.empty()) {
            text += (text.empty() ? "" : "\n") + right_aligned(line.time, time_width) + "  -- " +
                    line.text + " --\n\n";
            continue;
        }
        auto head = right_aligned(line.time, time_width) + "  " + padded(line.who, who_width);
        for (const auto& part : broken(line.text, text_width)) {
            text += head + part + "\n";
            head = std::string(head.size(), ' ');
        }
    }
    return text;
}

std::string as_picture(const std::vector<Arrow>& arrows) {
    std::map<std::string, std::string> names;
    std::string body;
    std::string text = "sequenceDiagram\n";
    const auto name = [&](const std::string& who) {
        const auto [found, is_new] = names.emplace(who, std::string{});
        if (is_new)
            found->second = (who.starts_with("program") ? "P" : "N") + who.substr(who.size() - 1);
        return found->second;
    };
    for (const auto& [from, to, label] : arrows) {
        if (to.empty()) {
            body += "    Note over " + name(from) + ": " + as_label(label) + "\n";
        } else {
            const auto sender = name(from);
            body += "    " + sender + "->>" + name(to) + ": " + as_label(label) + "\n";
        }
    }
    for (const auto& [who, short_name] : names)
        text.append("    participant ").append(short_name).append(" as ").append(who).append("\n");
    return text + body;
}

std::string make_page(const std::string& page, const Transcript& transcript) {
    return with_block(with_block(page, "mermaid", as_picture(transcript.arrows())), "text",
                      as_text(transcript.lines()));
}

}  // namespace mortise::conversations
