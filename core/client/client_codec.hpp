// The encoding of the messages between a client node and its member (docs/formats.md). Each begins
// with a version. The receiver of a malformed message closes the connection.
#pragma once

#include <optional>
#include <string>
#include <string_view>

#include "core/client/client_message.hpp"

namespace mortise::core {

// The longest message of a client, encoded.
constexpr std::size_t client_message_bytes_max = std::size_t{128} << 10U;
// The longest notice of a member, encoded: a session with every answer that it may have.
constexpr std::size_t client_notice_bytes_max = std::size_t{64} << 20U;

[[nodiscard]] std::string encode(const ClientMessage& message);
[[nodiscard]] std::optional<ClientMessage> decode_client_message(std::string_view bytes);
[[nodiscard]] std::string encode(const ClientNotice& notice);
[[nodiscard]] std::optional<ClientNotice> decode_client_notice(std::string_view bytes);

}  // namespace mortise::core
