// The other side of a connection with TLS. Private to this folder, like openssl.hpp.
#pragma once

#include "core/access/identity.hpp"
#include "transport/tls/openssl.hpp"

namespace mortise::transport {

struct PeerCertificate {
    core::Identity identity;
    openssl::Certificate certificate;
    // as it was sent: the certificates between it and an authority
    openssl::CertificateStack chain;
};

}  // namespace mortise::transport
