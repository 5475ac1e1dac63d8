#include "transport/tls/tls_credentials.hpp"

#include <algorithm>
#include <utility>
#include <vector>

#include "transport/tls/key_files.hpp"
#include "transport/tls/openssl.hpp"
#include "transport/tls/own_handshake.hpp"
#include "transport/tls/pem.hpp"
#include "transport/tls/revoked.hpp"
#include "transport/tls/tls_peer.hpp"

namespace mortise::transport {
namespace {

using openssl::failed;

constexpr int chain_length_max = 4;

// An error about a file.
core::Error in_file(const std::filesystem::path& file, const core::Error& what) {
    return {what.code, file.string() + ": " + what.what};
}

core::Result<std::vector<openssl::Certificate>> read_certificates(
    const std::filesystem::path& file) {
    const auto pem = read_certificate_file(file);
    if (!pem) return pem.error();
    auto certificates = certificates_from(*pem);
    if (!certificates) return in_file(file, certificates.error());
    return certificates;
}

core::Result<void> use_key(SSL_CTX* context, const std::filesystem::path& file) {
    const auto pem = read_key_file(file);
    if (!pem) return pem.error();
    const auto key = key_from(pem->text());
    if (!key) return in_file(file, key.error());
    if (SSL_CTX_use_PrivateKey(context, key->get()) == 1) return {};
    return failed("the key " + file.string() +
                      " is not that of the certificate: name the one that was written with it",
                  std::errc::bad_message);
}

core::Result<void> use_certificates(SSL_CTX* context,
                                    const std::vector<openssl::Certificate>& certificates) {
    bool used = SSL_CTX_use_certificate(context, certificates.front().get()) == 1;
    for (std::size_t i = 1; used && i < certificates.size(); ++i)
        used = SSL_CTX_add1_chain_cert(context, certificates[i].get()) == 1;
    if (used) return {};
    return failed("cannot use the certificate", std::errc::bad_message);
}

core::Result<TlsCredentials::Time> expiry_of(const X509& certificate) {
    const auto validity = validity_of(certificate);
    if (!validity) return validity.error();
    // Certificates may be valid until the year 9999. The clock counts nanoseconds until 2262.
    constexpr auto last = std::chrono::floor<std::chrono::seconds>(TlsCredentials::Time::max());
    return TlsCredentials::Time{std::min<std::chrono::sys_seconds>(validity->not_after, last)};
}

}  // namespace

struct TlsCredentials::Context {
    RevokedSerials revoked;  // outlives the store that it guards
    openssl::SessionContext ssl;
    [[nodiscard]] SSL_CTX* get() const { return ssl.get(); }
};

namespace {

// Checks as a handshake does. Returns a result of X.509 verification.
long checked(const TlsCredentials::Context& context, X509* certificate, STACK_OF(X509) * chain,
             bool is_of_server) {
    const openssl::StoreContext check{X509_STORE_CTX_new()};
    auto* const store = SSL_CTX_get_cert_store(context.get());
    if (!check || X509_STORE_CTX_init(check.get(), store, certificate, chain) != 1)
        return X509_V_ERR_OUT_OF_MEM;
    X509_STORE_CTX_set_depth(check.get(), chain_length_max);
    X509_VERIFY_PARAM_set_auth_level(X509_STORE_CTX_get0_param(check.get()),
                                     SSL_CTX_get_security_level(context.get()));
    X509_STORE_CTX_set_purpose(check.get(),
                               is_of_server ? X509_PURPOSE_SSL_SERVER : X509_PURPOSE_SSL_CLIENT);
    const bool is_good = X509_verify_cert(check.get()) == 1;
    ERR_clear_error();
    return is_good ? X509_V_OK : X509_STORE_CTX_get_error(check.get());
}

core::Error bad(std::string what) {
    return {std::make_error_code(std::errc::bad_message), std::move(what)};
}

// A node accepts connections and opens some.
core::Error unfit(bool is_of_node, bool for_accepting) {
    return bad(std::string{"it may not be used for "} + (for_accepting ? "accepting" : "opening") +
               " connections: " +
               (is_of_node ? "a node needs extendedKeyUsage = serverAuth, clientAuth"
                           : "a user needs extendedKeyUsage = clientAuth") +
               " and keyUsage = digitalSignature, where its certificate has these extensions");
}

// TLS 1.3 signs on both sides.
bool may_sign(X509& certificate) {
    return (X509_get_key_usage(&certificate) & X509v3_KU_DIGITAL_SIGNATURE) != 0;
}

}  // namespace

TlsCredentials::TlsCredentials() : context_{std::make_unique<Context>()} {}
TlsCredentials::~TlsCredentials() = default;

core::Result<std::shared_ptr<const TlsCredentials>> TlsCredentials::load(const TlsFiles& files) {
    const std::shared_ptr<TlsCredentials> credentials{new TlsCredentials};
    if (auto read = credentials->read(files); !read) return std::move(read).error();
    return std::shared_ptr<const TlsCredentials>{credentials};
}

core::Result<void> TlsCredentials::read(const TlsFiles& files) {
    context_->ssl.reset(SSL_CTX_new(TLS_method()));
    if (!context_->ssl) return failed("cannot begin with TLS", std::errc::not_enough_memory);
    if (auto prepared = prepare(); !prepared) return prepared;
    const auto chain = read_certificates(files.certificate);
    if (!chain) return chain.error();
    if (auto used = use_certificates(context_->get(), *chain); !used)
        return in_file(files.certificate, used.error());
    if (auto used = use_key(context_->get(), files.key); !used) return used;
    if (auto read = read_authorities(files.authorities); !read) return read;
    if (auto read = read_revoked(files.revoked); !read) return read;
    return believe_oneself(*chain->front(), files);
}

// Checks what the other side of a connection will check.
core::Result<void> TlsCredentials::believe_oneself(X509& own, const TlsFiles& files) {
    auto identity = identity_in(own);
    if (!identity) return in_file(files.certificate, identity.error());
    identity_ = std::move(*identity);
    const auto expires = expiry_of(own);
    if (!expires) return in_file(files.certificate, expires.error());
    certificate_expires_ = *expires;
    if (*expires < std::chrono::system_clock::now()) return {};
    if (auto used = try_both_directions(own, files); !used)
        return in_file(files.certificate, used.error());
    return {};
}

// What is wrong in one direction only would show when a peer is met, or never.
core::Result<void> TlsCredentials::try_both_directions(X509& own, const TlsFiles& files) const {
    STACK_OF(X509)* chain = nullptr;
    SSL_CTX_get0_chain_certs(context_->get(), &chain);
    const bool is_of_node = identity_.node.is_set();
    for (const bool accepts : {true, false}) {
        if (accepts && !is_of_node) continue;
        const auto verified = checked(*context_, &own, chain, accepts);
        if (verified == X509_V_ERR_INVALID_PURPOSE || !may_sign(own))
            return unfit(is_of_node, accepts);
        if (verified != X509_V_OK)
            return bad("by " + files.authorities.string() + ": " + openssl::not_trusted(verified));
    }
    return shake_own_hand(context_->get(), is_of_node);
}

core::Result<void> TlsCredentials::read_authorities(const std::filesystem::path& file) {
    const auto authorities = read_certificates(file);
    if (!authorities) return authorities.error();
    auto* const store = SSL_CTX_get_cert_store(context_->get());
    authority_expires_ = Time::max();
    for (const auto& authority : *authorities) {
        if (!is_authority(*authority))
            return failed(file.string() + " has a certificate that is not an authority's",
                          std::errc::bad_message);
        if (X509_STORE_add_cert(store, authority.get()) != 1)
            return failed("cannot use the authorities in " + file.string(), std::errc::bad_message);
        const auto expires = expiry_of(*authority);
        if (!expires) return in_file(file, expires.error());
        authority_expires_ = std::min(authority_expires_, *expires);
    }
    return {};
}

core::Result<void> TlsCredentials::read_revoked(const std::filesystem::path& file) {
    if (file.empty()) return {};
    auto revoked = RevokedSerials::read(file);
    if (!revoked) return revoked.error();
    context_->revoked = *std::move(revoked);
    if (context_->revoked.guard(SSL_CTX_get_cert_store(context_->get()))) return {};
    return failed("cannot use " + file.string(), std::errc::not_enough_memory);
}

// Sessions are not resumed: each connection is checked against the present authorities and members.
core::Result<void> TlsCredentials::prepare() {
    auto* const context = context_->get();
    const bool is_set = SSL_CTX_set_min_proto_version(context, TLS1_3_VERSION) == 1 &&
                        SSL_CTX_set_num_tickets(context, 0) == 1;
    SSL_CTX_set_session_cache_mode(context, SSL_SESS_CACHE_OFF);
    SSL_CTX_set_options(context,
                        SSL_OP_NO_TICKET | SSL_OP_NO_RENEGOTIATION | SSL_OP_NO_COMPRESSION);
    // Idle connections release their buffers.
    SSL_CTX_set_mode(context, SSL_MODE_ENABLE_PARTIAL_WRITE | SSL_MODE_ACCEPT_MOVING_WRITE_BUFFER |
                                  SSL_MODE_RELEASE_BUFFERS);
    SSL_CTX_set_verify(context, SSL_VERIFY_PEER | SSL_VERIFY_FAIL_IF_NO_PEER_CERT, nullptr);
    SSL_CTX_set_verify_depth(context, chain_length_max);
    if (is_set) return {};
    return failed("cannot begin with TLS");
}

SSL* TlsCredentials::new_session(bool accepts) const {
    auto* const session = SSL_new(context_->get());
    if (session == nullptr) {
        ERR_clear_error();
        return nullptr;
    }
    if (accepts) {
        SSL_set_accept_state(session);
    } else {
        SSL_set_connect_state(session);
    }
    return session;
}

core::Result<void> TlsCredentials::verify(const PeerCertificate& peer, bool is_of_server) const {
    const auto verified =
        checked(*context_, peer.certificate.get(), peer.chain.get(), is_of_server);
    return verified == X509_V_OK ? core::Result<void>{} : bad(openssl::not_trusted(verified));
}

}  // namespace mortise::transport
