#include "embed/http/connection_threads.hpp"

#include <algorithm>
#include <array>
#include <cerrno>
#include <chrono>
#include <cstdint>
#include <optional>
#include <string_view>
#include <system_error>
#include <utility>

#include <netinet/in.h>
#include <netinet/tcp.h>
#include <poll.h>
#include <sys/eventfd.h>
#include <sys/socket.h>

#include "embed/http/own_thread.hpp"

namespace mortise::http {

namespace {

using namespace std::chrono_literals;
using Phase = Connection::Phase;

// While there are no descriptors or threads.
constexpr auto shortage_pause = 100ms;

constexpr std::string_view busy =
    "HTTP/1.1 503 Service Unavailable\r\nRetry-After: 2\r\nConnection: close\r\n"
    "Content-Length: 0\r\n\r\n";

Descriptor make_eventfd() {
    Descriptor made{::eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK)};
    if (!made) throw std::system_error{errno, std::system_category(), "http: eventfd"};
    return made;
}

// A smaller number is closed earlier; empty: not at all. Few can wait for an answer of the node, or
// watch events: reads are answered by the node itself, breaks and streams have a limit each.
std::optional<int> worth(Phase phase) {
    switch (phase) {
        case Phase::waiting: return 0;
        case Phase::sending: return 1;
        case Phase::answering:
        case Phase::streaming: break;
    }
    return std::nullopt;
}

}  // namespace

ConnectionThreads::ConnectionThreads(Descriptor listening, Options options,
                                     std::function<void(Connection&)> serve)
    : listening_{std::move(listening)},
      wake_{make_eventfd()},
      options_{std::move(options)},
      serve_{std::move(serve)},
      accepting_{start_thread(options_.thread_name, [this] { accept_all(); })} {}

ConnectionThreads::~ConnectionThreads() {
    is_stopped_ = true;
    wake();
    accepting_.join();
    for (auto& each : served_)
        each.connection.shut_down();
    for (auto& each : served_)
        each.thread.join();
}

void ConnectionThreads::wake() const noexcept {
    const std::uint64_t one = 1;
    while (::write(wake_.number(), &one, sizeof one) < 0 && errno == EINTR) {
    }
}

void ConnectionThreads::accept_all() {
    while (!is_stopped_) {
        std::array<pollfd, 2> polls{
            {{listening_.number(), POLLIN, 0}, {wake_.number(), POLLIN, 0}}};
        if (::poll(polls.data(), polls.size(), -1) < 0 && errno != EINTR) return;
        std::uint64_t woken = 0;
        if (polls[1].revents != 0) (void)!::read(wake_.number(), &woken, sizeof woken);
        if (polls[0].revents != 0) accept_one();
        remove_ended();
    }
}

void ConnectionThreads::accept_one() {
    Descriptor socket{::accept4(listening_.number(), nullptr, nullptr, SOCK_CLOEXEC)};
    bool is_shortage =
        !socket && (errno == EMFILE || errno == ENFILE || errno == ENOMEM || errno == ENOBUFS);
    try {
        if (socket) begin(std::move(socket));
    } catch (const std::exception&) {  // no thread, or no memory
        is_shortage = true;
    }
    if (is_shortage) std::this_thread::sleep_for(shortage_pause);
}

void ConnectionThreads::begin(Descriptor socket) {
    const int yes = 1;
    ::setsockopt(socket.number(), IPPROTO_TCP, TCP_NODELAY, &yes, sizeof yes);
    remove_ended();
    if (!make_room()) {
        (void)::send(socket.number(), busy.data(), busy.size(), MSG_NOSIGNAL | MSG_DONTWAIT);
        return;
    }
    auto& served = served_.emplace_back(options_.make_wire(std::move(socket)));
    try {
        served.thread = start_thread("mortise-http", [this, &served] {
            try {
                serve_(served.connection);
            } catch (...) {  // no memory: the connection ends
            }
            served.connection.shut_down();
            served.has_ended = true;
            wake();
        });
    } catch (...) {
        served_.pop_back();
        throw;
    }
}

void ConnectionThreads::remove_ended() {
    std::erase_if(served_, [](Served& each) {
        if (!each.has_ended) return false;
        each.thread.join();
        return true;
    });
}

bool ConnectionThreads::make_room() {
    using Key = std::pair<int, Connection::Clock::time_point>;
    // Connections that were closed to make room, and whose threads are about to end, count apart.
    if (served_.size() >= 2 * options_.connections_max) return false;
    std::size_t open = 0;
    std::optional<Key> least;
    Served* chosen = nullptr;
    for (auto& each : served_) {
        if (each.is_closing) continue;
        ++open;
        const auto phase = worth(each.connection.phase());
        if (!phase) continue;
        const Key key{*phase, each.connection.since()};
        if (least && !(key < *least)) continue;
        least = key;
        chosen = &each;
    }
    if (open < options_.connections_max) return true;
    if (chosen == nullptr) return false;
    chosen->is_closing = true;
    chosen->connection.shut_down();
    return true;
}

}  // namespace mortise::http
