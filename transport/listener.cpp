#include "transport/listener.hpp"

#include <utility>

#include <asio/error.hpp>
#include <sys/socket.h>

#include "transport/address.hpp"

namespace mortise::transport {
namespace {

core::Error cannot_listen(const std::string& address, const asio::error_code& error) {
    return {to_std(error), "cannot listen on " + address + ": " + error.message()};
}

core::Result<asio::ip::tcp::endpoint> endpoint_of(asio::io_context& io,
                                                  const std::string& address) {
    const auto parsed = parse_address(address);
    if (!parsed) return parsed.error();
    asio::error_code error;
    const auto found = asio::ip::tcp::resolver{io}.resolve(
        parsed->host, parsed->port,
        asio::ip::tcp::resolver::passive | asio::ip::tcp::resolver::numeric_service, error);
    if (error) return cannot_listen(address, error);
    return found.begin()->endpoint();
}

// For want of something that may come back, not because of this one connection.
bool is_shortage(const asio::error_code& error) {
    const auto code = to_std(error);
    return code == std::errc::too_many_files_open || code == std::errc::no_buffer_space ||
           code == std::errc::too_many_files_open_in_system || code == std::errc::not_enough_memory;
}

}  // namespace

struct Listener::Loop : std::enable_shared_from_this<Loop> {
    Loop(asio::io_context& io, const NetworkLimits& limits, NetworkCounters& the_counters,
         const Log& the_log)
        : acceptor{io},
          pause{io},
          pause_length{limits.accept_pause},
          counters{the_counters},
          log{the_log} {}

    void accept();
    void wait_then_accept();
    void on_accept(const asio::error_code& error, asio::ip::tcp::socket socket);

    asio::ip::tcp::acceptor acceptor;
    asio::steady_timer pause;
    core::Nanoseconds pause_length;
    NetworkCounters& counters;
    const Log& log;
    bool stopped = false;
    bool short_of = false;  // said so in the log
    Accepted accepted;
};

void Listener::Loop::accept() {
    acceptor.async_accept(
        [self = shared_from_this()](const asio::error_code& error, asio::ip::tcp::socket socket) {
            if (!self->stopped) self->on_accept(error, std::move(socket));
        });
}

void Listener::Loop::wait_then_accept() {
    pause.expires_after(pause_length);
    pause.async_wait([self = shared_from_this()](const asio::error_code&) {
        if (!self->stopped) self->accept();
    });
}

void Listener::Loop::on_accept(const asio::error_code& error, asio::ip::tcp::socket socket) {
    if (error) {
        ++counters.accept_failures;
        if (!is_shortage(error)) return accept();
        if (!std::exchange(short_of, true) && log)
            log(LogLevel::warning, "cannot accept connections: " + error.message());
        return wait_then_accept();
    }
    short_of = false;
    asio::error_code gone;
    const auto from = socket.remote_endpoint(gone);
    if (!gone) {
        ++counters.accepted;
        prepare(socket);
        accepted(std::move(socket), from.address());
    }
    if (!stopped) accept();
}

Listener::Listener(asio::io_context& io, const NetworkLimits& limits, NetworkCounters& counters,
                   const Log& log)
    : loop_{std::make_shared<Loop>(io, limits, counters, log)} {}

Listener::~Listener() {
    try {
        stop();
    } catch (...) {  // a timer that could not be cancelled goes with the loop's state
    }
}

core::Result<void> Listener::open(const std::string& address) {
    auto& io = static_cast<asio::io_context&>(loop_->acceptor.get_executor().context());
    const auto endpoint = endpoint_of(io, address);
    if (!endpoint) return endpoint.error();
    asio::error_code error;
    auto& acceptor = loop_->acceptor;
    acceptor.open(endpoint->protocol(), error);
    if (!error) close_on_exec(acceptor.native_handle());
    // A restarted node must not wait for connections of its former life to be forgotten.
    if (!error) acceptor.set_option(asio::socket_base::reuse_address{true}, error);
    if (!error) acceptor.bind(*endpoint, error);
    if (!error) acceptor.listen(asio::socket_base::max_listen_connections, error);
    const auto local = error ? *endpoint : acceptor.local_endpoint(error);
    if (error) {
        asio::error_code ignored;
        acceptor.close(ignored);
        return cannot_listen(address, error);
    }
    at_ = to_string(local);
    return {};
}

void Listener::start(Accepted accepted) {
    loop_->accepted = std::move(accepted);
    if (loop_->acceptor.is_open()) loop_->accept();
}

void Listener::stop() {
    loop_->stopped = true;
    asio::error_code ignored;
    // A child of a fork may have a copy of the descriptor: the port is not to stay taken by it.
    if (loop_->acceptor.is_open()) ::shutdown(loop_->acceptor.native_handle(), SHUT_RDWR);
    loop_->acceptor.close(ignored);
    loop_->pause.cancel();
}

}  // namespace mortise::transport
