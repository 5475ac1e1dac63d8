// Extracts from Cap'n Proto's RPC messages what RpcGuard needs, and changes what this side
// sends.
#pragma once

#include <optional>

#include <capnp/message.h>
#include <kj/array.h>
#include <kj/memory.h>

#include "transport/rpc/rpc_guard.hpp"

namespace mortise::transport {

using Segments = kj::ArrayPtr<const kj::ArrayPtr<const capnp::word>>;

// For a received frame, header and body. Empty if it has invalid pointers, or is longer than its
// header says. The time is bounded by the length of the frame.
std::optional<RpcFrame> read_rpc_frame(kj::ArrayPtr<const capnp::word> frame);

// For a message to be sent.
RpcFrame rpc_frame_of(Segments segments);

// Cap'n Proto tells the other side why a call or the connection failed: names of interfaces, source
// files and lines. If the message does so, this is the message to send instead; null otherwise.
kj::Own<capnp::MessageBuilder> without_reasons(Segments segments);

// Cap'n Proto since 1.0 tells who reads an answer that it need not finish the question. The guards
// of all versions of Mortise count on that, so this takes it back, in the message itself.
void ask_for_finish(Segments segments);

}  // namespace mortise::transport
