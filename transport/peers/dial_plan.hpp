// Where a link dials next. A peer may have two addresses, and each may have several endpoints.
#pragma once

#include <cstddef>
#include <optional>
#include <string>

#include "transport/sockets/dial.hpp"
#include "transport/sockets/endpoint_memory.hpp"
#include "transport/sockets/network_values.hpp"

namespace mortise::transport {

class DialPlan {
public:
    using Endpoint = EndpointMemory::Endpoint;

    // Begins an attempt. Attempts alternate between the peer's two addresses, and for each between
    // the last endpoint and a new lookup: the peer may have moved, or may not answer there. An
    // endpoint that took the connection of the former attempt, without a hello, counts as failed.
    [[nodiscard]] DialTarget next(const PeerAddress& peer, core::Nanoseconds patience,
                                  EndpointMemory& memory);
    // An endpoint took the connection.
    void connected(const Endpoint& endpoint) { dialled_ = endpoint; }
    // The peer is there. The attempt after this connection begins with its address.
    void proven(const PeerAddress& peer, EndpointMemory& memory);

    // The address of the newest attempt; empty before the first one.
    [[nodiscard]] const std::string& address() const { return address_; }

private:
    struct Known {
        std::string address;
        std::optional<Endpoint> endpoint;
    };

    std::string address_;
    std::optional<Endpoint> dialled_;  // took the connection of the newest attempt
    bool is_proven_ = false;           // the peer was there, in the newest attempt
    std::optional<Known> last_;        // where the peer was there last; not set: nowhere yet
    std::size_t next_ = 0;             // the number of the next attempt, since then
};

}  // namespace mortise::transport
