// The sizes of values in a message, by the layout of peer.capnp: to measure them without building a
// message, and to reserve memory in one piece.
#pragma once

#include <cstddef>

#include "core/node/message.hpp"

namespace mortise::transport {

// As an element of a batch.
[[nodiscard]] std::size_t wire_words(const core::PeerMessage& message);

}  // namespace mortise::transport
