#include "embed/http/listen_address.hpp"

#include <cerrno>
#include <charconv>
#include <cstring>
#include <optional>
#include <system_error>
#include <utility>

#include <arpa/inet.h>
#include <netinet/in.h>
#include <sys/socket.h>

#include <mortise/errc.hpp>
#include <mortise/escaped.hpp>

namespace mortise::http {

namespace {

constexpr int backlog = 128;

[[noreturn]] void malformed(std::string_view text, std::string_view who) {
    const std::string port = who == "http" ? ":7481" : ":7480";
    throw std::system_error{Errc::invalid_argument,
                            std::string{who} + ": \"" + escaped(text) +
                                "\" is not ADDRESS:PORT, such as 127.0.0.1" + port + " or [::1]" +
                                port + ", where ADDRESS is an IP address or localhost"};
}

std::optional<std::uint16_t> port_of(std::string_view text) {
    std::uint16_t port = 0;
    const auto* const end = text.data() + text.size();
    const auto read = std::from_chars(text.data(), end, port);
    if (read.ec != std::errc{} || read.ptr != end) return std::nullopt;
    return port;
}

// The text of an address in its usual form; empty if it is none.
std::string normal_form(const std::string& text) {
    in_addr v4{};
    in6_addr v6{};
    char form[INET6_ADDRSTRLEN] = {};
    const bool is_v4 = ::inet_pton(AF_INET, text.c_str(), &v4) == 1;
    if (is_v4) return ::inet_ntop(AF_INET, &v4, form, sizeof form);
    if (::inet_pton(AF_INET6, text.c_str(), &v6) != 1) return {};
    return ::inet_ntop(AF_INET6, &v6, form, sizeof form);
}

struct SocketAddress {
    sockaddr_storage storage{};
    socklen_t size = 0;

    explicit SocketAddress(const ListenAddress& address) {
        if (address.is_v6()) {
            sockaddr_in6 v6{};
            v6.sin6_family = AF_INET6;
            v6.sin6_port = htons(address.port);
            ::inet_pton(AF_INET6, address.host.c_str(), &v6.sin6_addr);
            std::memcpy(&storage, &v6, size = sizeof v6);
        } else {
            sockaddr_in v4{};
            v4.sin_family = AF_INET;
            v4.sin_port = htons(address.port);
            ::inet_pton(AF_INET, address.host.c_str(), &v4.sin_addr);
            std::memcpy(&storage, &v4, size = sizeof v4);
        }
    }
    [[nodiscard]] const sockaddr* get() const {
        return reinterpret_cast<const sockaddr*>(&storage);
    }
    [[nodiscard]] sockaddr* get() { return reinterpret_cast<sockaddr*>(&storage); }
    // The port has the same place in both.
    [[nodiscard]] std::uint16_t port() const {
        sockaddr_in v4{};
        std::memcpy(&v4, &storage, sizeof v4);
        return ntohs(v4.sin_port);
    }
};

[[noreturn]] void cannot_listen(const ListenAddress& address) {
    throw std::system_error{errno, std::system_category(),
                            std::string{address.who} + ": cannot listen on " + address.to_string()};
}

}  // namespace

ListenAddress ListenAddress::parse(std::string_view text, std::string_view who) {
    const auto colon = text.rfind(':');
    if (colon == std::string_view::npos) malformed(text, who);
    std::string host{text.substr(0, colon)};
    const auto port = port_of(text.substr(colon + 1));
    const bool is_bracketed = host.size() > 2 && host.front() == '[' && host.back() == ']';
    if (is_bracketed) host = host.substr(1, host.size() - 2);
    if (host == "localhost") host = "127.0.0.1";
    ListenAddress address{normal_form(host), port.value_or(0), who};
    if (!port || address.host.empty() || address.is_v6() != is_bracketed) malformed(text, who);
    return address;
}

bool ListenAddress::is_loopback() const {
    return host == "::1" || (!is_v6() && host.starts_with("127."));
}

Descriptor listen_on(ListenAddress& address) {
    const int family = address.is_v6() ? AF_INET6 : AF_INET;
    Descriptor socket{::socket(family, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0)};
    if (!socket) cannot_listen(address);
    const int yes = 1;
    ::setsockopt(socket.number(), SOL_SOCKET, SO_REUSEADDR, &yes, sizeof yes);
    if (address.is_v6()) ::setsockopt(socket.number(), IPPROTO_IPV6, IPV6_V6ONLY, &yes, sizeof yes);
    SocketAddress place{address};
    if (::bind(socket.number(), place.get(), place.size) != 0) cannot_listen(address);
    if (::listen(socket.number(), backlog) != 0) cannot_listen(address);
    if (::getsockname(socket.number(), place.get(), &place.size) != 0) cannot_listen(address);
    address.port = place.port();
    return socket;
}

}  // namespace mortise::http
