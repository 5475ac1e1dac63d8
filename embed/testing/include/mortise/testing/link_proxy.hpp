// Links between nodes that can be broken: for tests and demonstrations.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <string>

namespace mortise::testing {

enum class LinkMode : std::uint8_t {
    pass,
    drop,    // bytes vanish and nobody is told: connections stay, new ones open and stay silent
    refuse,  // connections are reset, new ones too
};

struct LinkCounters {
    std::uint64_t connections = 0;
    std::uint64_t bytes_passed = 0;
    std::uint64_t bytes_dropped = 0;
};

// Carries any number of links, each from a loopback port of its own to a target, on one thread.
//
// A TCP stream with a hole in it is of no use: when a link passes again, connections that lost
// bytes meanwhile, or whose end nobody was told of, are reset. All members are thread-safe, and
// what they ask for is in force when they return. They throw std::system_error.
class LinkProxy {
public:
    using Link = std::size_t;

    LinkProxy();
    ~LinkProxy();
    LinkProxy(const LinkProxy&) = delete;
    LinkProxy& operator=(const LinkProxy&) = delete;

    // Listens at once. Until it has a target its connections are reset.
    Link add_link();
    // "127.0.0.1:port", where connections to the link go.
    [[nodiscard]] std::string address(Link link) const;
    // Of connections from now on. A numerical address, "127.0.0.1:port".
    void set_target(Link link, const std::string& target);
    void set_mode(Link link, LinkMode mode);
    [[nodiscard]] LinkCounters counters(Link link) const;

private:
    class Impl;
    std::unique_ptr<Impl> impl_;
};

}  // namespace mortise::testing
