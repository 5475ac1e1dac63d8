// The nodes that this node should be connected with: the members, and for a while some others. A
// new node must be connected before it can be added, since only it knows its incarnation. A removed
// node stays connected, so that it learns of its removal.
#pragma once

#include <map>
#include <optional>
#include <string>
#include <vector>

#include "core/base/instant.hpp"
#include "core/raft/configuration.hpp"
#include "core/raft/entry.hpp"

namespace mortise::core {

class WantedPeers {
public:
    // Nodes that are no members are wanted for `outsiders_for`.
    explicit WantedPeers(Nanoseconds outsiders_for) : outsiders_for_{outsiders_for} {}

    // A node that may become a member. Its time begins anew with each call.
    void expect(NodeId id, const std::string& address, Instant now);
    // All of these nodes if they have changed since the last call. `present` is the configuration
    // in force, and `at` is its entry in the log.
    [[nodiscard]] std::optional<std::vector<Member>> take_changed(const Configuration& present,
                                                                  LogId at, Instant now);
    // When the next node that is no member is forgotten.
    [[nodiscard]] Instant deadline() const;

private:
    struct Outsider {
        std::string address;
        Instant until;
    };

    void keep(NodeId id, const std::string& address, Instant now);

    Nanoseconds outsiders_for_;
    std::map<NodeId, Outsider> outsiders_;
    LogId told_;  // the configuration entry that was last reported
    std::map<NodeId, std::string> members_told_;
};

}  // namespace mortise::core
