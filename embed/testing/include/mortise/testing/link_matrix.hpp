#pragma once

#include <cstddef>
#include <string>
#include <vector>

#include <mortise/testing/link_proxy.hpp>

namespace mortise::testing {

// The links of a whole cluster: one for each node that calls and each other that is called. As
// thread-safe as LinkProxy, once it is made.
class LinkMatrix {
public:
    explicit LinkMatrix(std::size_t nodes);

    // Where `from` finds `to`.
    [[nodiscard]] std::string address(std::size_t from, std::size_t to) const;
    // Where `to` listens really, for all who call it.
    void set_target(std::size_t to, const std::string& target);
    // All links from and to a node.
    void set_mode(std::size_t node, LinkMode mode);
    // One direction: what `from` says on connections it opened, and what it is answered there.
    void set_mode(std::size_t from, std::size_t to, LinkMode mode);
    [[nodiscard]] LinkCounters counters(std::size_t from, std::size_t to) const;

private:
    [[nodiscard]] LinkProxy::Link link(std::size_t from, std::size_t to) const;

    std::size_t nodes_;
    LinkProxy proxy_;
    std::vector<LinkProxy::Link> links_;
};

}  // namespace mortise::testing
