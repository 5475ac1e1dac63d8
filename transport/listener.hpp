// The door: accepts connections, and waits when there are no descriptors for them.
#pragma once

#include <functional>
#include <memory>
#include <string>

#include <asio/ip/tcp.hpp>
#include <asio/steady_timer.hpp>

#include "core/base/result.hpp"
#include "transport/peer_network.hpp"

namespace mortise::transport {

class Listener {
public:
    using Accepted = std::function<void(asio::ip::tcp::socket, const asio::ip::address&)>;

    Listener(asio::io_context& io, const NetworkLimits& limits, NetworkCounters& counters,
             const Log& log);
    ~Listener();
    Listener(const Listener&) = delete;
    Listener& operator=(const Listener&) = delete;

    core::Result<void> open(const std::string& address);
    void start(Accepted accepted);
    void stop();
    [[nodiscard]] std::string at() const { return at_; }

private:
    struct Loop;

    std::shared_ptr<Loop> loop_;  // outlives this while an accept is under way
    std::string at_;
};

}  // namespace mortise::transport
