// The encoding of a session's requests within a batch of commands (command_codec.hpp). The session
// and the first sequence number are written in front of each run of consecutive requests.
#pragma once

#include <cstdint>

#include "core/base/bytes.hpp"
#include "core/locks/command.hpp"

namespace mortise::core {

// The kinds of other commands are below this one.
constexpr std::uint8_t first_request_kind = 8;

void put_request(ByteWriter& out, const Request& request);
// Decodes the request with that sequence number, after its kind was read. Fails if the kind is
// unknown.
[[nodiscard]] RequestBody get_request(ByteReader& in, std::uint8_t kind, Seq seq);

}  // namespace mortise::core
