// The byte form of what a session asks for, within a batch of commands (command_codec.hpp). Whose a
// request is and which number it has is said in front of the first of those that follow each other.
#pragma once

#include <cstdint>

#include "core/base/bytes.hpp"
#include "core/locks/command.hpp"

namespace mortise::core {

// Kinds of commands are below it.
constexpr std::uint8_t first_request_kind = 8;

void put_request(ByteWriter& out, const Request& request);
// Of the request with that number, whose kind was read. Fails for what is no kind of request.
[[nodiscard]] RequestBody get_request(ByteReader& in, std::uint8_t kind, Seq seq);

}  // namespace mortise::core
