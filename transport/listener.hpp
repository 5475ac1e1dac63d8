// The door: accepts connections, and waits when there are no descriptors for them.
#pragma once

#include <functional>
#include <memory>
#include <string>
#include <vector>

#include <asio/ip/tcp.hpp>
#include <asio/steady_timer.hpp>

#include "core/base/result.hpp"
#include "transport/peer_network.hpp"
#include "transport/socket.hpp"

namespace mortise::transport {

// From where a listener may be reached.
enum class Reach { loopback, anywhere };

class Listener {
public:
    using Accepted = std::function<void(Socket, const asio::ip::address&)>;

    Listener(asio::io_context& io, const NetworkLimits& limits, NetworkCounters& counters,
             const Log& log);
    ~Listener();
    Listener(const Listener&) = delete;
    Listener& operator=(const Listener&) = delete;

    // Listens on every address that the name has; on the same port, if any will do. An address that
    // this machine does not have, as ::1 where there is no IPv6, is passed over as long as there is
    // another. With Reach::loopback, an address of any other network is refused.
    core::Result<void> open(const std::string& address, Reach reach);
    // Of what it listens at, after open().
    [[nodiscard]] std::vector<int> descriptors() const;
    void start(Accepted accepted);
    void stop();
    // The first of its addresses.
    [[nodiscard]] std::string at() const { return at_; }
    // Only this machine reaches it.
    [[nodiscard]] bool is_local() const { return is_local_; }

private:
    struct Door;
    struct Shared;

    core::Result<void> open_all(const std::string& address,
                                std::vector<asio::ip::tcp::endpoint> endpoints);

    asio::io_context& io_;
    std::shared_ptr<Shared> shared_;  // outlives this while an accept is under way
    std::vector<std::shared_ptr<Door>> doors_;
    std::string at_;
    bool is_local_ = true;
};

}  // namespace mortise::transport
