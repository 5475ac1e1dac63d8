// Executes what PeerConnections decides about connections and messages of peers.
#include <algorithm>
#include <utility>

#include "transport/network/network_impl.hpp"
#include "transport/sockets/clock.hpp"

namespace mortise::transport {
namespace {

// The limit of messages that are kept for a connection whose peer is not up yet. It comes up within
// a round trip, or not at all.
constexpr std::size_t early_bytes_max = 4 * send_bytes_max;

}  // namespace

void PeerNetwork::Impl::drop_former(PeerLink& link) {
    apply(connections_.drop_former(link.peer(), link.lane()));
}

std::optional<ConnectionId> PeerNetwork::Impl::link_up(PeerLink& link, const Greeting& theirs) {
    const auto admission = connections_.admit(Direction::outgoing, link.lane(), theirs.hello);
    if (!admission.id) counters_.refused.count(admission.refusal);
    apply(admission.change);
    tick_sooner();
    return admission.id;
}

void PeerNetwork::Impl::link_down(ConnectionId id) {
    apply(connections_.ended(id));
}

void PeerNetwork::Impl::refused(PeerLink& link, Refusal why) {
    if (!stopped_) events_.refused(link.peer(), why);
}

void PeerNetwork::Impl::unreached(PeerLink& link, const std::string& why) {
    if (!stopped_) events_.unreached(link.peer(), why);
}

void PeerNetwork::Impl::bury(std::unique_ptr<RpcConnection> connection) {
    dead_connections_.push_back(std::move(connection));
}

// These are errors in a configuration, which continue until a person reads about them.
void PeerNetwork::Impl::report_refused(InboundConnection& inbound, const core::Hello& caller,
                                       Refusal refusal) {
    const auto from = inbound.from().to_string();
    const auto node = "node " + std::to_string(caller.node.raw());
    std::string text;
    if (refusal == Refusal::cluster_name) {
        text = "refused " + node + " (from " + from + "): it is configured for the cluster \"" +
               caller.cluster_name + "\", this node for \"" + events_.hello().cluster_name + "\"";
    } else if (refusal == Refusal::id_in_use) {
        text = "refused a second " + node + " (from " + from + "): the one at its own address is " +
               "connected, and every node needs an id and a directory of its own";
    }
    if (!text.empty() && notices_.may_say(node, text, steady_now())) log(LogLevel::warning, text);
}

Admittance PeerNetwork::Impl::refuse(Refusal refusal) {
    counters_.refused.count(refusal);
    log(LogLevel::debug, "refused a caller: " + std::string{to_string(refusal)});
    return {refusal, {}, std::nullopt, std::nullopt};
}

// Those whose certificates are good for clients, too.
std::vector<core::NodeId> PeerNetwork::Impl::members() const {
    std::vector<core::NodeId> members{options_.self};
    for (const auto& peer : known_) {
        if (peer.is_member) members.push_back(peer.id);
    }
    return members;
}

Admittance PeerNetwork::Impl::admit(InboundConnection& inbound,
                                    const std::optional<Greeting>& caller) {
    if (!caller) return refuse(Refusal::malformed);
    if (stopped_) return refuse(Refusal::stopping);
    std::vector<core::NodeId> known;
    for (const auto& peer : known_)
        known.push_back(peer.id);
    if (const auto* proven = inbound.identity()) {
        if (const auto refusal = judge_identity(*proven, *caller, options_.cluster, members()))
            return refuse(*refusal);
    }
    if (const auto refusal = judge_caller(*caller, events_.hello(), known)) {
        if (refusal == Refusal::unknown_node) events_.introduced(caller->hello);
        const bool is_peer =
            std::ranges::find(known, caller->hello.node) != known.end() && lane_of(caller->purpose);
        if (is_peer) report_refused(inbound, caller->hello, *refusal);
        return refuse(*refusal);
    }
    const auto lane = lane_of(caller->purpose);
    if (!lane) return admit_client(inbound);
    auto proven = *caller;
    if (inbound.identity() != nullptr) proven.hello.access = inbound.identity()->access;
    return admit_peer(inbound, *lane, proven);
}

// The caller's hello is processed before our half of the hello is written, because it may change
// our half.
Admittance PeerNetwork::Impl::admit_peer(InboundConnection& inbound, Lane lane,
                                         const Greeting& caller) {
    const auto admission = connections_.admit(Direction::incoming, lane, caller.hello);
    if (!admission.id) {
        report_refused(inbound, caller.hello, admission.refusal);
        return refuse(admission.refusal);
    }
    inbound.become_peer(caller.hello.node, *admission.id, lane);
    apply(admission.change);
    if (stopped_) return refuse(Refusal::stopping);
    for (const auto& link : links_) {
        if (link->peer() == caller.hello.node) link->peer_seen();
    }
    Admittance admittance;
    admittance.ours.purpose = caller.purpose;
    admittance.ours.hello = events_.hello();
    admittance.peer = make_peer();
    return admittance;
}

void PeerNetwork::Impl::malformed(InboundConnection& inbound) {
    ++counters_.malformed_messages;
    left(inbound);
}

void PeerNetwork::Impl::left(InboundConnection& inbound) {
    if (inbound.sent_bad_frame()) ++counters_.malformed_frames;
    if (const auto* cause = inbound.forbidden()) forbidden(inbound.from().to_string(), cause);
    const auto id = inbound.id();
    close(inbound);
    if (id) apply(connections_.ended(*id));
}

void PeerNetwork::Impl::close(InboundConnection& inbound) {
    const auto found = inbound_.find(&inbound);
    if (found == inbound_.end()) return;
    inbound.close();
    kept_bytes_ -= inbound.kept_bytes();
    dead_inbound_.push_back(std::move(found->second));
    inbound_.erase(found);
}

void PeerNetwork::Impl::apply(const PeerChange& change) {
    for (const auto id : change.close)
        close(id);
    if (change.down) {
        for (const auto& link : links_) {
            if (link->peer() == *change.down) link->throw_away();
        }
        if (!stopped_) events_.peer_down(*change.down);
    }
    if (!change.up || stopped_) return;
    const auto peer = change.up->node;
    events_.peer_up(*change.up);
    deliver_early(peer);
    for (const auto& link : links_) {
        if (link->peer() != peer) link->network_seen();
    }
}

void PeerNetwork::Impl::close(ConnectionId id) {
    for (const auto& link : links_) {
        if (link->id() == id) return link->lose();
    }
    for (const auto& [inbound, owned] : inbound_) {
        if (inbound->id() == id) return close(*inbound);
    }
}

void PeerNetwork::Impl::received(InboundConnection& inbound, std::vector<core::PeerMessage> batch) {
    if (!inbound.id()) return;
    for (auto& message : batch) {
        switch (connections_.verdict(*inbound.id())) {
            case PeerConnections::Verdict::deliver:
                deliver(inbound.peer(), std::move(message));
                break;
            case PeerConnections::Verdict::early:
                if (inbound.keep_early(message, early_bytes_max, steady_now())) break;
                [[fallthrough]];
            case PeerConnections::Verdict::late: ++counters_.messages_dropped;
        }
    }
}

void PeerNetwork::Impl::deliver(core::NodeId from, core::PeerMessage message) {
    if (stopped_) return;
    ++counters_.messages_received;
    events_.received(from, std::move(message));
}

void PeerNetwork::Impl::deliver_early(core::NodeId peer) {
    std::vector<std::shared_ptr<InboundConnection>> open;
    for (const auto& [inbound, owned] : inbound_) {
        if (inbound->id() && inbound->peer() == peer) open.push_back(owned);
    }
    for (const auto& inbound : open) {
        for (auto& message : inbound->take_early())
            deliver(peer, std::move(message));
    }
}

}  // namespace mortise::transport
