// Whom this node connects with, and at which addresses: the peers of its file or those that were
// found by their name, those that its core names, and callers that claim to be members.
#pragma once

#include <map>
#include <optional>
#include <string>
#include <vector>

#include "core/node/hello.hpp"
#include "core/raft/configuration.hpp"
#include "transport/sockets/network_values.hpp"
#include <mortise/config.hpp>

namespace mortise::detail {

// For one run of a node.
class PeersToCall {
public:
    // The configuration outlives it.
    explicit PeersToCall(const Config& config);

    // The peers as the core names them now. They replace the callers, who are among them if they
    // are members.
    void name(const std::vector<core::Member>& peers);
    // Where nodes were found by the name of the peers. It takes the place of the file's addresses.
    void found(const std::map<core::NodeId, std::string>& addresses);
    // The peers of the file. With a name: the voters that form the cluster, and who was found; the
    // address of one that was not found is empty.
    [[nodiscard]] const std::vector<PeerConfig>& listed() const { return listed_; }
    // While this node has no leader, it also connects with every peer in the file, because all
    // members that it knew may be gone.
    void set_has_leader(bool has_leader) { has_leader_ = has_leader; }

    enum class Caller {
        ignored,  // it is known, claims nothing, or has no address; or there are too many
        far,      // it is on another machine, and all members are on this one
        added
    };
    // A node that became a member while this node was away, or before it lost its directory, is
    // unknown here. It may be the leader, and this node may get what it lacks only from it. Its
    // messages are judged when they arrive; if it is not a member, it is told so. Without TLS any
    // program on this machine may call, and all members are on this machine, so an address on
    // another machine is never dialled.
    [[nodiscard]] Caller introduce(const core::Hello& caller);

    // Empty as long as neither the core nor a caller nor the name of the peers has named anybody.
    // `present` is the configuration of the cluster.
    [[nodiscard]] std::vector<transport::PeerAddress> addresses(
        const core::Configuration& present) const;

private:
    using Addresses = std::vector<transport::PeerAddress>;
    [[nodiscard]] Addresses of_file(const core::Configuration& present) const;
    [[nodiscard]] Addresses of_name(const core::Configuration& present) const;
    [[nodiscard]] bool is_peer(core::NodeId id) const;
    [[nodiscard]] bool is_member(core::NodeId id, const core::Configuration& present) const;
    // Whether only loopback addresses are dialled of those that an unknown caller names.
    [[nodiscard]] bool dials_loopback_only() const;

    // the configuration of this node: set by the constructor
    const Config& config_;
    // see listed(): set by the constructor and found()
    std::vector<PeerConfig> listed_;
    // whether somebody was found by name
    bool has_found_ = false;
    // the peers as the core named them last: set by name()
    std::vector<core::Member> peers_;
    // the addresses of callers that claimed to be members: added by introduce() until name()
    std::map<core::NodeId, std::string> introduced_;
    // whether this node knows a leader: set by set_has_leader()
    bool has_leader_ = false;
};

}  // namespace mortise::detail
