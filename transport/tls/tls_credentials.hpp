// The credentials of a node or a client: a certificate, its key, and the trusted authorities.
// Immutable; a change of the files makes a new object.
#pragma once

#include <chrono>
#include <filesystem>
#include <memory>
#include <string>
#include <vector>

#include "core/access/identity.hpp"
#include "core/base/result.hpp"
// OpenSSL's types, without its headers.
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
    std::filesystem::path revoked{};    // a text file (revoked.hpp); empty: none

    friend bool operator==(const TlsFiles&, const TlsFiles&) = default;
};

// Thread-safe, because it is immutable.
class TlsCredentials {
public:
    using Time = std::chrono::system_clock::time_point;

    // Reads and checks the files: the key belongs to the certificate and others cannot read it, an
    // authority of the file signed the certificate, and the certificate names a node or a user. A
    // handshake in memory shows that it can be used in both directions, under the policy of OpenSSL
    // on this machine. An expired certificate is accepted, so that a node starts and reports it;
    // peers will not trust it. Blocks on the disk. The error names the file.
    static core::Result<std::shared_ptr<const TlsCredentials>> load(const TlsFiles& files);

    [[nodiscard]] const core::Identity& identity() const { return identity_; }
    [[nodiscard]] Time certificate_expires() const { return certificate_expires_; }
    // The expiry of the authority that expires first.
    [[nodiscard]] Time authority_expires() const { return authority_expires_; }
    // A session for one connection, accepted or outgoing: TLS 1.3, and both sides present a
    // certificate. The caller owns it. Null only without memory.
    [[nodiscard]] ssl_st* new_session(bool accepts) const;
    // Whether an authority of these credentials has signed the certificate, it is valid now and not
    // revoked; the reason otherwise.
    [[nodiscard]] core::Result<void> verify(const PeerCertificate& peer, bool is_of_server) const;

    ~TlsCredentials();
    TlsCredentials(const TlsCredentials&) = delete;
    TlsCredentials& operator=(const TlsCredentials&) = delete;

    struct Context;

private:
    TlsCredentials();
    core::Result<void> read(const TlsFiles& files);
    core::Result<void> read_authorities(const std::filesystem::path& file);
    core::Result<void> read_revoked(const std::filesystem::path& file);
    core::Result<void> prepare();
    core::Result<void> believe_oneself(x509_st& own, const TlsFiles& files);
    [[nodiscard]] core::Result<void> try_both_directions(x509_st& own, const TlsFiles& files) const;

    std::unique_ptr<Context> context_;
    core::Identity identity_;
    Time certificate_expires_{};
    Time authority_expires_{};
};

}  // namespace mortise::transport
