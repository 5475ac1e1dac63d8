// A web page that shows a node and its cluster: members, holders, waiters, events. It reads, and it
// can break a lock. docs/console.md describes the page, its JSON and its metrics.
//
// It is a library of its own: link mortise::console.
#pragma once

#include <memory>
#include <optional>
#include <string>
#include <vector>

#include <mortise/config.hpp>
#include <mortise/node.hpp>

namespace mortise {

// It is an aggregate: name the members that you set. New members are added at the end.
struct ConsoleOptions {
    // "ADDRESS:PORT", where ADDRESS is an IP address or "localhost". Port 0 means any free port.
    std::string listen = "127.0.0.1:7480";
    // Allows an address that other machines reach. Whoever reaches it can see the names and labels
    // of all locks; there is no password and no TLS.
    bool allow_remote = false;
    // Further names by which browsers reach it, for example that of a proxy before it; a port is
    // not looked at. Requests to other names are refused, so that no other web site can make a
    // browser read it.
    std::vector<std::string> hosts{};
    // Whether locks can be broken here. Not set: only if the address is a loopback address and the
    // node has no TLS, because then every program of this machine may break locks (decision 0016).
    std::optional<bool> allow_break{};
    // To ask the other members how they are: the files of Config::tls, if the cluster has TLS.
    TlsConfig tls{};
    // The console's own lines: where it listens if that is not loopback, whether everybody there
    // breaks locks, and which locks it broke.
    LogConfig log{};
};

// Serves the page on threads of its own, until close(). It uses only the public members of the
// node, with ReadLevel::local: it shows what this node knows, and works while the cluster has no
// majority. At most 32 connections, 8 streams of events and 4 breaks at a time; the next connection
// closes the oldest one that is idle or slow. Every answer is bounded.
//
// The node must outlive the console and must not be moved meanwhile. In the child of a fork() a
// console of the parent does nothing.
class Console {
public:
    // Checks `listen` and `hosts`, and throws what the constructor throws for them. A program can
    // so refuse a mistake before it opens a node. Opens nothing and does not block.
    static void check(const ConsoleOptions& options);

    // Listens and starts. Throws std::system_error with one line: invalid_argument for a malformed
    // address or name, or for one that is not loopback without allow_remote; otherwise the system's
    // code, for example for a port in use.
    explicit Console(Node& node, ConsoleOptions options = {});
    // Calls close().
    ~Console();
    Console(Console&&) noexcept;
    Console& operator=(Console&&) noexcept;

    // Where it listens, "127.0.0.1:7480".
    [[nodiscard]] std::string address() const;
    // For a browser on this machine, "http://127.0.0.1:7480/".
    [[nodiscard]] std::string url() const;

    // Closes all connections and ends the threads. Waits for a call of the node that is in
    // progress: mostly milliseconds; a break takes at most the node's call_timeout. Thread-safe;
    // must not be called on a thread of the console. A second call has no effect.
    void close() noexcept;

private:
    class Impl;
    std::unique_ptr<Impl> impl_;
};

}  // namespace mortise
