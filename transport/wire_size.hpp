// What things take in a message, by the layout of peer.capnp: to weigh them without building one,
// and to reserve room in one piece.
#pragma once

#include <cstddef>

#include "core/node/message.hpp"

namespace mortise::transport {

// As an element of a batch.
[[nodiscard]] std::size_t wire_words(const core::PeerMessage& message);

}  // namespace mortise::transport
