// httplib's part of the console and of the door: it parses requests, and writes answers. Sockets
// and threads are not left to it, since a host may have more descriptors than select() can take,
// children that inherit descriptors, and clients that are slower than it has patience for.
#pragma once

#include <csignal>

#include <httplib.h>

#include "embed/http/connection.hpp"

namespace mortise::http {

// httplib's constructor makes the whole process ignore SIGPIPE. What the host had set stays.
class KeptSigpipe {
public:
    KeptSigpipe() noexcept { ::sigaction(SIGPIPE, nullptr, &kept_); }

protected:
    void restore() const noexcept { ::sigaction(SIGPIPE, &kept_, nullptr); }

private:
    struct sigaction kept_ {};
};

class HttpServer : private KeptSigpipe, public httplib::Server {
public:
    HttpServer();

    // Answers its requests until it ends. Any thread, and several at a time.
    void serve(Connection& connection);
    // The connection that this thread serves. Only in handlers.
    [[nodiscard]] static Connection& current();

private:
    // False if there is to be no further request.
    bool serve_one(Connection& connection);
};

}  // namespace mortise::http
