// HTTPS: TLS 1.3 with the certificate of the node. A client may present one of the same authority.
#pragma once

#include <filesystem>
#include <memory>
#include <mutex>
#include <set>
#include <string>

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
    using Time = std::filesystem::file_time_type;

    [[nodiscard]] Context read() const;
    // When one of the files was written last.
    [[nodiscard]] Time written() const;
    // Reads the files again if they have changed; those that cannot be used are left out.
    [[nodiscard]] const Context& present();  // requires mutex_

    const TlsConfig files_;
    std::mutex mutex_;
    Time read_;
    Context context_;
};

}  // namespace mortise::door
