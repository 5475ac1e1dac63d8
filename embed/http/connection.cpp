#include "embed/http/connection.hpp"

#include <algorithm>
#include <array>
#include <cerrno>
#include <string_view>

#include <sys/socket.h>

#include "embed/http/request_head.hpp"

namespace mortise::http {

namespace {

using namespace std::chrono_literals;

constexpr std::string_view head_end = "\r\n\r\n";
constexpr std::size_t head_bytes_max = std::size_t{8} << 10U;
constexpr auto request_time = 5s;  // from its first byte to its last
constexpr auto send_time = 5s;     // for an answer, or for a part of a stream
constexpr auto linger_time = 200ms;

// Whether what a call wanted comes before the deadline.
bool comes_before(const Wire& wire, ssize_t wanted, Connection::Clock::time_point deadline) {
    const auto left =
        std::chrono::ceil<std::chrono::milliseconds>(deadline - Connection::Clock::now());
    return wait_for(wire, wanted, static_cast<int>(std::max(left, 0ms).count())) &&
           Connection::Clock::now() < deadline + 1ms;
}

}  // namespace

void Connection::enter(Phase phase) noexcept {
    if (phase_.exchange(phase) == phase) return;
    since_ = Clock::now().time_since_epoch().count();
}

bool Connection::receive(Clock::time_point deadline) {
    std::array<char, 4096> bytes{};
    for (;;) {
        const auto got = wire_->receive(bytes.data(), bytes.size());
        if (got > 0) {
            buffer_.append(bytes.data(), static_cast<std::size_t>(got));
            return true;
        }
        if (got == Wire::ended || !comes_before(*wire_, got, deadline)) return false;
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
    if (!wire_) return;
    wire_->end_sending();
    const auto deadline = Clock::now() + linger_time;
    std::array<char, 4096> bytes{};
    while (comes_before(*wire_, Wire::wants_read, deadline)) {
        const auto got = ::recv(wire_->number(), bytes.data(), bytes.size(), MSG_DONTWAIT);
        if (got == 0 || (got < 0 && errno != EAGAIN && errno != EINTR)) return;
    }
}

std::unique_ptr<Wire> Connection::give_away() {
    const std::lock_guard lock{giving_};
    is_last_ = true;
    return std::move(wire_);
}

void Connection::shut_down() noexcept {
    const std::lock_guard lock{giving_};
    if (wire_) wire_->shut_down();
}

bool Connection::is_writable() const {
    return !wire_ || !is_gone(*wire_);
}

ssize_t Connection::read(char* bytes, std::size_t size) {
    if (!wire_ || (read_ == buffer_.size() && !receive(deadline_))) return -1;
    const auto taken = buffer_.copy(bytes, size, read_);
    read_ += taken;
    return static_cast<ssize_t>(taken);
}

ssize_t Connection::write(const char* bytes, std::size_t size) {
    if (!wire_) return static_cast<ssize_t>(size);
    if (phase_ != Phase::streaming && phase_ != Phase::sending) {
        enter(Phase::sending);
        deadline_ = Clock::now() + send_time;
    }
    const auto deadline = phase_ == Phase::streaming ? Clock::now() + send_time : deadline_;
    for (;;) {
        const auto sent = wire_->send(bytes, size);
        if (sent >= 0) return sent;
        if (sent == Wire::ended || !comes_before(*wire_, sent, deadline)) return -1;
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

}  // namespace mortise::http
