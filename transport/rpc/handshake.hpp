// The TLS handshake on one connected socket. Both sides present a certificate that an authority of
// the cluster has signed. The caller checks whether the identity is the expected one.
#pragma once

#include <functional>
#include <memory>
#include <string>

#include <asio/ip/tcp.hpp>
#include <kj/common.h>

#include "core/access/identity.hpp"
#include "core/base/result.hpp"
#include "transport/rpc/kj_on_asio.hpp"
#include "transport/rpc/rpc_connection.hpp"
#include "transport/sockets/socket.hpp"
#include "transport/tls/tls_credentials.hpp"
#include "transport/tls/tls_peer.hpp"

namespace mortise::transport {

class Handshake {
public:
    struct Secured {
        std::unique_ptr<PeerCertificate> peer;
        // Moves the stream out; call it once, within KJ.
        std::function<kj::Own<SocketStream>(KjLoop&)> take_stream;
    };
    using Done = std::function<void(core::Result<Secured>)>;

    enum class Side { accepts, connects };

    // `done` is called once, on the thread of the io_context, and never by this function. The
    // handshake has no time limit of its own: the caller cancels it after its own limit.
    static std::shared_ptr<Handshake> start(
        Socket socket, const std::shared_ptr<const TlsCredentials>& credentials, Side side,
        Done done);

    virtual ~Handshake() = default;
    // Closes the socket; `done` is not called any more.
    virtual void cancel() = 0;
};

// One sentence about a TLS error on a secured connection, mostly an alert by which the other side
// refused our certificate; empty for any other error.
[[nodiscard]] std::string tls_alert(const asio::error_code& error);

}  // namespace mortise::transport
