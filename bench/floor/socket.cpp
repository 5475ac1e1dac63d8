#include "bench/floor/socket.hpp"

#include <cerrno>
#include <system_error>
#include <type_traits>

#include <arpa/inet.h>
#include <netinet/tcp.h>
#include <sys/socket.h>
#include <unistd.h>

namespace mortise::bench {

namespace {

[[noreturn]] void fail(const char* what) {
    throw std::system_error{errno, std::system_category(), what};
}

int open_socket() {
    const int descriptor = ::socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
    if (descriptor < 0) fail("socket");
    return descriptor;
}

sockaddr_in loopback(std::uint16_t port) {
    sockaddr_in address{};
    address.sin_family = AF_INET;
    address.sin_port = htons(port);
    address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
    return address;
}

// The calls of the system take any kind of address.
template <class Address>
auto* any(Address& address) {
    using Any = std::conditional_t<std::is_const_v<Address>, const sockaddr, sockaddr>;
    return reinterpret_cast<Any*>(&address);
}

void send_at_once(int descriptor) {
    const int on = 1;
    if (::setsockopt(descriptor, IPPROTO_TCP, TCP_NODELAY, &on, sizeof on) != 0)
        fail("TCP_NODELAY");
}

}  // namespace

Socket::~Socket() {
    if (descriptor_ >= 0) ::close(descriptor_);
}

Socket Socket::connect_to(std::uint16_t port) {
    Socket socket{open_socket()};
    const auto address = loopback(port);
    if (::connect(socket.descriptor_, any(address), sizeof address) != 0) fail("connect");
    send_at_once(socket.descriptor_);
    return socket;
}

void Socket::send(std::span<const char> bytes) {
    while (!bytes.empty()) {
        const auto sent = ::send(descriptor_, bytes.data(), bytes.size(), MSG_NOSIGNAL);
        if (sent < 0) fail("send");
        bytes = bytes.subspan(static_cast<std::size_t>(sent));
    }
}

std::size_t Socket::receive(std::span<char> bytes) {
    const auto got = ::recv(descriptor_, bytes.data(), bytes.size(), 0);
    if (got < 0) fail("receive");
    return static_cast<std::size_t>(got);
}

void Socket::end() {
    if (::shutdown(descriptor_, SHUT_WR) != 0) fail("shutdown");
}

Listener::Listener() : descriptor_{open_socket()} {
    const auto address = loopback(0);
    if (::bind(descriptor_, any(address), sizeof address) != 0) fail("bind");
    if (::listen(descriptor_, 2) != 0) fail("listen");
}

Listener::~Listener() {
    ::close(descriptor_);
}

std::uint16_t Listener::port() const {
    sockaddr_in address{};
    socklen_t size = sizeof address;
    if (::getsockname(descriptor_, any(address), &size) != 0) fail("getsockname");
    return ntohs(address.sin_port);
}

Socket Listener::accept() {
    Socket socket{::accept4(descriptor_, nullptr, nullptr, SOCK_CLOEXEC)};
    if (socket.descriptor() < 0) fail("accept");
    send_at_once(socket.descriptor());
    return socket;
}

}  // namespace mortise::bench
