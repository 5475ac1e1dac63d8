// HTTPS: TLS 1.3 with the certificate of the node. A client may present one of the same authority.
#pragma once

#include <memory>
#include <set>
#include <string>

#include "embed/door/followed.hpp"
#include "embed/http/wire.hpp"
#include <mortise/config.hpp>

using SSL_CTX = struct ssl_ctx_st;

namespace mortise::door {

// Thread-safe.
class Tls {
public:
    // Throws std::system_error with one line if the files cannot be used.
    explicit Tls(const TlsConfig& files);
    ~Tls();
    Tls(const Tls&) = delete;
    Tls& operator=(const Tls&) = delete;

    // Whether the present authorities have signed what the client presented, and nothing in its
    // chain is revoked by now. The wire was made by wire().
    [[nodiscard]] bool trusts(const http::Wire& wire);
    // The handshake comes with the first bytes that are read.
    [[nodiscard]] std::unique_ptr<http::Wire> wire(http::Descriptor socket);

private:
    struct Context {
        std::shared_ptr<SSL_CTX> ssl;
        std::set<std::string> revoked;
    };
    [[nodiscard]] Context read() const;

    const TlsConfig files_;
    Followed<Context> context_;  // the node logs which files are of no use
};

}  // namespace mortise::door
