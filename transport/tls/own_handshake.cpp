#include "transport/tls/own_handshake.hpp"

#include <string>

namespace mortise::transport {

namespace {

enum class Step { waits, done, failed };

Step proceed(SSL* session) {
    ERR_clear_error();
    const int result = SSL_do_handshake(session);
    if (result == 1) return Step::done;
    const int why = SSL_get_error(session, result);
    return why == SSL_ERROR_WANT_READ || why == SSL_ERROR_WANT_WRITE ? Step::waits : Step::failed;
}

core::Error why_failed(SSL* session) {
    const auto verified = SSL_get_verify_result(session);
    const auto words = openssl::take_error();
    const auto why = verified == X509_V_OK ? words : openssl::not_trusted(verified);
    return {std::make_error_code(std::errc::bad_message),
            "a TLS 1.3 connection with it fails on this machine: " + why +
                "; a policy of OpenSSL may be the reason (openssl.cnf, OPENSSL_CONF)"};
}

}  // namespace

core::Result<void> shake_own_hand(SSL_CTX* context, bool is_of_node) {
    const openssl::Session server{SSL_new(context)};
    const openssl::Session client{SSL_new(context)};
    BIO* ends[2] = {nullptr, nullptr};
    if (!server || !client || BIO_new_bio_pair(&ends[0], 0, &ends[1], 0) != 1)
        return openssl::failed("cannot try a TLS connection", std::errc::not_enough_memory);
    SSL_set_bio(server.get(), ends[0], ends[0]);
    SSL_set_bio(client.get(), ends[1], ends[1]);
    SSL_set_accept_state(server.get());
    SSL_set_connect_state(client.get());
    if (!is_of_node) SSL_set_verify(client.get(), SSL_VERIFY_NONE, nullptr);
    // Each turn passes on what fits between them: a chain takes a few.
    constexpr int turns_max = 1'000;
    for (int turn = 0; turn < turns_max; ++turn) {
        const auto ours = proceed(client.get());
        if (ours == Step::failed) return why_failed(client.get());
        const auto theirs = proceed(server.get());
        if (theirs == Step::failed) return why_failed(server.get());
        if (ours == Step::done && theirs == Step::done) return {};
    }
    return openssl::failed("a TLS connection with it does not come about");
}

}  // namespace mortise::transport
