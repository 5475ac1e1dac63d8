// When a voter asks for votes: after a leader that falls silent or is lost, and again after an
// attempt that failed (docs/decisions/0042). The voters take turns, so that the first one is
// elected before the second one would ask.
#pragma once

#include <cstdint>
#include <optional>
#include <set>

#include "core/base/ids.hpp"
#include "core/base/instant.hpp"
#include "core/base/prng.hpp"
#include "core/raft/configuration.hpp"
#include "core/raft/patience.hpp"

namespace mortise::core {

class Succession {
public:
    // What it needs of the options of a node.
    struct Timing {
        NodeId self;
        Nanoseconds election_timeout;
        Nanoseconds heartbeat;
    };
    Succession(const Timing& timing, Prng prng);

    // --- what happens
    void heard(NodeId leader, Term term, Instant now);
    // What comes over a later connection of that peer is no delay of its messages.
    void connection_lost(NodeId peer);
    // The timer of a follower fired that late. True if it waits for longer from now on.
    bool was_late(Nanoseconds delay, Instant now);
    void began_attempt() { ++attempts_; }
    void led();
    // A voter gives a candidate time to win after its vote, once until a leader is heard.
    [[nodiscard]] bool gives_time(NodeId candidate) { return given_time_.insert(candidate).second; }
    // Without capacity it asks for votes later than others. If nobody has capacity, one of them
    // leads all the same.
    void set_room(bool has_room) { has_room_ = has_room; }
    [[nodiscard]] bool has_room() const { return has_room_; }

    // --- when to ask
    // How long a leader may be silent.
    [[nodiscard]] Nanoseconds patience() const { return patience_.value(); }
    // While no leader is known: it may take this long until one is elected and heard.
    [[nodiscard]] Instant without_leader(Instant now);
    // If `leader`, which was heard last at `heard`, says nothing more.
    [[nodiscard]] Instant after_silence(const Configuration& present, NodeId leader, Instant heard);
    // After a connection to the leader broke; empty: at once. `another_asks`: this node has just
    // answered another one's question.
    [[nodiscard]] std::optional<Instant> after_loss(const Configuration& present, NodeId lost,
                                                    bool another_asks, Instant now);
    // After a refusal, which shows that the others can answer. The turn doubles with each attempt.
    [[nodiscard]] Instant after_refusal(const Configuration& present, Instant now,
                                        int doublings_max = 8);

private:
    // The voters that may ask for votes, in the order of their ids.
    struct Queue {
        std::int64_t length = 0;
        std::int64_t ahead = 0;  // of this node
    };
    // The newest message of a leader.
    struct Contact {
        NodeId leader;
        Term term;
        Instant at;
    };

    [[nodiscard]] Queue voters_without(const Configuration& present, NodeId missing) const;
    [[nodiscard]] Nanoseconds turn(Nanoseconds slot, std::int64_t ahead);
    [[nodiscard]] Nanoseconds lets_others_ask() const;

    Timing timing_;
    Prng prng_;  // separates voters that missed a leader at different moments
    Patience patience_;
    Contact contact_;              // of no leader: none was heard, or its connection has broken
    int attempts_ = 0;             // to be elected, since a leader was heard
    std::set<NodeId> given_time_;  // that got a vote since a leader was heard
    bool has_room_ = true;         // as set last
};

}  // namespace mortise::core
