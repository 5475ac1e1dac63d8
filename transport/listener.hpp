// The door: accepts connections, but only so many strangers at a time.
#pragma once

#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <string>

#include <asio/ip/tcp.hpp>
#include <asio/steady_timer.hpp>

#include "core/base/result.hpp"
#include "transport/peer_network.hpp"

namespace mortise::transport {

// How many connections there are whose other side is not known yet.
class Strangers {
public:
    explicit Strangers(const NetworkLimits& limits) : limits_{limits} {}

    // A place among them, for as long as it exists; none when there are too many.
    using Place = std::shared_ptr<void>;
    Place admit(const asio::ip::address& from);

private:
    struct Count {
        std::size_t total = 0;
        std::map<asio::ip::address, std::size_t> by_address;
    };

    NetworkLimits limits_;
    std::shared_ptr<Count> count_ = std::make_shared<Count>();
};

class Listener {
public:
    using Accepted = std::function<void(asio::ip::tcp::socket, Strangers::Place)>;

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
