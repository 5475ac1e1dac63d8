// The connected peers: what each said in its hello, and whether its statements count. Of each peer
// only one generation counts: the newest of its directory, as long as it still has what earlier
// ones acknowledged (storage/README.md, "What only others can find").
#pragma once

#include <map>
#include <optional>
#include <vector>

#include "core/locks/table/session_table.hpp"
#include "core/node/node_options.hpp"
#include "core/node/peer_memory.hpp"
#include "core/raft/raft.hpp"

namespace mortise::core {

class Peers {
public:
    Peers(const NodeOptions& options, const Raft& raft)
        : options_{options}, raft_{raft}, memory_{4 * options.election_timeout} {}

    // --- connected peers
    // A peer said hello on a new connection, which replaces an earlier one. For `newest_session`
    // see PeerMemory::hear. An outlived peer is not connected: nothing that it says counts.
    PeerMemory::Verdict hear(const Hello& hello, const Generation& newest_session);
    // The state shows more sessions than when these peers said hello. Peers that an opener of one
    // outlived are not connected any more, and are returned.
    [[nodiscard]] std::vector<NodeId> drop_outlived(const SessionTable& sessions);
    void gone(NodeId peer);
    [[nodiscard]] const std::map<NodeId, Hello>& connected() const { return connected_; }
    // Null if it is not connected.
    [[nodiscard]] const Hello* find(NodeId peer) const;
    [[nodiscard]] const Hello* find_outlived(NodeId peer) const;
    // It must be connected.
    [[nodiscard]] const Hello& at(NodeId peer) const { return connected_.at(peer); }
    // How often a leader sends.
    [[nodiscard]] Nanoseconds pace() const;

    // --- peers whose statements count
    [[nodiscard]] bool is_of_cluster(const Hello& hello) const;
    // The peer is connected, and a member.
    [[nodiscard]] bool is_trusted(NodeId peer) const;
    // The peer is connected, belongs to this cluster, and is not a member: it may have missed its
    // removal.
    [[nodiscard]] bool is_stranger(NodeId peer) const;
    // The directory of the peer has lost what it acknowledged.
    [[nodiscard]] bool has_forgotten(const Hello& hello) const;
    // A statement of a connected peer. Returns false if its directory has forgotten something.
    PeerMemory::Belief believe(NodeId from, const RaftMessage& message, Instant now);
    // See PeerMemory.
    [[nodiscard]] bool is_only_witness_against(NodeId peer, Instant now) const;
    // A follower that has forgotten something has it again, and this node leads.
    void counts_again(NodeId peer);
    // A follower answered its leader, which is this node.
    void remember_acknowledged(NodeId from);
    // A leader may have reported what every member has.
    void remember_replicated();
    // What this follower knows of former runs of the members does not matter any more, if the
    // leader shows that (docs/decisions/0089). Returns those that had forgotten something, which
    // count again. `applied` belongs to `sessions`.
    [[nodiscard]] std::vector<NodeId> drop_former_runs(const SessionTable& sessions,
                                                       LogIndex applied);
    // The newest format that it reads; empty if it has not said hello.
    [[nodiscard]] std::optional<std::uint8_t> command_format(Incarnation of) const {
        return memory_.command_format(of);
    }

    // --- certificates, which only a connection shows; also that of this node itself
    [[nodiscard]] bool is_voters_certificate(NodeId peer) const;
    [[nodiscard]] bool is_members_certificate(NodeId peer) const;

private:
    [[nodiscard]] bool concerns_present_members(LogIndex replicated) const;

    const NodeOptions& options_;
    const Raft& raft_;
    std::map<NodeId, Hello> connected_;
    std::map<NodeId, Hello> outlived_;  // connected, but not counted
    PeerMemory memory_;
    LogIndex replicated_known_;  // the newest entry that all others are known to have
};

}  // namespace mortise::core
