// What a node or a client proves itself with, and whom it believes: a certificate, its key, and the
// authorities of the cluster. Immutable; a change of the files makes a new one.
#pragma once

#include <chrono>
#include <filesystem>
#include <memory>
#include <string>
#include <vector>

#include "core/access/identity.hpp"
#include "core/base/result.hpp"
// Types of OpenSSL, which whoever includes this need not see.
struct ssl_st;
struct x509_st;

namespace mortise::transport {

// The other side of a connection, as its certificate proved it (tls_peer.hpp).
struct PeerCertificate;

// Paths of PEM files.
struct TlsFiles {
    std::filesystem::path certificate;  // the own one, then those between it and an authority
    std::filesystem::path key;
    std::filesystem::path authorities;  // one or more

    friend bool operator==(const TlsFiles&, const TlsFiles&) = default;
};

// Thread-safe: nothing in it changes.
class TlsCredentials {
public:
    using Time = std::chrono::system_clock::time_point;

    // Reads and checks the files: the key belongs to the certificate and is not readable by others,
    // an authority of the file signed the certificate, and the certificate names a node or a user.
    // An expired certificate is taken, so that a node starts and says so; nobody will believe it.
    // Blocks on the disk. The error names the file.
    static core::Result<std::shared_ptr<const TlsCredentials>> load(const TlsFiles& files);

    [[nodiscard]] const core::Identity& identity() const { return identity_; }
    [[nodiscard]] Time certificate_expires() const { return certificate_expires_; }
    // The authority that expires first.
    [[nodiscard]] Time authority_expires() const { return authority_expires_; }
    // For one connection, as the side that accepted it or the one that made it: TLS 1.3, both sides
    // show a certificate. The caller owns it. Null only for want of memory.
    [[nodiscard]] ssl_st* new_session(bool accepts) const;
    // Whether an authority of these credentials vouches for the certificate now; why not,
    // otherwise.
    [[nodiscard]] core::Result<void> verify(const PeerCertificate& peer, bool is_of_server) const;

    ~TlsCredentials();
    TlsCredentials(const TlsCredentials&) = delete;
    TlsCredentials& operator=(const TlsCredentials&) = delete;

    struct Context;

private:
    TlsCredentials();
    core::Result<void> read(const TlsFiles& files);
    core::Result<void> read_authorities(const std::filesystem::path& file);
    core::Result<void> prepare();
    core::Result<void> believe_oneself(x509_st& own, const TlsFiles& files);

    std::unique_ptr<Context> context_;
    core::Identity identity_;
    Time certificate_expires_{};
    Time authority_expires_{};
};

}  // namespace mortise::transport
