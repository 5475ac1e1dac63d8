#include "transport/rpc/handshake.hpp"

#include <optional>
#include <utility>

#include <asio/post.hpp>
#include <asio/ssl/error.hpp>
#include <asio/ssl/stream.hpp>

#include "transport/rpc/asio_stream.hpp"
#include "transport/sockets/address.hpp"
#include "transport/tls/pem.hpp"
#include "transport/tls/tls_peer.hpp"

namespace mortise::transport {
namespace {

using TlsSocket = asio::ssl::stream<Socket>;

core::Error not_secured(std::string why) {
    return {std::make_error_code(std::errc::permission_denied), std::move(why)};
}

class TlsHandshake final : public Handshake, public std::enable_shared_from_this<TlsHandshake> {
public:
    TlsHandshake(Socket socket, openssl::Session session, Done done)
        : stream_{std::move(socket), session.get()}, done_{std::move(done)} {
        static_cast<void>(session.release());  // the stream owns it
    }

    void begin(Side side) {
        const auto type =
            side == Side::accepts ? asio::ssl::stream_base::server : asio::ssl::stream_base::client;
        stream_.async_handshake(type, [self = shared_from_this()](const asio::error_code& error) {
            if (self->done_) self->finish(error);
        });
    }
    void cancel() override {
        done_ = nullptr;
        asio::error_code ignored;
        stream_.next_layer().close(ignored);
    }

private:
    void finish(const asio::error_code& error) {
        const auto done = std::exchange(done_, nullptr);
        if (error) return done(failure(error));
        auto peer = std::make_unique<PeerCertificate>();
        peer->certificate.reset(SSL_get1_peer_certificate(stream_.native_handle()));
        peer->chain.reset(X509_chain_up_ref(SSL_get_peer_cert_chain(stream_.native_handle())));
        if (!peer->certificate) return done(not_secured("no certificate was presented"));
        auto identity = identity_in(*peer->certificate);
        if (!identity) return done(not_secured("its certificate: " + identity.error().what));
        peer->identity = std::move(*identity);
        done(Secured{std::move(peer), [self = shared_from_this()](KjLoop& loop) {
                         return kj::Own<SocketStream>{
                             kj::heap<AsioStream<TlsSocket>>(loop, std::move(self->stream_))};
                     }});
    }
    core::Error failure(const asio::error_code& error) {
        const auto verified = SSL_get_verify_result(stream_.native_handle());
        if (verified != X509_V_OK) {
            return not_secured(openssl::not_trusted(verified));
        }
        if (error == asio::error::eof || error == asio::ssl::error::stream_truncated)
            return not_secured(
                "the other side ended the TLS handshake; does it speak TLS? Set its "
                "files below [tls] there, too");
        const auto problem = tls_alert(error);
        return not_secured(problem.empty() ? "no TLS handshake: " + error.message() : problem);
    }

    TlsSocket stream_;
    Done done_;
};

// Returned if there was no memory to begin a handshake.
class NoHandshake final : public Handshake, public std::enable_shared_from_this<NoHandshake> {
public:
    NoHandshake(Socket socket, Done done) : socket_{std::move(socket)}, done_{std::move(done)} {}

    static std::shared_ptr<Handshake> start(Socket socket, Done done) {
        auto handshake = std::make_shared<NoHandshake>(std::move(socket), std::move(done));
        asio::post(handshake->socket_.get_executor(), [handshake] {
            if (const auto told = std::exchange(handshake->done_, nullptr))
                told(core::Error{std::make_error_code(std::errc::not_enough_memory), "no memory"});
        });
        return handshake;
    }
    void cancel() override {
        done_ = nullptr;
        asio::error_code ignored;
        socket_.close(ignored);
    }

private:
    Socket socket_;
    Done done_;
};

// An alert that the other side sent (RFC 8446, 6.2), in words for the operator of this side.
std::string alert_problem(int reason) {
    switch (reason) {
        case SSL_R_TLSV13_ALERT_CERTIFICATE_REQUIRED: return "it asks for a certificate";
        case SSL_R_SSLV3_ALERT_CERTIFICATE_EXPIRED:
            return "it says that our certificate expired: issue another one for this node, or "
                   "correct the time of day there";
        case SSL_R_TLSV1_ALERT_UNKNOWN_CA:
            return "it does not know the authority that signed our certificate: give both nodes "
                   "the same tls.ca";
        case SSL_R_SSLV3_ALERT_BAD_CERTIFICATE:
        case SSL_R_SSLV3_ALERT_UNSUPPORTED_CERTIFICATE:
        case SSL_R_SSLV3_ALERT_CERTIFICATE_UNKNOWN:
        case SSL_R_SSLV3_ALERT_CERTIFICATE_REVOKED: return "it does not trust our certificate";
        case SSL_R_TLSV1_ALERT_PROTOCOL_VERSION: return "it does not speak TLS 1.3";
        default: return {};
    }
}

}  // namespace

std::shared_ptr<Handshake> Handshake::start(
    Socket socket, const std::shared_ptr<const TlsCredentials>& credentials, Side side, Done done) {
    openssl::Session session{credentials->new_session(side == Side::accepts)};
    if (!session) return NoHandshake::start(std::move(socket), std::move(done));
    auto handshake =
        std::make_shared<TlsHandshake>(std::move(socket), std::move(session), std::move(done));
    handshake->begin(side);
    return handshake;
}

std::string tls_alert(const asio::error_code& error) {
    if (error.category() != asio::error::get_ssl_category()) return {};
    if (error == asio::ssl::error::stream_truncated) return {};
    const int reason = ERR_GET_REASON(static_cast<unsigned long>(error.value()));
    if (auto alert = alert_problem(reason); !alert.empty()) return alert;
    switch (reason) {
        case SSL_R_WRONG_VERSION_NUMBER:
        case SSL_R_HTTP_REQUEST:
        case SSL_R_PACKET_LENGTH_TOO_LONG:
        case SSL_R_RECORD_LENGTH_MISMATCH:
        case SSL_R_UNEXPECTED_MESSAGE:
            return "the other side does not speak TLS: set its files below [tls] there, too";
        case SSL_R_PEER_DID_NOT_RETURN_A_CERTIFICATE: return "it presents no certificate";
        default: return "TLS: " + error.message();
    }
}

}  // namespace mortise::transport
