#include "embed/console/request_guard.hpp"

#include <algorithm>
#include <charconv>
#include <system_error>
#include <utility>

#include <arpa/inet.h>

#include <mortise/errc.hpp>
#include <mortise/escaped.hpp>

namespace mortise::console {

namespace {

std::string lower_case(std::string_view text) {
    std::string lower{text};
    std::ranges::transform(lower, lower.begin(), [](char each) {
        return each >= 'A' && each <= 'Z' ? static_cast<char>(each - 'A' + 'a') : each;
    });
    return lower;
}

// Without the port; the brackets of an address stay.
std::string_view without_port(std::string_view host) {
    const auto end = host.starts_with('[') ? host.find(']') : host.find(':');
    if (end == std::string_view::npos) return host;
    return host.substr(0, host.starts_with('[') ? end + 1 : end);
}

bool is_ip_address(std::string_view host) {
    in6_addr ignored{};
    std::string text{host};
    const bool is_bracketed = text.size() > 2 && text.front() == '[' && text.back() == ']';
    if (is_bracketed)
        return ::inet_pton(AF_INET6, text.substr(1, text.size() - 2).c_str(), &ignored) == 1;
    return ::inet_pton(AF_INET, text.c_str(), &ignored) == 1;
}

// ":8080"
bool is_port(std::string_view text) {
    const auto is_digit = [](char each) { return each >= '0' && each <= '9'; };
    return text.size() > 1 && text[0] == ':' && std::ranges::all_of(text.substr(1), is_digit);
}

std::size_t count(const httplib::Request& request, const char* header) {
    return request.get_header_value_count(header);
}

// A body that somebody sends along with a read would be taken for the next request.
bool has_body(const httplib::Request& request) {
    const auto length = request.get_header_value("Content-Length");
    return count(request, "Transfer-Encoding") != 0 || count(request, "Content-Length") > 1 ||
           (!length.empty() && length != "0");
}

std::optional<Refusal> host_refusal(const httplib::Request& request, const OwnNames& names) {
    if (count(request, "Host") != 1)
        return Refusal{400, "bad_host", "a request has one header Host"};
    if (names.contain(request.get_header_value("Host"))) return std::nullopt;
    return Refusal{403, "foreign_host",
                   "this console is not reached under that name; ConsoleOptions::hosts and "
                   "--console-host add names"};
}

// Browsers say where a request comes from; other programs say nothing.
std::optional<Refusal> origin_refusal(const httplib::Request& request) {
    const Refusal foreign{403, "foreign_origin", "requests of other web sites are refused"};
    if (count(request, "Origin") > 1) return foreign;
    if (count(request, "Origin") == 1) {
        const auto origin = lower_case(request.get_header_value("Origin"));
        const auto host = lower_case(request.get_header_value("Host"));
        if (origin != "http://" + host && origin != "https://" + host) return foreign;
    }
    const auto site = request.get_header_value("Sec-Fetch-Site");
    const bool is_own = site.empty() || site == "same-origin" || site == "none";
    // A link on another page may lead to this one.
    const bool is_visit = request.method == "GET" && request.path == "/" &&
                          request.get_header_value("Sec-Fetch-Mode") == "navigate";
    return is_own || is_visit ? std::nullopt : std::optional{foreign};
}

bool is_host_name(std::string_view lower) {
    return !lower.empty() && std::ranges::all_of(lower, [](char each) {
        return (each >= '0' && each <= '9') || (each >= 'a' && each <= 'z') || each == '-' ||
               each == '.' || each == '_';
    });
}

// Returns the host in the form that browsers send in the header Host, without a port, because a
// proxy may have any port. Returns an empty text if no browser could send it.
std::string own_form(std::string_view given) {
    const auto bracketed = "[" + std::string{given} + "]";
    if (is_ip_address(bracketed)) return lower_case(bracketed);
    auto name = lower_case(without_port(given));
    const auto rest = given.substr(name.size());
    const bool is_sound =
        (rest.empty() || is_port(rest)) && (is_host_name(name) || is_ip_address(name));
    return is_sound ? name : std::string{};
}

}  // namespace

OwnNames::OwnNames(const ListenAddress& address, std::vector<std::string> further)
    : is_any_{address.is_any()}, names_{std::move(further)} {
    for (auto& name : names_) {
        auto own = own_form(name);
        if (own.empty())
            throw std::system_error{Errc::invalid_argument,
                                    "console: " + escaped(name) +
                                        " is not the name of a host, such as console.example"};
        name = std::move(own);
    }
    names_.insert(names_.end(), {"localhost", "127.0.0.1", "[::1]", address.bracketed()});
}

bool OwnNames::contain(std::string_view host) const {
    const auto name = lower_case(without_port(host));
    // An address is nothing that another site could have given a new meaning.
    return std::ranges::find(names_, name) != names_.end() || (is_any_ && is_ip_address(name));
}

std::optional<Refusal> refusal(const httplib::Request& request, const OwnNames& names) {
    const bool is_read = request.method == "GET" || request.method == "HEAD";
    if (!is_read && request.method != "POST")
        return Refusal{405, "bad_method", "the console knows GET, HEAD, and POST for a break"};
    if (auto foreign = host_refusal(request, names)) return foreign;
    if (auto foreign = origin_refusal(request)) return foreign;
    if (is_read && has_body(request)) return Refusal{400, "bad_request", "a read has no body"};
    return std::nullopt;
}

std::optional<Refusal> change_refusal(const httplib::Request& request) {
    // Without a preflight request, to which the console does not agree, no page of another site can
    // send this header, nor this type of content.
    if (request.get_header_value("Mortise-Console") != "break")
        return Refusal{403, "header_missing", "a break has the header Mortise-Console: break"};
    if (lower_case(request.get_header_value("Content-Type")).rfind("application/json", 0) != 0)
        return Refusal{415, "bad_content", "a break is application/json"};
    if (count(request, "Transfer-Encoding") != 0 || count(request, "Content-Encoding") != 0 ||
        count(request, "Content-Length") != 1)
        return Refusal{411, "bad_content", "a break has a Content-Length, and no encoding"};
    const auto length = request.get_header_value("Content-Length");
    std::size_t bytes = 0;
    const auto* const end = length.data() + length.size();
    const auto read = std::from_chars(length.data(), end, bytes);
    if (read.ec != std::errc{} || read.ptr != end || bytes > body_bytes_max)
        return Refusal{413, "too_large", "a break has at most 8 KiB"};
    return std::nullopt;
}

}  // namespace mortise::console
