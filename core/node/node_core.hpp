// One complete node, without side effects: consensus, bootstrap, the lock machine, leases, and the
// calls of this node's own program. Time and randomness are inputs; everything that happens is one
// step.
//
// Each subject is a class with its own state, which decides; this class has the order in which they
// act, and passes on what they decide. node_core.cpp has the actions of a step, and why they come
// in that order; node_events.cpp has what each event and each message does.
#pragma once

#include <memory>

#include "core/node/attached_clients.hpp"
#include "core/node/bootstrap.hpp"
#include "core/node/call_desk.hpp"
#include "core/node/cluster_clock.hpp"
#include "core/node/effects.hpp"
#include "core/node/event.hpp"
#include "core/node/forward_intake.hpp"
#include "core/node/leader_duties.hpp"
#include "core/node/membership_desk.hpp"
#include "core/node/node_state.hpp"
#include "core/node/own_life.hpp"
#include "core/node/own_memory.hpp"
#include "core/node/snapshot_installer.hpp"
#include "core/observe/change_ring.hpp"

namespace mortise::core {

class Activity;

class NodeCore {
public:
    NodeCore(NodeOptions options, NodeState state, Now now);
    // Its parts know each other by their addresses.
    ~NodeCore();
    NodeCore(const NodeCore&) = delete;
    NodeCore& operator=(const NodeCore&) = delete;

    // Throws InvariantBroken if this core has an error: do not use it again.
    Effects step(Event event, Now now);

    // What to say on a new connection. Changes when the cluster is formed.
    [[nodiscard]] Hello hello() const { return bootstrap_.hello(); }
    [[nodiscard]] Instant deadline() const;
    [[nodiscard]] const Raft& raft() const { return raft_; }
    [[nodiscard]] const LockMachine& machine() const { return machine_; }
    [[nodiscard]] const SessionAgent& agent() const { return agent_; }
    [[nodiscard]] const AttachedClients& clients() const { return clients_; }
    // The machine has everything up to here.
    [[nodiscard]] LogIndex applied_index() const { return applied_; }
    // The countdowns of this node, which decide nothing alone.
    [[nodiscard]] const QuorumTimers& timers() const { return timers_; }
    // How long ago entries were proposed, for people.
    [[nodiscard]] const ClusterClock& clock() const { return clock_; }
    // The newest changes of names, for observers.
    [[nodiscard]] const ChangeRing& changes() const { return changes_; }
    // Counts of waiting requests, and the rates of the last quarter of an hour.
    [[nodiscard]] const Activity& activity() const { return *activity_; }
    // What peers say about this node's generation.
    [[nodiscard]] const LifeDoubts& own_doubts() const { return own_life_.doubts(); }
    // In memory until the state on disk has it.
    [[nodiscard]] std::size_t state_lag_bytes() const { return saver_.lag_bytes(); }
    // Messages dropped because their sender is not the node that the configuration names, or not
    // yet, or because they are malformed.
    [[nodiscard]] std::uint64_t refused_messages() const { return refused_messages_; }

    // Throws InvariantBroken. Iterates over this node's own operations, not the table.
    void check_invariants() const;

private:
    // --- the actions of a step, see step()
    void form_if_unanimous(Now now);
    void ask_leader(Now now);
    void take_decided(Now now);
    void judge_peers(Now now);
    void judge_own_life(Now now);
    void watch_leadership(Now now);
    void answer_reads(Now now);
    void forward_requests(std::vector<Forward> forwards);
    // By what it said in its hello. Requires another node to lead.
    [[nodiscard]] bool leader_reads(const Bytes& batch) const;
    void lead(Now now);
    void take_raft_output(Now now);
    void notify_holders(const AgentOutput& agent);
    void tell_program(AgentOutput& agent);
    void tell_clients();
    // Parts of them.
    void apply(Entry& entry, Now now);
    void tell_commit(const Applied& applied);
    void route(const Outcome& outcome, LogIndex index, Now now);
    void note_waiter(OperationId waiter);
    void hand_over_rows();
    void note_cluster();
    void note_format_of_state();
    void install(InstallStep step);
    void take_intake_output();

    // --- events
    void take(Event& event, Now now);
    void on(const TimerFired& event, Now now);
    void on(const PeerUp& event, Now now);
    void on(Received& event, Now now);
    void on(const WriteDone& event, Now now);
    void on(const StateDurable& event, Now now);
    void on(Calls& event, Now now);
    void on(const InstallTaken& event, Now now);
    void on(const StateInstalled& event, Now now);

    // --- messages
    void receive(NodeId from, RaftMessage& message, Now now);
    void receive(NodeId from, const FormationOffer& message, Now now);
    void receive(NodeId from, const FormationQuestion& message, Now now);
    void receive(NodeId from, const Forward& message, Now now);
    void receive(NodeId from, const Superseded& message, Now now);
    void receive(NodeId from, const MembershipRequest& message, Now now);
    [[nodiscard]] bool is_believed(NodeId from, const RaftMessage& message, Now now);
    void let_catch_up(NodeId from, RaftMessage& message, Now now);
    void refuse(NodeId from, std::string_view message, std::string_view why);
    void refuse_life(const Hello& hello);
    void tell_superseded(const Hello& hello);
    void connection_lost(NodeId peer, Now now);

    void check_grants_are_accounted_for() const;

    NodeOptions options_;
    Prng prng_;

    // The two state machines, and the program's requests.
    Raft raft_;
    LockMachine machine_;
    LogIndex applied_;
    ChangeRing changes_;
    const std::unique_ptr<Activity> activity_;
    SessionAgent agent_;

    // What is known about peers, and about this node among them.
    Peers peers_;
    OwnLife own_life_;
    OwnMemory own_memory_;
    Bootstrap bootstrap_;
    LogFormats formats_;
    ClusterClock clock_;
    MembershipDesk membership_;

    // What becomes of the state.
    StateSaver saver_;
    SnapshotInstaller installer_;
    StateComparison comparison_;
    QuorumTimers timers_;
    ContentionWatch contentions_;

    // What is asked for, and what a leader does with it.
    CallDesk call_desk_;
    AttachedClients clients_;
    ForwardIntake intake_;
    LeaderDuties duties_;

    std::optional<NodeId> leader_;  // as reported to the agent, and in which term
    Term leader_term_;
    Instant stepped_at_;           // of the steady clock, which may show less than zero
    bool was_removed_ = false;     // the agent does not know that yet
    bool has_new_starts_ = false;  // sessions were opened that the peers were not compared with yet
    std::uint64_t refused_messages_ = 0;
    mutable std::uint64_t checks_ = 0;  // the number of checks; expensive ones do not run each time
    Effects effects_;
};

}  // namespace mortise::core
