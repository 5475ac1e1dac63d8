// What is known of the endpoints of addresses, from earlier connections: with which of them the
// hello succeeded last, and with which it failed although something took the connection. For all
// who dial on one io_context, or for several of them. Any thread may use it.
#pragma once

#include <map>
#include <mutex>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include <asio/ip/tcp.hpp>

#include "transport/sockets/address.hpp"

namespace mortise::transport {

class EndpointMemory {
public:
    using Endpoint = asio::ip::tcp::endpoint;
    static constexpr std::size_t addresses_max = 1'024;

    void worked(const std::string& address, const Endpoint& endpoint);
    void failed(const std::string& address, const Endpoint& endpoint);
    // In the order in which they should be tried: IPv4 and IPv6 in turn, beginning with that of the
    // first one; before all that which worked last, and at the end that which failed last.
    [[nodiscard]] std::vector<Endpoint> in_order(const std::string& address,
                                                 const std::vector<Endpoint>& found) const;

private:
    struct Known {
        std::optional<Endpoint> worked;
        std::optional<Endpoint> failed;
    };
    [[nodiscard]] Known& of(const std::string& address);

    mutable std::mutex mutex_;
    std::map<std::string, Known> known_;  // guarded by the mutex
};

}  // namespace mortise::transport
