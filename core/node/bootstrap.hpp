// The bootstrap of a cluster (S47).
//
// Only the voter with the lowest configured id may bootstrap, and only while every configured voter
// is connected, empty, and configured with the same list. A hello was true when it was sent, which
// was not the same moment for all of them. So when the node has heard all hellos it asks them all
// again, and each one answers only if it is still empty in the same run. Then there was a moment,
// when it began to ask, at which all were empty. It writes the first entry with the incarnations
// that it received and, when that is durable, offers it. An empty node accepts an offer that names
// it, by id and incarnation, and is a voter from then on. If a majority were enough, two halves of
// the voters that start in the wrong order could each form a cluster, or a majority with wiped
// disks could form a second one.
//
// A sole voter is always unanimous. Its cluster may have got more members, whom its list lacks, and
// it may have lost its directory since. So it waits for a while, and forms no cluster in this run
// once it has met a member of one.
#pragma once

#include <algorithm>
#include <map>
#include <optional>
#include <set>
#include <vector>

#include "core/node/message.hpp"
#include "core/node/peers.hpp"

namespace mortise::core {

class Bootstrap {
public:
    using Outbox = std::vector<Envelope>;

    // `former`: see NodeState.
    Bootstrap(const NodeOptions& options, const Raft& raft, const Peers& peers, ClusterId former)
        : options_{options}, raft_{raft}, peers_{peers}, former_cluster_{former} {}

    // The hello of this node.
    [[nodiscard]] Hello hello() const;
    // A node without a log may become a member of that cluster; empty: of an unknown one.
    [[nodiscard]] bool may_join(std::optional<ClusterId> cluster) const;

    // --- the node that bootstraps
    // Asks the voters. Once they are unanimous: the first entry of the cluster.
    [[nodiscard]] std::optional<Entry> form_if_unanimous(Prng& prng, Instant now, Outbox& send);
    void take(NodeId from, const FormationAnswer& answer);
    // An empty peer is connected: it needs the first entry if it is a voter.
    void expects_offer(NodeId peer, Outbox& send);
    // A member of a cluster is connected.
    void met_member() { has_met_member_ = true; }
    // It needs none: it is gone, or it has spoken as a member.
    void needs_no_offer(NodeId peer) { unfounded_.erase(peer); }
    // Does nothing if there is a leader, since it sends them the whole log.
    void offer_to_all(Outbox& send) const;
    [[nodiscard]] Instant deadline() const { return std::min(founding_.ask_at, waits_until_); }

    // --- the others
    // Whether this node agrees to be a voter.
    [[nodiscard]] bool agrees(NodeId from, const FormationQuestion& question) const;
    // Whether this node makes the offered entry the first one of its log.
    [[nodiscard]] bool accepts(NodeId from, const FormationOffer& offer) const;
    // It offers the cluster that this node belongs to. Every member makes the offer to each voter
    // that was empty when it was heard of, and repeats it, so most offers come too late.
    [[nodiscard]] bool has_accepted(const FormationOffer& offer) const;

private:
    // The bootstrap that this node is about to make: the voters that were asked, with their
    // incarnations at that time, and those that have agreed.
    struct Founding {
        std::uint64_t round = 0;
        std::map<NodeId, Hello> asked;
        std::set<NodeId> agreed;
        Instant ask_at = Instant::never();
    };

    [[nodiscard]] bool is_formed() const { return raft_.configuration().is_formed(); }
    [[nodiscard]] bool is_formation_durable() const;
    [[nodiscard]] bool may_be_founded() const;
    [[nodiscard]] bool is_held_back(Instant now);
    [[nodiscard]] std::optional<Configuration> unanimous_by_hello() const;
    void ask_founders(const Configuration& configuration, Prng& prng, Instant now, Outbox& send);
    void offer(NodeId to, Outbox& send) const;

    const NodeOptions& options_;
    const Raft& raft_;
    const Peers& peers_;
    ClusterId former_cluster_;
    Founding founding_;
    std::optional<Instant> alone_from_;       // when a sole voter may bootstrap
    Instant waits_until_ = Instant::never();  // the same, while it waits
    bool has_met_member_ = false;
    // Connected, empty by their hellos, and not seen as members yet.
    std::set<NodeId> unfounded_;
};

}  // namespace mortise::core
