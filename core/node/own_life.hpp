// Whether this node's own generation still counts: what its peers say about it, and what its own
// state shows. LifeDoubts weighs the statements; this decides which of them count, and what follows
// (docs/decisions/0029).
#pragma once

#include "core/locks/table/session_table.hpp"
#include "core/node/event.hpp"
#include "core/node/life_doubts.hpp"
#include "core/node/peers.hpp"

namespace mortise::core {

class OwnLife {
public:
    OwnLife(const NodeOptions& options, const Raft& raft, const Peers& peers);

    // --- what peers say
    void heard_hello(NodeId peer) { doubts_.heard_hello(peer); }
    // True if it is the first statement of that peer.
    bool refused(const LifeRefused& event, Instant now);
    enum class Said : std::uint8_t {
        refused,  // the statement does not count
        again,    // it was known
        news,     // the first one of that peer
        // The first one, of the only other member. It has to say hello again and repeat it, because
        // one statement is not enough.
        news_of_only_other,
    };
    Said said(NodeId from, const Superseded& message, Instant now);

    // --- what follows
    [[nodiscard]] bool is_outlived_in(const SessionTable& sessions) const;
    // The cluster has opened a session for this run, and this node has applied that.
    void accepted() { is_accepted_ = true; }
    // True if it takes no part in elections. Forgets statements that are too old.
    [[nodiscard]] bool is_doubted(Instant now);
    enum class Verdict : std::uint8_t {
        none,      // nothing is to be done now
        ask,       // all others are to be asked
        outlived,  // as in LifeDoubts
        copied,
    };
    [[nodiscard]] Verdict judge(Instant now);
    [[nodiscard]] Instant deadline() const;

    // --- for an operator
    // The members that say that this directory was rolled back or is a copy, and since when.
    [[nodiscard]] const LifeDoubts& doubts() const { return doubts_; }

private:
    [[nodiscard]] bool is_time_to_ask(Instant now);

    const NodeOptions& options_;
    const Raft& raft_;
    const Peers& peers_;
    LifeDoubts doubts_;
    Instant ask_at_ = Instant::never();
    bool is_accepted_ = false;
};

}  // namespace mortise::core
