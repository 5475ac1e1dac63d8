#include "embed/door/routes.hpp"

#include <charconv>
#include <cstddef>
#include <utility>

namespace mortise::door {

namespace {

constexpr std::string_view rest_of_path = "{name}";
// Longer than those that the door gives out. httplib matches the path of a POST with a regular
// expression, which recurses once for each byte.
constexpr std::size_t part_bytes_max = 64;

// The part before the next slash, which is removed with it.
std::string_view take_part(std::string_view& path) {
    const auto slash = path.find('/');
    const auto part = path.substr(0, slash);
    path.remove_prefix(slash == std::string_view::npos ? path.size() : slash + 1);
    return part;
}

// Empty if the path is not that of the route.
std::optional<std::vector<std::string>> parts_of(std::string_view route, std::string_view path) {
    std::vector<std::string> parts;
    while (!route.empty() || !path.empty()) {
        const bool is_rest = route == rest_of_path;
        const auto wanted = take_part(route);
        const auto given = is_rest ? std::exchange(path, {}) : take_part(path);
        if (!wanted.starts_with('{')) {
            if (wanted != given) return std::nullopt;
            continue;
        }
        auto part = decoded(given);
        if (!part || part->empty()) return std::nullopt;
        if (!is_rest && part->size() > part_bytes_max) return std::nullopt;
        parts.push_back(*std::move(part));
    }
    return parts;
}

}  // namespace

std::optional<std::string> decoded(std::string_view text) {
    std::string bytes;
    for (std::size_t at = 0; at < text.size(); ++at) {
        if (text[at] != '%') {
            bytes += text[at];
            continue;
        }
        const auto digits = text.substr(at + 1, 2);
        unsigned char byte = 0;
        const auto* const end = digits.data() + digits.size();
        const auto read = std::from_chars(digits.data(), end, byte, 16);
        if (digits.size() != 2 || read.ec != std::errc{} || read.ptr != end) return std::nullopt;
        bytes += static_cast<char>(byte);
        at += 2;
    }
    return bytes;
}

std::optional<Found> find_route(std::string_view method, std::string_view target,
                                std::string& allowed) {
    const auto path = target.substr(0, target.find('?'));
    for (const auto& route : routes) {
        auto parts = parts_of(route.path, path);
        if (!parts) continue;
        if (route.method == method) return Found{route.act, *std::move(parts)};
        allowed += (allowed.empty() ? "" : ", ") + std::string{route.method};
    }
    return std::nullopt;
}

}  // namespace mortise::door
