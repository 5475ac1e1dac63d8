#include "transport/sockets/listener.hpp"

#include <algorithm>
#include <cerrno>
#include <utility>

#include <asio/error.hpp>
#include <asio/ip/v6_only.hpp>
#include <sys/socket.h>
#include <unistd.h>

#include "transport/sockets/address.hpp"

namespace mortise::transport {
namespace {

core::Error cannot_listen(const std::string& address, const asio::error_code& error) {
    return {to_std(error), "cannot listen on " + address + ": " + error.message()};
}

core::Result<std::vector<asio::ip::tcp::endpoint>> endpoints_of(asio::io_context& io,
                                                                const std::string& address) {
    const auto parsed = parse_address(address);
    if (!parsed) return parsed.error();
    asio::error_code error;
    const auto found = asio::ip::tcp::resolver{io}.resolve(
        parsed->host, parsed->port,
        asio::ip::tcp::resolver::passive | asio::ip::tcp::resolver::numeric_service, error);
    if (error) return cannot_listen(address, error);
    std::vector<asio::ip::tcp::endpoint> endpoints;
    for (const auto& each : found) {
        if (std::ranges::find(endpoints, each.endpoint()) == endpoints.end())
            endpoints.push_back(each.endpoint());
    }
    return endpoints;
}

// A host name proves nothing: a host may map localhost to any address.
core::Error not_loopback(const std::string& address, const asio::ip::tcp::endpoint& endpoint) {
    return {std::make_error_code(std::errc::permission_denied),
            "cannot listen on " + address + ": " + to_string(endpoint) +
                " is no loopback address: set tls.certificate, tls.key and tls.ca (`mortise cert` "
                "makes the files), or tls.insecure = true if everybody who reaches it may do "
                "everything"};
}

bool is_missing_here(const asio::error_code& error) {
    const auto code = to_std(error);
    return code == std::errc::address_not_available ||
           code == std::errc::address_family_not_supported;
}

// A temporary shortage, not an error of this connection.
bool is_shortage(const asio::error_code& error) {
    const auto code = to_std(error);
    return code == std::errc::too_many_files_open || code == std::errc::no_buffer_space ||
           code == std::errc::too_many_files_open_in_system || code == std::errc::not_enough_memory;
}

}  // namespace

// The state that all sockets of a listener share.
struct Listener::Shared {
    core::Nanoseconds pause_length;
    NetworkCounters& counters;
    const Log& log;
    bool stopped = false;
    bool short_of = false;  // the shortage was reported in the log
    Accepted accepted;
};

// The listening socket of one address.
struct Listener::Door : std::enable_shared_from_this<Door> {
    Door(asio::io_context& the_io, std::shared_ptr<Shared> the_shared)
        : io{the_io}, acceptor{io}, pause{io}, shared{std::move(the_shared)} {}
    ~Door() { close(); }
    Door(const Door&) = delete;
    Door& operator=(const Door&) = delete;

    asio::error_code open(const asio::ip::tcp::endpoint& endpoint);
    void accept();
    void accept_one();
    void wait_then_accept();
    void on_accept(const asio::error_code& error, Socket socket);
    void stop();
    void close();

