#include "tools/mortise/doctor/reach.hpp"

#include <algorithm>
#include <array>
#include <cerrno>
#include <cstring>
#include <iterator>
#include <memory>
#include <span>
#include <system_error>

#include <arpa/inet.h>
#include <ifaddrs.h>
#include <netdb.h>
#include <poll.h>
#include <unistd.h>

namespace mortise::cli {

namespace {

const sockaddr_in* v4_of(const sockaddr* address) {
    if (address == nullptr || address->sa_family != AF_INET) return nullptr;
    return reinterpret_cast<const sockaddr_in*>(address);
}

const sockaddr_in6* v6_of(const sockaddr* address) {
    if (address == nullptr || address->sa_family != AF_INET6) return nullptr;
    return reinterpret_cast<const sockaddr_in6*>(address);
}

bool is_same_host(const sockaddr* a, const sockaddr* b) {
    if (const auto* v4 = v4_of(a)) {
        const auto* other = v4_of(b);
        return other != nullptr && v4->sin_addr.s_addr == other->sin_addr.s_addr;
    }
    const auto* v6 = v6_of(a);
    const auto* other = v6_of(b);
    return v6 != nullptr && other != nullptr &&
           std::memcmp(&v6->sin6_addr, &other->sin6_addr, sizeof v6->sin6_addr) == 0;
}

std::string words_of(int number) {
    return std::generic_category().message(number);
}

Reach kind_of(int number) {
    switch (number) {
        case 0: return Reach::connected;
        case ECONNREFUSED: return Reach::refused;
        case ENETUNREACH:
        case EHOSTUNREACH:
        case ENETDOWN:
        case EHOSTDOWN: return Reach::no_route;
        case ETIMEDOUT: return Reach::silent;
        default: return Reach::failed;
    }
}

// The system may connect a socket with itself, if nothing listens on a port of this machine.
bool is_its_own_peer(int socket) {
    Endpoint here;
    Endpoint there;
    here.size = there.size = sizeof(sockaddr_storage);
    auto* const ours = reinterpret_cast<sockaddr*>(&here.address);
    auto* const theirs = reinterpret_cast<sockaddr*>(&there.address);
    if (::getsockname(socket, ours, &here.size) != 0) return false;
    if (::getpeername(socket, theirs, &there.size) != 0) return false;
    return here.size == there.size && std::memcmp(&here.address, &there.address, here.size) == 0;
}

// Several attempts to connect. Each has an errno in the end: 0 if it is connected, ETIMEDOUT if
// nothing came.
class Attempts {
public:
    explicit Attempts(std::span<const Endpoint> endpoints) {
        for (const auto& endpoint : endpoints)
            begin(endpoint);
    }
    ~Attempts() {
        for (const auto& each : sockets_)
            if (each.fd >= 0) ::close(each.fd);
    }
    Attempts(const Attempts&) = delete;
    Attempts& operator=(const Attempts&) = delete;

    std::vector<int> await(std::chrono::milliseconds patience) {
        const auto end = std::chrono::steady_clock::now() + patience;
        auto left = patience;
        while (is_any_open() && left.count() > 0) {
            const int ready =
                ::poll(sockets_.data(), sockets_.size(), static_cast<int>(left.count()));
            if (ready < 0 && errno != EINTR) break;
            if (ready > 0) take_results();
            left = std::chrono::ceil<std::chrono::milliseconds>(end -
                                                                std::chrono::steady_clock::now());
        }
        return numbers_;
    }

private:
    void begin(const Endpoint& endpoint) {
        const int socket =
            ::socket(endpoint.get()->sa_family, SOCK_STREAM | SOCK_NONBLOCK | SOCK_CLOEXEC, 0);
        int number = socket < 0 ? errno : ETIMEDOUT;
        if (socket >= 0 && ::connect(socket, endpoint.get(), endpoint.size) != 0 &&
            errno != EINPROGRESS)
            number = errno;
        sockets_.push_back({socket, POLLOUT, 0});
        numbers_.push_back(number);
        if (number != ETIMEDOUT) end(sockets_.back());
    }
    // poll() passes over it from now on.
    static void end(pollfd& socket) {
        if (socket.fd >= 0) ::close(socket.fd);
        socket = {-1, 0, 0};
    }
    [[nodiscard]] bool is_any_open() const {
        return std::ranges::any_of(sockets_, [](const pollfd& each) { return each.fd >= 0; });
    }
    void take_results() {
        for (std::size_t i = 0; i < sockets_.size(); ++i) {
            auto& socket = sockets_[i];
            if (socket.fd < 0 || socket.revents == 0) continue;
            numbers_[i] = result_of(socket.fd);
            end(socket);
        }
    }
    static int result_of(int socket) {
        int number = 0;
        socklen_t size = sizeof number;
        if (::getsockopt(socket, SOL_SOCKET, SO_ERROR, &number, &size) != 0) return errno;
        return number == 0 && is_its_own_peer(socket) ? ECONNREFUSED : number;
    }

