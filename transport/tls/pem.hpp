// Converts certificates and keys between PEM and OpenSSL's types, and reads the content of a
// certificate. Private to this folder, like openssl.hpp.
#pragma once

#include <chrono>
#include <string>
#include <string_view>
#include <vector>

#include "core/access/identity.hpp"
#include "core/base/result.hpp"
#include "transport/tls/certificates.hpp"
#include "transport/tls/openssl.hpp"

namespace mortise::transport {

// At least one. Blocks of other kinds are skipped. Reading errors are std::errc::bad_message.
[[nodiscard]] core::Result<std::vector<openssl::Certificate>> certificates_from(
    std::string_view pem);
// Refuses an encrypted key.
[[nodiscard]] core::Result<openssl::Key> key_from(std::string_view pem);

[[nodiscard]] core::Result<std::string> pem_of(const X509& certificate);
// PKCS#8, not encrypted.
[[nodiscard]] core::Result<Secret> pem_of(const EVP_PKEY& key);

// The SAN entries of a certificate. An error if they cannot be read.
struct AlternativeNames {
    std::vector<std::string> uris;
    std::vector<std::string> hosts;  // DNS names and IP addresses
};
[[nodiscard]] core::Result<AlternativeNames> names_in(const X509& certificate);

[[nodiscard]] core::Result<core::Identity> identity_in(const X509& certificate);
// The cluster for which an authority was created; empty if it names none. Such a certificate has no
// identity: core::identity_from() refuses the URI.
[[nodiscard]] std::string cluster_of_authority(const X509& certificate);
[[nodiscard]] std::string authority_uri(std::string_view cluster);

[[nodiscard]] core::Result<Validity> validity_of(const X509& certificate);
// Whether it may sign certificates. OpenSSL caches the answer in the certificate.
[[nodiscard]] bool is_authority(X509& certificate);

}  // namespace mortise::transport
