#include "embed/door/tls.hpp"

#include <algorithm>
#include <cerrno>
#include <cstdint>
#include <new>
#include <string>
#include <system_error>
#include <utility>

#include <openssl/bio.h>
#include <openssl/bn.h>
#include <openssl/err.h>
#include <openssl/pem.h>
#include <openssl/ssl.h>
#include <openssl/x509_vfy.h>
#include <sys/socket.h>

#include <mortise/certificates.hpp>
#include <mortise/errc.hpp>

namespace mortise::door {

namespace {

// OpenSSL's own sockets raise SIGPIPE.
int descriptor_of(BIO* bio) {
    return static_cast<int>(reinterpret_cast<std::intptr_t>(BIO_get_data(bio)));
}

int finished(BIO* bio, ssize_t done, int to_retry) {
    BIO_clear_retry_flags(bio);
    const bool waits = done < 0 && (errno == EAGAIN || errno == EWOULDBLOCK || errno == EINTR);
    if (waits) BIO_set_flags(bio, to_retry | BIO_FLAGS_SHOULD_RETRY);
    return static_cast<int>(done);
}

int write_bytes(BIO* bio, const char* bytes, int size) {
    const auto count = static_cast<std::size_t>(size);
    return finished(bio, ::send(descriptor_of(bio), bytes, count, MSG_NOSIGNAL | MSG_DONTWAIT),
                    BIO_FLAGS_WRITE);
}

int read_bytes(BIO* bio, char* bytes, int size) {
    const auto count = static_cast<std::size_t>(size);
    return finished(bio, ::recv(descriptor_of(bio), bytes, count, MSG_DONTWAIT), BIO_FLAGS_READ);
}

long control(BIO* /*bio*/, int what, long /*number*/, void* /*more*/) {
    return what == BIO_CTRL_FLUSH ? 1 : 0;
}

BIO_METHOD* socket_method() {
    static BIO_METHOD* const method = [] {
        auto* const made = BIO_meth_new(BIO_get_new_index() | BIO_TYPE_SOURCE_SINK, "socket");
        if (made == nullptr) return made;
        BIO_meth_set_write(made, write_bytes);
        BIO_meth_set_read(made, read_bytes);
        BIO_meth_set_ctrl(made, control);
        return made;
    }();
    return method;
}

// As CertificateInfo::serial.
std::string serial_of(const X509* certificate) {
    auto* const number = ASN1_INTEGER_to_BN(X509_get0_serialNumber(certificate), nullptr);
    char* const digits = number == nullptr ? nullptr : BN_bn2hex(number);
    BN_free(number);
    if (digits == nullptr) throw std::bad_alloc{};
    std::string serial{digits};
    OPENSSL_free(digits);
    return serial;
}

class TlsWire final : public http::Wire {
public:
    TlsWire(http::Descriptor socket, std::shared_ptr<SSL_CTX> context)
        : Wire{std::move(socket)}, context_{std::move(context)}, ssl_{SSL_new(context_.get())} {
        auto* const bio = BIO_new(socket_method());
        if (ssl_ == nullptr || bio == nullptr) {
            BIO_free(bio);
            SSL_free(ssl_);
            throw std::bad_alloc{};
        }
        BIO_set_data(bio, reinterpret_cast<void*>(static_cast<std::intptr_t>(number())));
        BIO_set_init(bio, 1);
        SSL_set_bio(ssl_, bio, bio);
        SSL_set_accept_state(ssl_);
    }
    ~TlsWire() override { SSL_free(ssl_); }
    TlsWire(const TlsWire&) = delete;
    TlsWire& operator=(const TlsWire&) = delete;

