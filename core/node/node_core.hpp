// One node, whole and pure: consensus, formation and the identity of peers. Time and chance come
// in; everything that happens is one step.
#pragma once

#include <map>
#include <optional>
#include <set>
#include <vector>

#include "core/node/effects.hpp"
#include "core/node/event.hpp"
#include "core/raft/raft.hpp"

namespace mortise::core {

struct NodeOptions {
    NodeId self;
    Incarnation incarnation;
    BootEpoch boot_epoch;
    std::vector<Member> voters;  // as configured, ascending, incarnations not set; has self
    Nanoseconds election_timeout{std::chrono::seconds{1}};
    Nanoseconds heartbeat{std::chrono::milliseconds{100}};
    std::size_t log_bytes_max = std::size_t{256} << 20U;  // kept for slow members
    std::uint64_t seed = 0;
};

class NodeCore {
public:
    NodeCore(NodeOptions options, RaftState state, Now now);

    // Throws InvariantBroken when this core is wrong: do not touch it again.
    Effects step(Event event, Now now);

    // What to say on a new connection. Changes when the cluster is formed.
    [[nodiscard]] Hello hello() const;
    [[nodiscard]] Instant deadline() const { return raft_.deadline(); }
    [[nodiscard]] const Raft& raft() const { return raft_; }
    // Messages dropped because their sender is not who the configuration says, or not yet.
    [[nodiscard]] std::uint64_t refused_messages() const { return refused_messages_; }

    void check_invariants() const;

private:
    void on(const TimerFired& event, Now now);
    void on(const PeerUp& event, Now now);
    void on(const PeerDown& event, Now now);
    void on(Received& event, Now now);
    void on(const WriteDone& event, Now now);
    void on(const StateDurable& event, Now now);
    void on(Propose& event, Now now);
    void on(const Read& event, Now now);
    void on(const TransferLeadership& event, Now now);

    void on_offer(const FormationOffer& offer, Now now);
    void form_if_unanimous(Now now);
    void offer_formation(NodeId to);
    [[nodiscard]] bool is_formed() const { return raft_.configuration().is_formed(); }
    [[nodiscard]] bool is_trusted(NodeId peer) const;

    NodeOptions options_;
    Prng prng_;
    Raft raft_;
    std::map<NodeId, Hello> connected_;
    std::map<NodeId, BootEpoch> newest_epoch_;
    std::set<NodeId> unfounded_;     // connected, said it is empty, not heard of as a member yet
    std::optional<Entry> founding_;  // entry 1, while the log still has it
    std::map<ReadId, std::uint64_t> reads_;  // what was asked -> the caller's tag
    std::uint64_t reads_asked_ = 0;
    std::uint64_t refused_messages_ = 0;
    Effects effects_;
};

}  // namespace mortise::core
