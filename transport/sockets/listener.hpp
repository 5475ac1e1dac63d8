// Accepts connections, and pauses when there are no free descriptors.
#pragma once

#include <functional>
#include <memory>
#include <string>
#include <vector>

#include <asio/ip/tcp.hpp>
#include <asio/steady_timer.hpp>

#include "core/base/result.hpp"
#include "transport/sockets/log.hpp"
#include "transport/sockets/network_limits.hpp"
#include "transport/sockets/network_values.hpp"
#include "transport/sockets/socket.hpp"

namespace mortise::transport {

// From where a listener may be reachable.
enum class Reach { loopback, anywhere };

class Listener {
public:
    using Accepted = std::function<void(Socket, const asio::ip::address&)>;

    Listener(asio::io_context& io, const NetworkLimits& limits, NetworkCounters& counters,
             const Log& log);
    ~Listener();
    Listener(const Listener&) = delete;
    Listener& operator=(const Listener&) = delete;

    // Listens on every address of the name, on the same port even if any port is requested. An
    // address that this machine does not have, such as ::1 without IPv6, is skipped if there is
    // another. With Reach::loopback any other address is an error.
    core::Result<void> open(const std::string& address, Reach reach);
    // Its listening descriptors, after open().
    [[nodiscard]] std::vector<int> descriptors() const;
    void start(Accepted accepted);
    void stop();
    // The first of its addresses.
    [[nodiscard]] std::string at() const { return at_; }
    // True if only this machine reaches it.
    [[nodiscard]] bool is_local() const { return is_local_; }

private:
    struct Door;
    struct Shared;

    core::Result<void> open_all(const std::string& address,
                                std::vector<asio::ip::tcp::endpoint> endpoints);

    asio::io_context& io_;
    std::shared_ptr<Shared> shared_;  // outlives this object while an accept is in progress
    std::vector<std::shared_ptr<Door>> doors_;
    std::string at_;
    bool is_local_ = true;
};

}  // namespace mortise::transport
