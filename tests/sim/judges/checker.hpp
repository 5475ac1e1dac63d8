// The judge of the log. It is informed of everything that happens at the ports of every node, and
// examines all nodes and all disks at once, which no node can. Checks compare what changed; sweep()
// examines everything.
//
//   (1) a term has one leader, with the votes of a majority; an incarnation has one vote in it; and
//       neither term nor vote goes back;
//   (2) index and term identify one entry, and one predecessor, in all logs;
//   (3) an index is committed once and finally, in order and without a gap at each node;
//   (4) what is committed is on the disks of a quorum by then and stays there, and a leader counts
//       only entries of its own term and acknowledgements that are true;
//   (5) a leader has everything that was committed in earlier terms;
//   (6) no message claims more than the disk of its sender has;
//   (7) what was reported durable to a node is there when it starts again;
//   (8) there is one first entry (S47);
//   (9) a deadline that has passed moves on when the timer fires or an entry is applied, and no
//       timer fires repeatedly while nothing else happens;
//   (10) one change of the membership at a time: a leader begins none before the previous one is
//        committed, and the quorums of successive configurations overlap.
//   (11) a leader that knows what a follower has forgotten commits without it, and counts it again
//        when that follower has an entry of this leader that was committed after it was rolled
//        back;
//   (12) an era begins only if a majority may have forgotten entries, and by the votes of all.
#pragma once

#include <algorithm>
#include <map>
#include <vector>

#include "core/node/message.hpp"
#include "core/raft/raft.hpp"
#include "tests/sim/judges/commit_history.hpp"
#include "tests/sim/judges/log_history.hpp"
#include "tests/sim/judges/vote_history.hpp"
#include "tests/sim/machine/sim_disk.hpp"

namespace mortise::sim {

class Checker {
public:
    static constexpr std::uint64_t late_max = 256;

    Checker(std::size_t nodes, Violations& violations, Tally& tally);

    // The platter outlives the checker; the core exists until stopped().
    void attach(core::NodeId node, const Platter& platter);
    void started(core::NodeId node, const core::Raft& raft);
    void stopped(core::NodeId node);
    void wiped(core::NodeId node);
    // The promises that the node made or received do not count any more.
    void rolled_back(core::NodeId node);
    // Entries that were not synced may be gone from its disk.
    void lost_power(core::NodeId node);
    // Whether it was rolled back since it was last wiped, and does not count again.
    [[nodiscard]] bool is_rolled_back(core::NodeId node) const { return view(node).rolled_back; }
    [[nodiscard]] bool was_rolled_back(core::NodeId node) const {
        return view(node).was_rolled_back;
    }
    [[nodiscard]] bool was_any_rolled_back() const {
        return std::ranges::any_of(views_, &View::was_rolled_back);
    }
    // This leader knows what the node, which was rolled back, has forgotten. Not set: none does.
    void forgotten_before(core::NodeId node, core::NodeId leader) {
        view(node).forgotten_before = leader;
    }
    // The node had forgotten something, and the witness, which knew that, counts it again
    // (docs/decisions/0077, 0089). From now on the node has to keep its promises.
    void counts_again(core::NodeId node, core::NodeId witness);

    // At the ports, in the order of the effects.
    void submitted(core::NodeId node, const core::Write& write);
    void on_platter(core::NodeId node, const core::HardState& before, const core::Write& write);
    void sent(core::NodeId from, core::NodeId to, const core::PeerMessage& message);
    void committed(core::NodeId node, const core::Entry& entry);
    // The node has installed a snapshot as of `last`.
    void state_replaced(core::NodeId node, core::LogId last);
    // `deadline` is when the node wants to be called next.
    void after_step(core::NodeId node, bool was_timer, core::Instant now, core::Instant deadline);

    void sweep();

    [[nodiscard]] core::LogIndex committed_last() const { return commits_.last(); }
    // The newest committed configuration; that of the bootstrap counts as committed.
    [[nodiscard]] const core::Configuration& configuration() const { return configuration_; }
    // Its disk is not the one with which it is a member, or was rolled back.
    [[nodiscard]] bool is_lost(core::NodeId node) const { return is_lost(node, configuration_); }
    [[nodiscard]] bool is_lost(core::NodeId node, const core::Configuration& within) const;

private:
    struct View {
        const Platter* platter = nullptr;
        const core::Raft* raft = nullptr;  // null while it is down
        core::Term term;
        core::Role role = core::Role::follower;
        core::LogIndex commit;
        core::LogIndex handed_out;
        std::uint64_t late = 0;  // how many timers in a row left a deadline in the past
        bool was_wiped = false;  // since the cluster was formed
        bool rolled_back = false;
        bool was_rolled_back = false;   // and may count again
        core::NodeId forgotten_before;  // which leader knows better
        core::LogIndex committed_then;  // when it was rolled back
        std::uint64_t timers = 0;       // in a row, since then
        core::Instant timers_since;
        // The durable state as the core last knew it.
        core::HardState durable_state;
        core::LogId durable_log;
    };
    [[nodiscard]] View& view(core::NodeId node) {
        return views_[static_cast<std::size_t>(node.raw() - 1)];
    }
    [[nodiscard]] const View& view(core::NodeId node) const {
        return views_[static_cast<std::size_t>(node.raw() - 1)];
    }
    [[nodiscard]] core::NodeId id_of(const View& of) const {
        return core::NodeId{static_cast<std::uint64_t>(&of - views_.data()) + 1};
    }

    // claims.cpp: (6), by kind of message
    void check_claim(core::NodeId from, core::NodeId to, const core::RaftMessage& message);
    void claim(core::NodeId from, core::NodeId to, const core::VoteRequest& request);
    void claim(core::NodeId from, core::NodeId to, const core::VoteReply& reply);
    void claim(core::NodeId from, core::NodeId to, const core::PreVoteReply& reply);
    void claim(core::NodeId from, core::NodeId to, const core::AppendRequest& request);
    void claim(core::NodeId from, core::NodeId to, const core::AppendReply& reply);
    void claim(core::NodeId from, core::NodeId to, const core::SnapshotReply& reply);
    template <class Other>
    void claim(core::NodeId, core::NodeId, const Other&) {}
    void claim_term(core::NodeId from, core::Term term, const char* what);

    void check_recovered(core::NodeId node, const View& of);
    void check_founding(core::NodeId node);
    // Whether or not the disk of `without` has it.
    void check_quorum(core::NodeId node, core::LogId id, const char* when,
                      core::NodeId without = {});
    [[nodiscard]] bool is_on_quorum(core::LogId id, const core::Configuration& of,
                                    core::NodeId without) const;
    void check_forgetful(core::NodeId leader, core::LogId committed);
    void check_change(core::NodeId node, const core::Entry& entry);
    void check_marks(core::NodeId node, const View& of);
    void check_progress(core::NodeId node, const View& of);
    void check_role(core::NodeId node, View& of);
    void check_era(core::NodeId node, const core::Raft& leader);
    void check_deadline(core::NodeId node, View& of, core::Instant now, core::Instant deadline);
    void sweep_node(core::NodeId node, const View& of);

    Violations& violations_;
    Tally& tally_;
    VoteHistory votes_;
    LogHistory logs_;
    CommitHistory commits_;
    std::vector<View> views_;
    core::Configuration configuration_;
    core::LogIndex configured_at_;
    // The configurations that were appended somewhere, and may be in force.
    std::map<core::LogId, core::Configuration> configurations_;
};

}  // namespace mortise::sim
