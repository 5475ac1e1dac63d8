// A door for programs of every language: locks with plain HTTP and JSON. docs/http.md describes
// what it answers.
//
// It is a library of its own: link mortise::http_door.
#pragma once

#include <chrono>
#include <cstddef>
#include <filesystem>
#include <memory>
#include <string>
#include <vector>

#include <mortise/config.hpp>
#include <mortise/duration.hpp>
#include <mortise/node.hpp>

namespace mortise {

// It is an aggregate: name the members that you set. New members are added at the end.
struct HttpDoorOptions {
    // "ADDRESS:PORT", where ADDRESS is an IP address or "localhost". Port 0 means any free port.
    std::string listen = "127.0.0.1:7481";
    // Allows an address that other machines reach although there is neither TLS nor a file of
    // tokens: then whoever reaches it may do everything that this node may.
    bool allow_remote = false;
    // Further names by which clients reach it, besides its address and those in the certificate of
    // `tls`; a port is not looked at. Requests to other names are refused, so that no other web
    // site can make a browser use it.
    std::vector<std::string> hosts{};
    // HTTPS, with the certificate of the node (Config::tls). A client presents the certificate of a
    // user, whose roles and rules count, or a token.
    TlsConfig tls{};
    // Who may do what with `Authorization: Bearer`; docs/http.md has the format. Only its owner may
    // read the file.
    std::filesystem::path tokens{};
    // Bounds. What goes beyond is refused with resource_exhausted.
    std::size_t sessions = 4'096;  // with those of streams
    std::size_t streams = 2'048;   // and answers that are waited for
    std::size_t holds_per_session = 256;
    Duration wait_max = std::chrono::hours{24};  // of an acquire that has no limit, or a longer one
    // The door's own lines.
    LogConfig log{};
};

// Serves HTTP on threads of its own, until close(). Each session of a client is an owner within the
// session of this node: it ends with its time, with its connection, with the door or with the node.
// A client that was not heard in its time loses what it holds; all others release it.
//
// Set Config::holders_elsewhere for the node. The node must outlive the door and must not be moved
// meanwhile. In the child of a fork() a door of the parent does nothing.
class HttpDoor {
public:
    // Checks the options, and throws what the constructor throws for them. Opens no socket and does
    // not block but on the file of tokens.
    static void check(const HttpDoorOptions& options);

    // Listens and starts. Throws std::system_error with one line: invalid_argument for options that
    // are wrong; otherwise the system's code, for example for a port in use.
    explicit HttpDoor(Node& node, HttpDoorOptions options = {});
    // Calls close().
    ~HttpDoor();
    HttpDoor(HttpDoor&&) noexcept;
    HttpDoor& operator=(HttpDoor&&) noexcept;

    // Where it listens, "127.0.0.1:7481".
    [[nodiscard]] std::string address() const;
    // "http://127.0.0.1:7481", or with https.
    [[nodiscard]] std::string url() const;

    // Tells streams that they lose their holds, refuses new holds, and ends the threads when no
    // client may rely on a hold any more: when each was released, or the time is over for which it
    // was promised. That is at most what the node vouches for, TimingConfig::session_ttl. Then
    // it closes all connections. Waits also for calls of the node that are in progress, at most its
    // call_timeout. Close the door before its node: a closed node gives all holds back at once.
    // Thread-safe; must not be called on a thread of the door. A second call has no effect.
    void close() noexcept;

private:
    class Impl;
    std::unique_ptr<Impl> impl_;
};

}  // namespace mortise
