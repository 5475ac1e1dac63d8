#include "embed/http/request_head.hpp"

#include <algorithm>
#include <array>

#include <strings.h>

namespace mortise::http {

namespace {

constexpr std::string_view line_end = "\r\n";

// Those that request_guard.cpp and the APIs look at, and three for httplib: how the answer is
// encoded, whether the connection goes on, and whether the client waits before it sends a body.
constexpr std::array<std::string_view, 16> admitted{
    "Accept-Encoding", "Authorization", "Connection",      "Content-Encoding",
    "Content-Length",  "Content-Type",  "Expect",          "Host",
    "Idempotency-Key", "Last-Event-ID", "Mortise-Console", "Mortise-Http",
    "Origin",          "Referer",       "Sec-Fetch-Mode",  "Sec-Fetch-Site"};
// What it means for the length of a request must not be lost: it is refused later.
constexpr std::string_view refused_later = "Transfer-Encoding";

bool is_same(std::string_view one, std::string_view other) {
    return one.size() == other.size() && ::strncasecmp(one.data(), other.data(), one.size()) == 0;
}

bool is_admitted(std::string_view name) {
    return is_same(name, refused_later) ||
           std::ranges::any_of(admitted, [&](auto each) { return is_same(name, each); });
}

// Not even in a value: what another program takes for the end of a line would begin a new header.
bool is_control(char each) {
    const auto byte = static_cast<unsigned char>(each);
    return (byte < 0x20 && each != '\t') || byte == 0x7f;
}

// httplib ignores a header without a value. Another program may read it as a length, and a client
// may believe that it has sent a key.
bool lacks_value(std::string_view line) {
    const auto colon = line.find(':');
    const auto name = line.substr(0, colon);
    return (is_same(name, "Content-Length") || is_same(name, refused_later) ||
            is_same(name, "Idempotency-Key")) &&
           line.find_first_not_of(" \t", colon + 1) == std::string_view::npos;
}

// The first line of `rest`, without its end, which is removed from there.
std::string_view take_line(std::string_view& rest) {
    const auto line = rest.substr(0, rest.find(line_end));
    rest.remove_prefix(std::min(line.size() + line_end.size(), rest.size()));
    return line;
}

}  // namespace

std::optional<std::string> admitted_head(std::string_view head) {
    const auto request = take_line(head);
    if (std::ranges::any_of(request, is_control)) return std::nullopt;
    std::string shown{request};
    shown += line_end;
    for (auto line = take_line(head); !line.empty(); line = take_line(head)) {
        const auto name = line.substr(0, line.find(':'));
        if (name.empty() || name.size() == line.size() || std::ranges::any_of(line, is_control) ||
            name.find_first_of(" \t") != std::string_view::npos || lacks_value(line))
            return std::nullopt;
        if (!is_admitted(name)) continue;
        shown += line;
        shown += line_end;
    }
    shown += line_end;
    return shown;
}

}  // namespace mortise::http