    ssize_t receive(char* bytes, std::size_t size) override {
        ERR_clear_error();
        std::size_t got = 0;
        const int success = SSL_read_ex(ssl_, bytes, size, &got);
        return result(success, got);
    }
    ssize_t send(const char* bytes, std::size_t size) override {
        ERR_clear_error();
        std::size_t sent = 0;
        const int success = SSL_write_ex(ssl_, bytes, size, &sent);
        return result(success, sent);
    }
    void end_sending() noexcept override {
        ERR_clear_error();
        if (SSL_is_init_finished(ssl_) != 0) SSL_shutdown(ssl_);
        Wire::end_sending();
    }
    [[nodiscard]] std::string certificate() const override {
        auto* const found = SSL_get1_peer_certificate(ssl_);
        if (found == nullptr) return {};
        auto* const memory = BIO_new(BIO_s_mem());
        char* text = nullptr;
        std::string pem;
        const bool is_written = memory != nullptr && PEM_write_bio_X509(memory, found) == 1 &&
                                SSL_get_verify_result(ssl_) == X509_V_OK;
        const auto size = is_written ? BIO_get_mem_data(memory, &text) : 0;
        if (size > 0) pem.assign(text, static_cast<std::size_t>(size));
        BIO_free(memory);
        X509_free(found);
        return pem;
    }
    // What was presented may have been accepted long ago.
    [[nodiscard]] bool is_trusted(X509_STORE* authorities,
                                  const std::set<std::string>& revoked) const {
        const std::unique_ptr<X509, decltype(&X509_free)> shown{SSL_get1_peer_certificate(ssl_),
                                                                X509_free};
        const std::unique_ptr<X509_STORE_CTX, decltype(&X509_STORE_CTX_free)> check{
            X509_STORE_CTX_new(), X509_STORE_CTX_free};
        const bool is_begun = shown && check &&
                              X509_STORE_CTX_init(check.get(), authorities, shown.get(),
                                                  SSL_get_peer_cert_chain(ssl_)) == 1 &&
                              X509_STORE_CTX_set_default(check.get(), "ssl_client") == 1;
        const bool is_signed = is_begun && X509_verify_cert(check.get()) == 1;
        ERR_clear_error();
        if (!is_signed) return false;
        const auto* const chain = X509_STORE_CTX_get0_chain(check.get());
        for (int i = 0; i < sk_X509_num(chain); ++i) {
            if (revoked.contains(serial_of(sk_X509_value(chain, i)))) return false;
        }
        return true;
    }

private:
    [[nodiscard]] ssize_t result(int success, std::size_t bytes) const {
        if (success == 1) return static_cast<ssize_t>(bytes);
        switch (SSL_get_error(ssl_, success)) {
            case SSL_ERROR_WANT_READ: return wants_read;
            case SSL_ERROR_WANT_WRITE: return wants_write;
            default: return ended;
        }
    }

    const std::shared_ptr<SSL_CTX> context_;
    SSL* const ssl_;
};

[[noreturn]] void refuse_file(const std::filesystem::path& path) {
    char why[256] = "it cannot be read";
    if (const auto error = ERR_peek_last_error(); error != 0)
        ERR_error_string_n(error, why, sizeof why);
    ERR_clear_error();
    throw std::system_error{Errc::invalid_argument, "http: " + path.string() + ": " + why};
}

}  // namespace

Tls::Tls(const TlsConfig& files)
    : files_{files}, context_{{files_.certificate, files_.key, files_.ca, files_.revoked}, [this] {
                                  return read();
                              }} {}

Tls::~Tls() = default;

Tls::Context Tls::read() const {
    Context context{{SSL_CTX_new(TLS_server_method()), SSL_CTX_free}, {}};
    auto* const made = context.ssl.get();
    if (made == nullptr) throw std::bad_alloc{};
    SSL_CTX_set_min_proto_version(made, TLS1_3_VERSION);
    // Each connection shows its certificate anew.
    SSL_CTX_set_session_cache_mode(made, SSL_SESS_CACHE_OFF);
    SSL_CTX_set_num_tickets(made, 0);
    SSL_CTX_set_mode(made, SSL_MODE_ENABLE_PARTIAL_WRITE | SSL_MODE_ACCEPT_MOVING_WRITE_BUFFER |
                               SSL_MODE_RELEASE_BUFFERS);
    ERR_clear_error();
    if (SSL_CTX_use_certificate_chain_file(made, files_.certificate.c_str()) != 1)
        refuse_file(files_.certificate);
    if (SSL_CTX_use_PrivateKey_file(made, files_.key.c_str(), SSL_FILETYPE_PEM) != 1 ||
        SSL_CTX_check_private_key(made) != 1)
        refuse_file(files_.key);
    if (SSL_CTX_load_verify_locations(made, files_.ca.c_str(), nullptr) != 1)
        refuse_file(files_.ca);
    SSL_CTX_set_client_CA_list(made, SSL_load_client_CA_file(files_.ca.c_str()));
    // Who presents none has a token, or is refused with words.
    SSL_CTX_set_verify(made, SSL_VERIFY_PEER, nullptr);
    if (!files_.revoked.empty()) context.revoked = read_revoked(files_.revoked);
    return context;
}

std::unique_ptr<http::Wire> Tls::wire(http::Descriptor socket) {
    return std::make_unique<TlsWire>(std::move(socket), context_.present()->ssl);
}

bool Tls::trusts(const http::Wire& wire) {
    const auto now = context_.present();
    return dynamic_cast<const TlsWire&>(wire).is_trusted(SSL_CTX_get_cert_store(now->ssl.get()),
                                                         now->revoked);
}

}  // namespace mortise::door
