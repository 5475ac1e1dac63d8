#pragma once

#include <cstddef>
#include <string>
#include <vector>

#include <mortise/testkit/link_proxy.hpp>

namespace mortise::testkit {

// The links of a whole cluster: one for each pair of a calling and a called node. Thread-safe like
// LinkProxy once it is constructed.
class LinkMatrix {
public:
    explicit LinkMatrix(std::size_t nodes);

    // The address at which `from` reaches `to`.
    [[nodiscard]] std::string address(std::size_t from, std::size_t to) const;
    // The address at which `to` listens, for all links to it.
    void set_target(std::size_t to, const std::string& target);
    // Sets all links from and to a node.
    void set_mode(std::size_t node, LinkMode mode);
    // Sets one direction: the connections that `from` opens to `to`, with the answers on them.
    void set_mode(std::size_t from, std::size_t to, LinkMode mode);
    [[nodiscard]] LinkCounters counters(std::size_t from, std::size_t to) const;

private:
    [[nodiscard]] LinkProxy::Link link(std::size_t from, std::size_t to) const;

    std::size_t nodes_;
    LinkProxy proxy_;
    std::vector<LinkProxy::Link> links_;
};

}  // namespace mortise::testkit
