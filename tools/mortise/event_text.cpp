#include "tools/mortise/event_text.hpp"

#include <array>
#include <cstddef>
#include <string_view>

#include "tools/mortise/lock_text.hpp"
#include "tools/mortise/table.hpp"
#include <mortise/escaped.hpp>

namespace mortise::cli {

namespace {

// The widths are fixed, because what comes is not known yet.
constexpr std::array<std::size_t, 7> widths{24, 16, 24, 6, 10, 10, 24};
using Cells = std::array<std::string, 7>;

std::string row(const Cells& cells, const std::string& last) {
    std::string line;
    for (std::size_t i = 0; i < cells.size(); ++i) {
        const auto width = width_of(cells[i]);
        line += cells[i] + std::string(width < widths[i] ? widths[i] - width : 1, ' ');
    }
    line += last;
    line.erase(line.find_last_not_of(' ') + 1);
    return line;
}

std::string position_of(const Event& event) {
    return event.position.is_set() ? event.position.to_string() : "-";
}

std::string node_of(const HolderInfo& holder) {
    return holder.node == 0 ? "-" : std::to_string(holder.node);
}

std::string held(const Event& event, std::string_view what, const HolderInfo& holder,
                 const std::string& more) {
    const bool is_set = holder.token.raw() != 0;
    return row({position_of(event), std::string{what}, escaped_name(event.name), node_of(holder),
                is_set ? holder.token.to_string() : "-",
                is_set ? std::string{to_string(holder.mode)} : "-", from_text(holder.origin)},
               more) +
           "\n";
}

// That of a leader is told by the token of its holder, which is the writer or the only one.
std::string value_of(const Event& event) {
    LockInfo lock;
    lock.value = event.value;
    lock.holders = event.holders;
    if (event.holder.token.is_set()) lock.holders = {event.holder};
    return value_text(lock);
}

std::string state_text(const Event& event) {
    std::string text;
    for (const auto& holder : event.holders)
        text += held(event, "holds", holder, escaped(holder.label));
    if (event.value) text += held(event, "has", {}, value_of(event));
    if (text.empty()) text = held(event, "free", {}, "");
    return text;
}

std::string more_of(const Event& event) {
    if (event.kind == Event::Kind::released) {
        const auto label = escaped(event.holder.label);
        return std::string{to_string(event.how)} + (label.empty() ? "" : ", " + label);
    }
    if (event.kind == Event::Kind::value_set && event.value) return value_of(event);
    return escaped(event.holder.label);
}

}  // namespace

std::string event_titles(bool bold) {
    const auto line =
        row({"POSITION", "EVENT", "NAME", "NODE", "TOKEN", "MODE", "FROM"}, "LABEL OR VALUE");
    return bold ? "\x1b[1m" + line + "\x1b[0m\n" : line + "\n";
}

std::string text_of(const Event& event) {
    switch (event.kind) {
        case Event::Kind::gap:
            return row({"-", "gap", "", "", "", "", ""},
                       "what was shown before may be old; the present state follows") +
                   "\n";
        case Event::Kind::state: return state_text(event);
        case Event::Kind::state_complete:
            return row({position_of(event), "state_complete", "", "", "", "", ""}, "") + "\n";
        default: return held(event, to_string(event.kind), event.holder, more_of(event));
    }
}

}  // namespace mortise::cli
