// The other side of a connection with TLS. Private to this folder, as openssl.hpp is.
#pragma once

#include "core/access/identity.hpp"
#include "transport/openssl.hpp"

namespace mortise::transport {

struct PeerCertificate {
    core::Identity identity;
    openssl::Certificate certificate;
    openssl::CertificateStack chain;  // as it was sent: what is between it and an authority
};

}  // namespace mortise::transport
