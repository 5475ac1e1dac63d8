// The three messages of a call of Peer.send (peer.capnp): the call, its answer, and the Finish.
// Nearly all that members say to each other are such calls. They are messages of Cap'n Proto's RPC
// like any other, and its RpcSystem reads and writes the same; but it has a dozen promises for
// each, which cost many times as much as the bytes (docs/decisions/0083). So this node writes and
// reads them by itself, and RpcSystem sees none of them. Pure.
#pragma once

#include <cstdint>
#include <vector>

#include <capnp/rpc.capnp.h>
#include <kj/common.h>

#include "core/base/result.hpp"
#include "core/node/message.hpp"

namespace mortise::transport {

// The number of `send` in peer.capnp.
constexpr std::uint16_t send_method = 0;

// Calls `send` of the capability that the other side offers under that number. A builder with
// call_words more than the messages need takes it in one segment.
void write_send(std::uint32_t question, std::uint32_t capability,
                const std::vector<core::PeerMessage>& batch, capnp::rpc::Message::Builder to);
void write_answer_to_send(std::uint32_t question, capnp::rpc::Message::Builder to);
// This side has the answer, and keeps nothing of it.
void write_finish(std::uint32_t question, capnp::rpc::Message::Builder to);

// The overhead of a call besides its messages, in words, rounded up.
constexpr std::size_t call_words = 64;

// The messages of a frame that is such a call. An error if one of them is malformed.
[[nodiscard]] core::Result<std::vector<core::PeerMessage>> read_send(
    kj::ArrayPtr<const capnp::word> frame);

}  // namespace mortise::transport
