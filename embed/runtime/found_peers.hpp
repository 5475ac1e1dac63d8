// What a node knows of the addresses that the name of its peers has (docs/decisions/0099). The name
// says where nodes are; who is there only the nodes say, each at its address. No answer of a name
// server takes back what is known: an address that is wrong is found out by whoever connects with
// it.
#pragma once

#include <cstddef>
#include <functional>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "core/base/instant.hpp"
#include "core/node/hello.hpp"
#include "core/raft/entry.hpp"

namespace mortise::detail {

class FoundPeers {
public:
    static constexpr std::size_t addresses_max = 64;

    struct Node {
        core::NodeId id;
        std::string address;
        // Empty if it only proved its id, and does not speak with this node.
        std::optional<core::Hello> hello{};
        // The newest change of the members that the asking node knew when it asked: what the hello
        // says may be wrong after the next one.
        core::LogId asked_at{};
    };
    // Whether a node that was found has to be asked again who it is.
    using IsOpen = std::function<bool(const Node&)>;

    // The name has these addresses now. If there are none, nothing changes.
    void resolved(const std::vector<std::string>& addresses);
    // The addresses at which to ask now who is there: those where nobody answered yet, and those of
    // nodes that are open.
    [[nodiscard]] std::vector<std::string> take_due(core::Instant now, const IsOpen& is_open);
    void answered(const Node& node);
    // Nobody of this cluster is there, as far as could be told.
    void failed(const std::string& address);

    // Where each node was found last.
    using Addresses = std::map<core::NodeId, std::string>;
    [[nodiscard]] Addresses addresses() const { return newest_; }
    // The same without ids that two nodes have: with which of them a cluster is formed must not be
    // left to chance.
    [[nodiscard]] Addresses unambiguous() const;
    // Those that answered at the addresses that the name has now.
    [[nodiscard]] std::vector<Node> nodes() const;
    // "10.0.0.1:7401 and 10.0.0.4:7401 are both node 1"; empty if each id has one node.
    [[nodiscard]] std::string ambiguity() const;

private:
    struct Place {
        std::optional<Node> node;
        core::Instant ask_at{};
        bool is_asked = false;  // and has not answered yet
    };

    // Two places of one id with different directories; of one machine with two addresses they are
    // the same.
    [[nodiscard]] std::optional<std::pair<Node, Node>> namesakes(core::NodeId id) const;

    std::map<std::string, Place> places_;  // by the addresses of the newest answer
    Addresses newest_;
};

}  // namespace mortise::detail
