// Limits on what others may demand of this node: connections, and the time and memory that they
// take. Those of single messages are in transport/wire/message_limits.hpp.
#pragma once

#include <chrono>
#include <cstddef>

#include "core/base/instant.hpp"

namespace mortise::transport {

struct NetworkLimits {
    std::size_t strangers_max = 64;              // connections without a valid hello
    std::size_t strangers_per_address_max = 16;  // from one address outside of the loopback network
    std::size_t clients_max = 256;
    std::size_t handshakes_per_second = 100;                   // with TLS; those beyond wait
    core::Nanoseconds hello_timeout{std::chrono::seconds{5}};  // for the handshake and the hello
    // for a frame, from its first byte to its last
    core::Nanoseconds frame_timeout{std::chrono::seconds{30}};
    core::Nanoseconds accept_pause{std::chrono::milliseconds{200}};  // when out of descriptors
    std::size_t calls_in_flight_max = 32;                            // batches, per connection
    std::size_t outbox_bytes_max = std::size_t{16} << 20U;           // of each peer and lane
};

}  // namespace mortise::transport
