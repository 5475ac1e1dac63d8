#include "embed/http/request_guard.hpp"

#include <algorithm>
#include <charconv>
#include <system_error>
#include <utility>

#include <arpa/inet.h>

#include <mortise/errc.hpp>
#include <mortise/escaped.hpp>

namespace mortise::http {

std::string lower_case(std::string_view text) {
    std::string lower{text};
    std::ranges::transform(lower, lower.begin(), [](char each) {
        return each >= 'A' && each <= 'Z' ? static_cast<char>(each - 'A' + 'a') : each;
    });
    return lower;
}

std::size_t count(const httplib::Request& request, const char* header) {
    return request.get_header_value_count(header);
}

namespace {

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

bool is_loopback(std::string_view host) {
    const auto name = lower_case(without_port(host));
    return name == "localhost" || name == "[::1]" ||
           (is_ip_address(name) && name.starts_with("127."));
}

const Refusal& foreign() {
    static const Refusal refusal{403, "foreign_origin", "requests of other web sites are refused"};
    return refusal;
}

}  // namespace

OwnNames::OwnNames(const ListenAddress& address, std::vector<std::string> further)
    : who_{address.who}, is_any_{address.is_any()}, names_{std::move(further)} {
    for (auto& name : names_) {
        auto own = own_form(name);
        if (own.empty())
            throw std::system_error{Errc::invalid_argument,
                                    std::string{who_} + ": " + escaped(name) +
                                        " is not the name of a host, such as " + std::string{who_} +
                                        ".example"};
        name = std::move(own);
    }
    names_.insert(names_.end(), {"localhost", "127.0.0.1", "[::1]", address.bracketed()});
}

bool OwnNames::contain(std::string_view host) const {
    const auto name = lower_case(without_port(host));
    // An address is nothing that another site could have given a new meaning.
    return std::ranges::find(names_, name) != names_.end() || (is_any_ && is_ip_address(name));
}

bool has_body(const httplib::Request& request) {
    const auto length = request.get_header_value("Content-Length");
    return count(request, "Transfer-Encoding") != 0 || count(request, "Content-Length") > 1 ||
           (count(request, "Content-Length") == 1 && length != "0");
}

std::optional<Refusal> content_refusal(const httplib::Request& request, std::string_view what,
                                       std::size_t bytes_max) {
    const auto refused = [&](int status, std::string_view error, const std::string& reason) {
        return Refusal{status, error, std::string{what} + reason};
    };
    if (!lower_case(request.get_header_value("Content-Type")).starts_with("application/json"))
        return refused(415, "bad_content", " is application/json");
    if (count(request, "Transfer-Encoding") != 0 || count(request, "Content-Encoding") != 0 ||
        count(request, "Content-Length") != 1)
        return refused(411, "bad_content", " has a Content-Length, and no encoding");
    const auto length = request.get_header_value("Content-Length");
    std::size_t bytes = 0;
    const auto* const end = length.data() + length.size();
    const auto read = std::from_chars(length.data(), end, bytes);
    if (read.ec != std::errc{} || read.ptr != end || bytes > bytes_max)
        return refused(413, "too_large",
                       " has at most " + std::to_string(bytes_max >> 10U) + " KiB");
    return std::nullopt;
}

std::optional<Refusal> host_refusal(const httplib::Request& request, const OwnNames& names) {
    if (count(request, "Host") != 1 || request.get_header_value("Host").empty())
        return Refusal{400, "bad_host", "a request has one header Host"};
    if (names.contain(request.get_header_value("Host"))) return std::nullopt;
    return Refusal{403, "foreign_host",
                   "this " + std::string{names.who()} +
                       " is not reached under that name; its option `hosts`, and --" +
                       std::string{names.who()} + "-host, add names"};
}

std::optional<Refusal> origin_refusal(const httplib::Request& request, bool may_be_visited) {
    if (count(request, "Origin") > 1) return foreign();
    if (count(request, "Origin") == 1) {
        const auto origin = lower_case(request.get_header_value("Origin"));
        const auto host = lower_case(request.get_header_value("Host"));
        if (origin != "http://" + host && origin != "https://" + host) return foreign();
    }
    const auto site = request.get_header_value("Sec-Fetch-Site");
    const bool is_own = site.empty() || site == "same-origin" || site == "none";
    const bool is_visit =
        may_be_visited && request.get_header_value("Sec-Fetch-Mode") == "navigate";
    return is_own || is_visit ? std::nullopt : std::optional{foreign()};
}

std::optional<Refusal> referer_refusal(const httplib::Request& request) {
    if (count(request, "Referer") == 0) return std::nullopt;
    const auto page = lower_case(request.get_header_value("Referer"));
    const auto host = lower_case(request.get_header_value("Host"));
    for (const auto& own : {"http://" + host, "https://" + host}) {
        const bool is_own = page == own || page.starts_with(own + "/");
        if (is_own && count(request, "Referer") == 1) return std::nullopt;
    }
    return foreign();
}

std::optional<Refusal> silent_browser_refusal(const httplib::Request& request, const char* header) {
    if (is_loopback(request.get_header_value("Host")) || count(request, header) != 0)
        return std::nullopt;
    return Refusal{403, "foreign_origin",
                   "without TLS and tokens this needs the header `" + std::string{header} +
                       ": 1`, which no other web site can send"};
}

}  // namespace mortise::http
