// Links between nodes that can be broken, for tests and demonstrations.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <string>

namespace mortise::testkit {

enum class LinkMode : std::uint8_t {
    pass,
    drop,    // bytes are dropped: connections stay, and new ones are accepted
    refuse,  // connections are reset, new ones too
};

struct LinkCounters {
    std::uint64_t connections = 0;
    std::uint64_t bytes_passed = 0;
    std::uint64_t bytes_dropped = 0;
};

// Forwards any number of links, each from its own loopback port to a target, on one thread.
//
// A TCP stream with missing bytes is useless. So when a link passes again, connections that lost
// bytes, or whose end was not reported, are reset. All members are thread-safe, take effect before
// they return, and throw std::system_error.
class LinkProxy {
public:
    using Link = std::size_t;

    LinkProxy();
    ~LinkProxy();
    LinkProxy(const LinkProxy&) = delete;
    LinkProxy& operator=(const LinkProxy&) = delete;

    // Adds a link and listens at once. Until the link has a target its connections are reset.
    Link add_link();
    // The address of the link, "127.0.0.1:port".
    [[nodiscard]] std::string address(Link link) const;
    // Applies to new connections. `target` is a numerical address, "127.0.0.1:port".
    void set_target(Link link, const std::string& target);
    void set_mode(Link link, LinkMode mode);
    [[nodiscard]] LinkCounters counters(Link link) const;

private:
    class Impl;
    std::unique_ptr<Impl> impl_;
};

}  // namespace mortise::testkit
