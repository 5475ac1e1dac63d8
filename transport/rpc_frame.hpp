// From Cap'n Proto's RPC messages to what RpcGuard has to know of them, and what they may tell.
#pragma once

#include <optional>

#include <capnp/message.h>
#include <kj/array.h>
#include <kj/memory.h>

#include "transport/rpc_guard.hpp"

namespace mortise::transport {

using Segments = kj::ArrayPtr<const kj::ArrayPtr<const capnp::word>>;

// Of a frame that came in, head and body. Empty: it has pointers that lead nowhere, or is longer
// than it says. Bounded by the length of the frame.
std::optional<RpcFrame> read_rpc_frame(kj::ArrayPtr<const capnp::word> frame);

// Of a message that goes out.
RpcFrame rpc_frame_of(Segments segments);

// Cap'n Proto tells the other side why a call or the connection failed: names of interfaces, source
// files and lines. When the message does, this is what to send instead; else null.
kj::Own<capnp::MessageBuilder> without_reasons(Segments segments);

}  // namespace mortise::transport
