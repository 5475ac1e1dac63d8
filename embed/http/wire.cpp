#include "embed/http/wire.hpp"

#include <cerrno>

#include <poll.h>
#include <sys/socket.h>

namespace mortise::http {

namespace {

bool would_block() {
    return errno == EAGAIN || errno == EWOULDBLOCK || errno == EINTR;
}

}  // namespace

ssize_t Wire::receive(char* bytes, std::size_t size) {
    const auto got = ::recv(number(), bytes, size, MSG_DONTWAIT);
    if (got > 0) return got;
    return got < 0 && would_block() ? wants_read : ended;
}

ssize_t Wire::send(const char* bytes, std::size_t size) {
    const auto sent = ::send(number(), bytes, size, MSG_NOSIGNAL | MSG_DONTWAIT);
    if (sent >= 0) return sent;
    return would_block() ? wants_write : ended;
}

void Wire::end_sending() noexcept {
    ::shutdown(number(), SHUT_WR);
}

void Wire::shut_down() const noexcept {
    ::shutdown(number(), SHUT_RDWR);
}

bool wait_for(const Wire& wire, ssize_t wanted, int milliseconds_max) noexcept {
    const short events = wanted == Wire::wants_write ? POLLOUT : POLLIN;
    pollfd poll{wire.number(), events, 0};
    const int found = ::poll(&poll, 1, milliseconds_max);
    return found > 0 || (found < 0 && errno == EINTR);
}

bool is_gone(const Wire& wire) noexcept {
    pollfd poll{wire.number(), POLLOUT | POLLRDHUP, 0};
    return ::poll(&poll, 1, 0) < 0 || (poll.revents & (POLLRDHUP | POLLHUP | POLLERR)) != 0;
}

}  // namespace mortise::http
