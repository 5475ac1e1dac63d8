// A handshake in memory, of two sessions with the same credentials. It shows at once what would
// otherwise keep a node from all others: a certificate that is good in one direction only, or a
// policy of OpenSSL on this machine that leaves nothing to agree on.
#pragma once

#include "core/base/result.hpp"
#include "transport/tls/openssl.hpp"

namespace mortise::transport {

// The certificate of a user only opens connections, so nobody checks it as that of a server.
[[nodiscard]] core::Result<void> shake_own_hand(SSL_CTX* context, bool is_of_node);

}  // namespace mortise::transport