    asio::io_context& io;
    asio::ip::tcp::acceptor acceptor;
    asio::ip::tcp family = asio::ip::tcp::v4();
    SocketIdentity identity;  // of the acceptor
    asio::steady_timer pause;
    std::shared_ptr<Shared> shared;
};

asio::error_code Listener::Door::open(const asio::ip::tcp::endpoint& endpoint) {
    asio::error_code error;
    family = endpoint.protocol();
    const int made = make_socket(endpoint.protocol());
    if (made < 0) return {errno, asio::error::get_system_category()};
    acceptor.assign(endpoint.protocol(), made, error);
    if (error) {
        ::close(made);
        return error;
    }
    identity = SocketIdentity{made};
    acceptor.native_non_blocking(true, error);
    // A restarted node must not wait until the connections of its earlier run time out.
    if (!error) acceptor.set_option(asio::socket_base::reuse_address{true}, error);
    // IPv4 and IPv6 have separate sockets.
    if (!error && endpoint.address().is_v6()) acceptor.set_option(asio::ip::v6_only{true}, error);
    if (!error) acceptor.bind(endpoint, error);
    if (!error) acceptor.listen(asio::socket_base::max_listen_connections, error);
    if (error) close();
    return error;
}

// Asio would accept without close-on-exec.
void Listener::Door::accept() {
    acceptor.async_wait(asio::socket_base::wait_read,
                        [self = shared_from_this()](const asio::error_code& error) {
                            if (!self->shared->stopped && !error) self->accept_one();
                        });
}

void Listener::Door::accept_one() {
    if (!identity.is_at(acceptor.native_handle())) return;
    const int accepted = accept_socket(acceptor.native_handle());
    const int why = accepted < 0 ? errno : 0;
    // The connection ended before it was accepted.
    if (why == EAGAIN || why == ECONNABORTED || why == EPROTO) return accept();
    Socket socket{io};
    asio::error_code error{why, asio::error::get_system_category()};
    if (!error) socket.take(family, accepted, error);
    on_accept(error, std::move(socket));
}

void Listener::Door::wait_then_accept() {
    pause.expires_after(shared->pause_length);
    pause.async_wait([self = shared_from_this()](const asio::error_code&) {
        if (!self->shared->stopped) self->accept();
    });
}

void Listener::Door::on_accept(const asio::error_code& error, Socket socket) {
    if (error) {
        ++shared->counters.accept_failures;
        if (!is_shortage(error)) return accept();
        if (!std::exchange(shared->short_of, true) && shared->log)
            shared->log(LogLevel::warning, "cannot accept connections: " + error.message());
        return wait_then_accept();
    }
    shared->short_of = false;
    asio::error_code gone;
    const auto from = socket.remote_endpoint(gone);
    if (!gone) {
        ++shared->counters.accepted;
        prepare(socket);
        shared->accepted(std::move(socket), from.address());
    }
    if (!shared->stopped) accept();
}

void Listener::Door::stop() {
    close();
    pause.cancel();
}

void Listener::Door::close() {
    if (!acceptor.is_open()) return;
    asio::error_code ignored;
    if (!identity.is_at(acceptor.native_handle())) {
        static_cast<void>(acceptor.release(ignored));  // the number belongs to the program now
        return;
    }
    // A child of a fork may have a copy of the descriptor, and must not keep the port.
    ::shutdown(acceptor.native_handle(), SHUT_RDWR);
    acceptor.close(ignored);
}

Listener::Listener(asio::io_context& io, const NetworkLimits& limits, NetworkCounters& counters,
                   const Log& log)
    : io_{io},
      shared_{std::make_shared<Shared>(
          Shared{limits.accept_pause, counters, log, false, false, nullptr})} {}

Listener::~Listener() {
    try {
        stop();
    } catch (...) {  // a timer that cannot be cancelled is destroyed with the state
    }
}

core::Result<void> Listener::open(const std::string& address, Reach reach) {
    const auto endpoints = endpoints_of(io_, address);
    if (!endpoints) return endpoints.error();
    const auto outside = std::ranges::find_if(
        *endpoints, [](const auto& each) { return !is_loopback(each.address()); });
    is_local_ = outside == endpoints->end();
    if (!is_local_ && reach == Reach::loopback) return not_loopback(address, *outside);
    auto opened = open_all(address, *endpoints);
    if (!opened) stop();
    return opened;
}

core::Result<void> Listener::open_all(const std::string& address,
                                      std::vector<asio::ip::tcp::endpoint> endpoints) {
    asio::error_code missing;
    std::string all;
    for (auto& endpoint : endpoints) {
        const auto door = std::make_shared<Door>(io_, shared_);
        if (endpoint.port() == 0 && !doors_.empty())
            endpoint.port(doors_.front()->acceptor.local_endpoint().port());
        const auto error = door->open(endpoint);
        if (is_missing_here(error)) {
            missing = error;
            continue;
        }
        if (error) return cannot_listen(address, error);
        doors_.push_back(door);
        all += (all.empty() ? "" : " and ") + to_string(door->acceptor.local_endpoint());
    }
    if (doors_.empty()) return cannot_listen(address, missing);
    at_ = to_string(doors_.front()->acceptor.local_endpoint());
    if (shared_->log) shared_->log(LogLevel::info, "listens on " + all);
    return {};
}

std::vector<int> Listener::descriptors() const {
    std::vector<int> found;
    for (const auto& door : doors_)
        found.push_back(door->acceptor.native_handle());
    return found;
}

void Listener::start(Accepted accepted) {
    shared_->accepted = std::move(accepted);
    for (const auto& door : doors_)
        door->accept();
}

void Listener::stop() {
    shared_->stopped = true;
    for (const auto& door : doors_)
        door->stop();
}

}  // namespace mortise::transport
