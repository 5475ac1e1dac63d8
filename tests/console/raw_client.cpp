#include "tests/console/raw_client.hpp"

#include <algorithm>
#include <array>
#include <cerrno>
#include <charconv>
#include <stdexcept>

#include <arpa/inet.h>
#include <netinet/in.h>
#include <poll.h>
#include <sys/socket.h>
#include <unistd.h>

namespace mortise::tests {

namespace {

using Clock = std::chrono::steady_clock;

bool is_readable_until(int socket, Clock::time_point end) {
    const auto left = std::chrono::ceil<std::chrono::milliseconds>(end - Clock::now()).count();
    pollfd poll{socket, POLLIN, 0};
    return ::poll(&poll, 1, static_cast<int>(std::max<std::int64_t>(left, 0))) == 1;
}

}  // namespace

RawClient::RawClient(std::uint16_t port) : socket_{::socket(AF_INET, SOCK_STREAM, 0)} {
    sockaddr_in address{};
    address.sin_family = AF_INET;
    address.sin_port = htons(port);
    address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
    const auto* const place = reinterpret_cast<const sockaddr*>(&address);
    if (::connect(socket_, place, sizeof address) != 0)
        throw std::runtime_error{"cannot connect with the console"};
}

RawClient::~RawClient() {
    ::close(socket_);
}

bool RawClient::send(std::string_view bytes) {
    while (!bytes.empty()) {
        const auto sent = ::send(socket_, bytes.data(), bytes.size(), MSG_NOSIGNAL);
        if (sent <= 0) return false;
        bytes.remove_prefix(static_cast<std::size_t>(sent));
    }
    return true;
}

std::string RawClient::read_until(std::string_view text, std::chrono::milliseconds wait_max) {
    const auto end = Clock::now() + wait_max;
    std::array<char, 65'536> bytes{};
    while (text.empty() || read_.find(text) == std::string::npos) {
        if (!is_readable_until(socket_, end)) break;
        const auto got = ::recv(socket_, bytes.data(), bytes.size(), 0);
        if (got <= 0) break;
        read_.append(bytes.data(), static_cast<std::size_t>(got));
    }
    return read_;
}

bool RawClient::is_closed_within(std::chrono::milliseconds time) {
    const auto end = Clock::now() + time;
    std::array<char, 4096> bytes{};
    while (is_readable_until(socket_, end)) {
        if (::recv(socket_, bytes.data(), bytes.size(), 0) <= 0) return true;
    }
    return false;
}

Reply reply_of(const std::string& bytes) {
    Reply reply;
    const auto end = bytes.find("\r\n\r\n");
    constexpr std::string_view beginning = "HTTP/1.1 ";
    if (end == std::string::npos || !bytes.starts_with(beginning)) return reply;
    std::from_chars(bytes.data() + beginning.size(), bytes.data() + end, reply.status);
    reply.head = bytes.substr(0, end + 2);
    reply.body = bytes.substr(end + 4);
    return reply;
}

Reply ask_as(std::uint16_t port, std::string_view request_line, std::string_view lines,
             std::string_view body) {
    RawClient client{port};
    client.send(std::string{request_line} + " HTTP/1.1\r\n" + std::string{lines} + "\r\n" +
                std::string{body});
    return reply_of(client.read_all());
}

Reply ask(std::uint16_t port, std::string_view method, std::string_view target,
          std::string_view more, std::string_view body) {
    auto lines =
        "Host: 127.0.0.1:" + std::to_string(port) + "\r\nConnection: close\r\n" + std::string{more};
    if (!body.empty()) lines += "Content-Length: " + std::to_string(body.size()) + "\r\n";
    return ask_as(port, std::string{method} + " " + std::string{target}, lines, body);
}

}  // namespace mortise::tests
