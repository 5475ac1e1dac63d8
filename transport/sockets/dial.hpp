// One attempt to connect to an address, by whichever of its endpoints answers first.
#pragma once

#include <chrono>
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include <asio/executor_work_guard.hpp>
#include <asio/ip/tcp.hpp>
#include <asio/steady_timer.hpp>

#include "core/base/instant.hpp"
#include "transport/sockets/address.hpp"
#include "transport/sockets/endpoint_race.hpp"
#include "transport/sockets/socket.hpp"

namespace mortise::transport {

struct DialTarget {
    std::string address;  // empty: it is not known yet, and the attempt fails with host_not_found
    // The endpoint of the last connection, which is tried before the name is resolved again.
    std::optional<asio::ip::tcp::endpoint> last_known = std::nullopt;
    // Tries loopback endpoints only; without one the attempt fails with access_denied.
    bool loopback_only = false;
    // How long the caller waits before it cancels the attempt.
    core::Nanoseconds patience{std::chrono::seconds{5}};
};

class Dial : public std::enable_shared_from_this<Dial> {
public:
    using Done = std::function<void(const asio::error_code&, Socket)>;

    // `done` is never called by this function. An attempt takes as long as the network allows: the
    // caller cancels it after its own time limit.
    static std::shared_ptr<Dial> start(asio::io_context& io, const DialTarget& target, Done done);

    Dial(asio::io_context& io, const DialTarget& target);
    // `done` is not called any more.
    void cancel();

private:
    using Endpoints = std::vector<asio::ip::tcp::endpoint>;

    void begin();
    void look_up();
    void add(const Endpoints& endpoints);
    void go_on();
    void begin_attempt(const EndpointRace::Begin& begin);
    void attempt_ended(std::size_t place, asio::error_code error);
    void failed(asio::error_code error);
    void failed_later(asio::error_code error);
    void set_timer();
    void finish(const asio::error_code& error, Socket socket);

    asio::io_context& io_;
    const DialTarget target_;
    std::optional<HostPort> to_look_up_;  // the name, until it is looked up
    bool looks_up_ = false;
    EndpointRace race_;
    Endpoints endpoints_;
    std::map<std::size_t, Socket> open_;  // by the places of their endpoints
    asio::error_code error_;              // of attempts that have failed
    asio::steady_timer timer_;
    // Keeps the io_context running during a lookup, which is not work of its own.
    std::optional<asio::executor_work_guard<asio::io_context::executor_type>> waiting_;
    Done done_;
};

}  // namespace mortise::transport
