// The leader's side of membership changes: it considers a request, begins the change, and replies
// with its progress. MembershipCalls is the requesting side. A leader replaces members that lost
// their directory without a request.
#pragma once

#include <optional>
#include <string>

#include "core/node/effects.hpp"
#include "core/node/log_formats.hpp"
#include "core/node/membership_calls.hpp"
#include "core/node/wanted_peers.hpp"

namespace mortise::core {

class MembershipDesk {
public:
    MembershipDesk(const NodeOptions& options, const Peers& peers, const LogFormats& formats,
                   Raft& raft);

    // Sends the requests of this node's program to the leader, or considers them if this node
    // leads; and answers calls that have ended.
    void ask(MembershipCalls& calls, Effects& effects, Instant now);
    // The reply to a peer's request; empty if that peer is not a member.
    [[nodiscard]] std::optional<MembershipReply> answer(NodeId from,
                                                        const MembershipRequest& request,
                                                        Instant now);
    // For a leader: tried at every step until it is done.
    void take_in_newcomers(Instant now);
    // Likewise: the cluster gets the durability that all members are configured with.
    void follow_durability(Instant now);
    // The peers that this node should be connected with, if they have changed.
    [[nodiscard]] std::optional<std::vector<Member>> take_changed_peers(Instant now);
    [[nodiscard]] Instant deadline() const { return wanted_.deadline(); }

private:
    MembershipReply consider(const MembershipRequest& request, Instant now);
    MembershipReply consider_members(const MembershipRequest& request, Instant now);
    MembershipReply consider_leader(const MembershipRequest& request, Instant now);
    ChangeResult begin_change(const MembershipGoal& goal, Instant now);
    ChangeResult add_member(NodeId id, const std::string& address, Instant now);
    ChangeResult promote(NodeId id, Instant now);
    [[nodiscard]] bool is_settled() const;

    const NodeOptions& options_;
    const Peers& peers_;
    const LogFormats& formats_;
    Raft& raft_;
    // New nodes that this leader was asked to add, and recently removed members, too.
    WantedPeers wanted_;
};

}  // namespace mortise::core
