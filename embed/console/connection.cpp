#include "embed/console/connection.hpp"

#include <algorithm>
#include <array>
#include <cerrno>
#include <string_view>

#include <poll.h>
#include <sys/socket.h>

#include "embed/console/request_head.hpp"

namespace mortise::console {

namespace {

using namespace std::chrono_literals;

constexpr std::string_view head_end = "\r\n\r\n";
constexpr std::size_t head_bytes_max = std::size_t{8} << 10U;
constexpr auto request_time = 5s;  // from its first byte to its last
constexpr auto send_time = 5s;     // for an answer, or for a part of a stream
constexpr auto linger_time = 200ms;

// Whether one of the events comes before the deadline.
bool wait_for(int socket, short events, Connection::Clock::time_point deadline) {
    for (;;) {
        const auto left =
            std::chrono::ceil<std::chrono::milliseconds>(deadline - Connection::Clock::now());
        pollfd poll{socket, events, 0};
        const int found = ::poll(&poll, 1, static_cast<int>(std::max(left, 0ms).count()));
        if (found > 0) return true;
        if (found == 0 || errno != EINTR) return false;
    }
}

bool would_block(ssize_t result) {
    return result < 0 && (errno == EAGAIN || errno == EWOULDBLOCK || errno == EINTR);
}

}  // namespace

void Connection::enter(Phase phase) noexcept {
    if (phase_.exchange(phase) == phase) return;
    since_ = Clock::now().time_since_epoch().count();
}

bool Connection::receive(Clock::time_point deadline) {
    std::array<char, 4096> bytes{};
    for (;;) {
        const auto got = ::recv(socket_.number(), bytes.data(), bytes.size(), MSG_DONTWAIT);
        if (got > 0) {
            buffer_.append(bytes.data(), static_cast<std::size_t>(got));
            return true;
        }
        if (!would_block(got) || !wait_for(socket_.number(), POLLIN, deadline)) return false;
    }
}

Connection::Head Connection::read_head() {
    enter(Phase::waiting);
    buffer_.erase(0, read_);
    read_ = 0;
    if (buffer_.empty() && !receive(Clock::now() + idle_max)) return Head::gone;
    deadline_ = Clock::now() + request_time;
    for (std::size_t seen = 0;;) {
        const auto end = buffer_.find(head_end, seen);
        if (std::min(end, buffer_.size()) > head_bytes_max) return Head::too_large;
        if (end != std::string::npos) return admit_head(end + head_end.size());
        seen = buffer_.size() < 3 ? 0 : buffer_.size() - 3;
        if (receive(deadline_)) continue;
        return Clock::now() >= deadline_ ? Head::too_slow : Head::gone;
    }
}

Connection::Head Connection::admit_head(std::size_t end) {
    const auto shown = admitted_head(std::string_view{buffer_}.substr(0, end));
    if (!shown) return Head::malformed;
    buffer_.replace(0, end, *shown);
    return Head::complete;
}

void Connection::linger() noexcept {
    ::shutdown(socket_.number(), SHUT_WR);
    const auto deadline = Clock::now() + linger_time;
    std::array<char, 4096> bytes{};
    while (wait_for(socket_.number(), POLLIN, deadline)) {
        const auto got = ::recv(socket_.number(), bytes.data(), bytes.size(), MSG_DONTWAIT);
        if (!would_block(got) && got <= 0) return;
        if (Clock::now() >= deadline) return;
    }
}

void Connection::shut_down() noexcept {
    ::shutdown(socket_.number(), SHUT_RDWR);
}

bool Connection::is_writable() const {
    pollfd poll{socket_.number(), POLLOUT | POLLRDHUP, 0};
    return ::poll(&poll, 1, 0) >= 0 && (poll.revents & (POLLRDHUP | POLLHUP | POLLERR)) == 0;
}

ssize_t Connection::read(char* bytes, std::size_t size) {
    if (read_ == buffer_.size() && !receive(deadline_)) return -1;
    const auto taken = buffer_.copy(bytes, size, read_);
    read_ += taken;
    return static_cast<ssize_t>(taken);
}

ssize_t Connection::write(const char* bytes, std::size_t size) {
    if (phase_ != Phase::streaming && phase_ != Phase::sending) {
        enter(Phase::sending);
        deadline_ = Clock::now() + send_time;
    }
    const auto deadline = phase_ == Phase::streaming ? Clock::now() + send_time : deadline_;
    for (;;) {
        const auto sent = ::send(socket_.number(), bytes, size, MSG_NOSIGNAL | MSG_DONTWAIT);
        if (sent >= 0) return sent;
        if (!would_block(sent) || !wait_for(socket_.number(), POLLOUT, deadline)) return -1;
    }
}

// Nobody asks: who may do what does not depend on addresses.
void Connection::get_remote_ip_and_port(std::string& ip, int& port) const {
    ip.clear();
    port = 0;
}

void Connection::get_local_ip_and_port(std::string& ip, int& port) const {
    ip.clear();
    port = 0;
}

}  // namespace mortise::console