    std::vector<pollfd> sockets_;
    std::vector<int> numbers_;  // as many
};

}  // namespace

HostAndPort split_address(const std::string& address) {
    const auto colon = address.rfind(':');
    auto host = address.substr(0, colon);
    if (host.size() > 1 && host.front() == '[' && host.back() == ']')
        host = host.substr(1, host.size() - 2);
    return {host, colon == std::string::npos ? std::string{} : address.substr(colon + 1)};
}

bool Endpoint::is_loopback() const {
    constexpr unsigned loopback_net = 127;
    if (const auto* v4 = v4_of(get())) return ntohl(v4->sin_addr.s_addr) >> 24U == loopback_net;
    const auto* v6 = v6_of(get());
    return v6 != nullptr && IN6_IS_ADDR_LOOPBACK(&v6->sin6_addr);
}

bool Endpoint::is_wildcard() const {
    if (const auto* v4 = v4_of(get())) return v4->sin_addr.s_addr == INADDR_ANY;
    const auto* v6 = v6_of(get());
    return v6 != nullptr && IN6_IS_ADDR_UNSPECIFIED(&v6->sin6_addr);
}

bool Endpoint::is_of_this_machine() const {
    ifaddrs* list = nullptr;
    if (is_loopback() || ::getifaddrs(&list) != 0) return true;
    const std::unique_ptr<ifaddrs, decltype(&::freeifaddrs)> interfaces{list, &::freeifaddrs};
    for (const auto* each = list; each != nullptr; each = each->ifa_next) {
        if (is_same_host(each->ifa_addr, get())) return true;
    }
    return false;
}

std::string Endpoint::to_string() const {
    std::array<char, INET6_ADDRSTRLEN> text{};
    const auto* v4 = v4_of(get());
    const auto* v6 = v6_of(get());
    const void* const bytes = v4 != nullptr   ? static_cast<const void*>(&v4->sin_addr)
                              : v6 != nullptr ? static_cast<const void*>(&v6->sin6_addr)
                                              : nullptr;
    if (bytes == nullptr) return "?";
    ::inet_ntop(get()->sa_family, bytes, text.data(), text.size());
    return text.data();
}

Resolved resolve(const std::string& address) {
    const auto [host, port] = split_address(address);
    addrinfo hints{};
    hints.ai_socktype = SOCK_STREAM;
    hints.ai_flags = AI_NUMERICSERV;
    addrinfo* list = nullptr;
    const int failed = ::getaddrinfo(host.c_str(), port.c_str(), &hints, &list);
    if (failed != 0) return {{}, failed == EAI_SYSTEM ? words_of(errno) : ::gai_strerror(failed)};
    const std::unique_ptr<addrinfo, decltype(&::freeaddrinfo)> found{list, &::freeaddrinfo};
    Resolved resolved;
    for (const auto* each = list; each != nullptr; each = each->ai_next) {
        Endpoint endpoint;
        std::memcpy(&endpoint.address, each->ai_addr, each->ai_addrlen);
        endpoint.size = each->ai_addrlen;
        resolved.endpoints.push_back(endpoint);
    }
    return resolved;
}

Reached reach(const Resolved& resolved, std::chrono::milliseconds patience) {
    if (resolved.endpoints.empty()) return {Reach::unresolved, resolved.problem};
    // A name may have any number of addresses.
    constexpr std::size_t at_once_max = 16;
    std::vector<int> numbers;
    for (std::span<const Endpoint> left{resolved.endpoints}; !left.empty();) {
        const auto some = left.first(std::min(left.size(), at_once_max));
        std::ranges::copy(Attempts{some}.await(patience), std::back_inserter(numbers));
        left = left.subspan(some.size());
    }
    Reached reached{Reach::failed, {}, {}};
    for (std::size_t i = 0; i < numbers.size(); ++i) {
        const int number = numbers[i];
        if (kind_of(number) == Reach::silent)
            reached.silent.push_back(resolved.endpoints[i].to_string());
        if (reached.how == Reach::connected) continue;
        reached.how = kind_of(number);
        reached.detail = number == 0 ? std::string{} : words_of(number);
    }
    if (reached.how != Reach::connected) reached.silent.clear();
    return reached;
}

}  // namespace mortise::cli
