// One complete node, without side effects: consensus, bootstrap, the lock machine, leases, and the
// calls of this node's own program. Time and randomness are inputs; everything that happens is one
// step.
#pragma once

#include <deque>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <vector>

#include "core/agent/session_agent.hpp"
#include "core/codec/state_sum_codec.hpp"
#include "core/leases/countdowns.hpp"
#include "core/leases/timer_quorum.hpp"
#include "core/locks/lock_machine.hpp"
#include "core/locks/machine_rows.hpp"
#include "core/node/contention_watch.hpp"
#include "core/node/effects.hpp"
#include "core/node/event.hpp"
#include "core/node/life_doubts.hpp"
#include "core/node/membership_calls.hpp"
#include "core/node/peer_memory.hpp"
#include "core/node/pending_reads.hpp"
#include "core/node/proposer.hpp"
#include "core/node/state_lag.hpp"
#include "core/node/stream_positions.hpp"
#include "core/raft/raft.hpp"

namespace mortise::core {

struct NodeOptions {
    NodeId self;
    Generation generation;
    bool former_life_ended = false;  // see AgentOptions
    // As configured, ascending, without incarnations, including self. Empty: this node bootstraps
    // no cluster, but waits until it is added to one.
    std::vector<Member> voters;
    Nanoseconds election_timeout{std::chrono::seconds{1}};
    Nanoseconds heartbeat{std::chrono::milliseconds{100}};
    std::uint32_t session_ttl_ms = 10'000;
    std::uint32_t clock_rate_bound_ppm = 10'000;
    Nanoseconds call_timeout{std::chrono::seconds{10}};
    std::size_t log_bytes_max = std::size_t{256} << 20U;       // kept for slow members
    std::size_t snapshot_bytes_max = std::size_t{512} << 10U;  // of a chunk
    // The part of a snapshot that was passed on and is not on disk yet; or a single chunk.
    std::size_t install_bytes_max = std::size_t{4} << 20U;
    // Applied in one step, or a single larger entry: a few milliseconds of work for acquires and
    // releases.
    std::size_t apply_bytes_max = std::size_t{4} << 10U;
    // Changes are passed to the state on disk after this time at most.
    Nanoseconds state_interval{std::chrono::milliseconds{250}};
    std::uint64_t compare_every = 1'024;  // entries between two comparisons of the state
    std::size_t uncommitted_bytes_max = std::size_t{16} << 20U;  // beyond it nothing is proposed
    // Memory for what the state on disk lacks. Beyond it acquires are rejected, beyond a quarter
    // more everything except renewals, and beyond half more everything.
    std::size_t state_lag_bytes_max = std::size_t{256} << 20U;
    std::size_t window = 2'048;  // see AgentOptions
    std::uint64_t seed = 0;
    // The newest format of commands that this node reads; another value simulates an older version.
    std::uint8_t command_format = command_format_newest;
    std::string cluster_name{};     // see Hello
    Access access = Access::all();  // what the certificate of this node allows
};

// What was found on disk at start.
struct NodeState {
    RaftState raft;
    LockMachine machine;  // includes everything up to raft.applied
    SavedCountdowns countdowns;
    // Set if this directory belonged to a cluster but its log and state are gone. The node
    // bootstraps no other cluster; it follows, as a learner, when a leader of that cluster sends to
    // it.
    ClusterId former_cluster{};
};

class NodeCore {
public:
    NodeCore(NodeOptions options, NodeState state, Now now);

    // Throws InvariantBroken if this core has an error: do not use it again.
    Effects step(Event event, Now now);

    // What to say on a new connection. Changes when the cluster is formed.
    [[nodiscard]] Hello hello() const;
    [[nodiscard]] Instant deadline() const;
    [[nodiscard]] const Raft& raft() const { return raft_; }
    [[nodiscard]] const LockMachine& machine() const { return machine_; }
    [[nodiscard]] const SessionAgent& agent() const { return agent_; }
    // The machine has everything up to here.
    [[nodiscard]] LogIndex applied_index() const { return applied_; }
    // In memory until the state on disk has it.
    [[nodiscard]] std::size_t state_lag_bytes() const { return lag_.bytes(); }
    // Messages dropped because their sender is not the node that the configuration names, or not
    // yet, or because they are malformed.
    [[nodiscard]] std::uint64_t refused_messages() const { return refused_messages_; }

    // Throws InvariantBroken. Iterates over this node's own operations, not the table.
    void check_invariants() const;

private:
    // node_core.cpp
    void on(const TimerFired& event, Now now);
    void on(const PeerUp& event, Now now);
    void on(const PeerDown& event, Now now);
    void on(Received& event, Now now);
    void on(const WriteDone& event, Now now);
    void on(Calls& event, Now now);
    void on(const TransferLeadership& event, Now now);
    void on(SnapshotRows& event, Now now);
    void receive(NodeId from, RaftMessage& message, Now now);
    void receive(NodeId from, const FormationOffer& message, Now now);
    void receive(NodeId from, const FormationQuestion& message, Now now);
    void receive(NodeId from, const FormationAnswer& message, Now now);
    void receive(NodeId from, const Forward& message, Now now);
    void receive(NodeId from, const StreamGap& message, Now now);
    void receive(NodeId from, const Superseded& message, Now now);
    void take_decided(Now now);
    void take_raft_output(Now now);
    void apply(Entry& entry, Now now);
    void watch_leadership(Now now);

    // calls.cpp
    void call(AcquireCall& call, Now now);
    void call(AcquireSeveralCall& call, Now now);
    void call(const DowngradeCall& call, Now now);
    void call(const UpgradeCall& call, Now now);
    void call(WriteCall& call, Now now);
    void call(const CancelCall& call, Now now);
    void call(const ConfirmCall& call, Now now);
    void call(const WatchCall& call, Now now);
    void call(const ReleaseCall& call, Now now);
    void call(const ToldCall& call, Now now);
    void call(InspectCall& call, Now now);
    void call(const CloseCall& call, Now now);
    template <class AnyAcquireCall>
    void ask_try(AnyAcquireCall& call, OperationId behind, Now now);
    void ask_read(Call call, Instant gives_up, OperationId behind = {});
    void ask_leader(Now now);
    void read_overdue(Now now);
    void answer_reads(Now now);
    void answer_read(Call& call, Now now);
    void answer_read(InspectCall& inspect, Now now);
    void tell_times(LockView& lock, Now now) const;
    [[nodiscard]] bool would_grant(const AcquireSeveral& request) const;
    template <class AnyAcquireCall>
    void answer_try(AnyAcquireCall& call, bool goes_on, const std::string& name, Now now);
    template <class AnyAcquire>
    [[nodiscard]] bool names_other_policy(const AnyAcquire& request, const std::string& name) const;

    // A Forward, decoded.
    struct Inbound {
        Bytes batch;  // empty: there is none, or a bad one
        std::vector<Command> commands;
        std::optional<Renewal> renewal;
        // Of its requests, which all are of one session and follow each other; not set: none.
        SessionId session{};
        Seq first{};
        Seq last{};
    };
    [[nodiscard]] Inbound look_into(const Forward& forward);

    // leading.cpp: what only a leader does
    void lead(Now now);
    [[nodiscard]] bool may_expire(Now now) const;
    void expire_sessions();
    void end_closures();
    void propose_batches(Now now);
    bool propose_batch(Now now);
    [[nodiscard]] bool can_propose() const;
    void give_way(Now now);
    [[nodiscard]] std::optional<NodeId> next_to_lead(Now now) const;
    void forward_to_leader(Forward forward);
    void take_forward(NodeId from, const Forward& forward);
    void take_requests(NodeId from, Inbound inbound);
    [[nodiscard]] Seq next_of(const Session& session) const;
    [[nodiscard]] bool is_ahead_of_the_log(const Inbound& inbound) const;
    [[nodiscard]] bool has_capacity() const;
    [[nodiscard]] Seq next_to_take(NodeId from, const Inbound& inbound);
    void tell_gap(NodeId to, SessionId session, Seq next);
    void ask_for_held_up();
    static void leave_out_requests(Inbound& inbound, Seq next);
    static void decline_what_begins(Inbound& inbound);
    void take_renewal(const Renewal& renewal);
    void on_applied_outcome(const Outcome& outcome, LogIndex index, Now now);
    void note_waiter(OperationId waiter);

    void check_grants_are_accounted_for() const;
    [[nodiscard]] Nanoseconds saved_elapsed(const Session& session) const;

    // membership.cpp
    void take_in_newcomers(Now now);
    [[nodiscard]] bool is_of_cluster(const Hello& hello) const;
    [[nodiscard]] bool is_trusted(NodeId peer) const;
    [[nodiscard]] bool is_admitted(NodeId from, const RaftMessage& message);
    [[nodiscard]] bool is_admitted_outsider(NodeId from, const RaftMessage& message);
    void dismiss_stranger(NodeId from);

    // rights.cpp: what certificates allow
    [[nodiscard]] std::optional<Denied> denied(const Call& call) const;
    // Whose the sessions are that a peer uses. `unknown`: one that is opened in an entry that is
    // not applied here yet, or that never was.
    enum class Owner : std::uint8_t { sender, unknown, somebody_else };
    [[nodiscard]] Owner owner_of(SessionId session, NodeId sender) const;
    [[nodiscard]] Owner owner_of(const Command& command, NodeId sender) const;
    [[nodiscard]] Owner owner_of(const Inbound& inbound, NodeId sender) const;
    [[nodiscard]] bool opens_for_itself(const OpenSession& opening, NodeId sender) const;
    void refuse_forward(NodeId from);
    void keep_early(NodeId from, const Forward& forward);
    void take_early_forwards();
    void set_access(Inbound& inbound, NodeId opener) const;
    [[nodiscard]] bool is_members_certificate(NodeId peer) const;
    [[nodiscard]] bool is_voters_certificate(NodeId peer) const;
    [[nodiscard]] ChangeResult promote(NodeId id, Now now);

    // changing.cpp
    void call(ChangeCall& call, Now now);
    void ask_for_changes(Now now);
    void receive(NodeId from, const MembershipRequest& request, Now now);
    void receive(NodeId from, const MembershipReply& reply, Now now);
    MembershipReply consider(const MembershipRequest& request, Now now);
    MembershipReply consider_members(const MembershipRequest& request, Now now);
    MembershipReply consider_leader(const MembershipRequest& request, Now now);
    ChangeResult begin_change(const MembershipGoal& goal, Now now);
    ChangeResult add_member(NodeId id, const std::string& address, Now now);
    void expect(const MembershipGoal& goal, Now now);
    void keep_connected(NodeId id, const std::string& address, Now now);
    void tell_peers(Now now);
    [[nodiscard]] Instant forgets_outsiders_at() const;

    // lives.cpp: of a peer, one counts
    void keep_pace();
    void refuse_life(NodeId peer, const Hello& hello);
    void tell_superseded(NodeId peer, const Hello& hello);
    void on(const LifeRefused& event, Now now);
    void on(const UnknownTo& event, Now now);
    void judge_own_life(Now now);
    void ask_about_own_life(Now now);
    void remember_replicated();
    [[nodiscard]] bool is_believed(NodeId from, const RaftMessage& message);
    void remember_acknowledged(NodeId from);

    // formats.cpp
    [[nodiscard]] std::uint8_t common_format() const;
    [[nodiscard]] std::uint8_t format_to_propose() const;
    void remember_format(std::uint8_t format);
    void remember_format(const Entry& entry);
    [[nodiscard]] bool is_too_old(const Hello& hello) const;
    [[nodiscard]] std::vector<Command> commands_in(const Entry& entry);

    // comparing.cpp
    void remember_state_sum();
    void propose_state_sum(Now now);
    void compare_state_sum(const Entry& entry);

    // installing.cpp
    void install(InstallStep step);
    void on(const InstallTaken& event, Now now);
    void on(const StateInstalled& event, Now now);
    [[nodiscard]] SavedCountdowns countdowns(Now now) const;
    void restart_countdowns(const SavedCountdowns& saved, Now now);
    void restart_leases(const SavedCountdowns& saved, Now now);
    void restart_closures(const SavedCountdowns& saved, Now now);

    // saving.cpp
    void on(const StateDurable& event, Now now);
    void hand_over_state(Now now);
    void hand_over_rows();
    [[nodiscard]] bool takes_acquires() const;
    [[nodiscard]] bool takes_endings() const;
    [[nodiscard]] bool takes_entries() const;
    [[nodiscard]] bool lags_by_more_than(std::size_t quarters) const;

    // formation.cpp
    [[nodiscard]] bool may_be_founded() const;
    void form_if_unanimous(Now now);
    [[nodiscard]] std::optional<Configuration> unanimous_by_hello() const;
    void ask_founders(const Configuration& configuration, Now now);
    [[nodiscard]] bool is_formation_durable() const;
    void offer_formation(NodeId to);
    [[nodiscard]] bool is_formed() const { return raft_.configuration().is_formed(); }

    NodeOptions options_;
    Prng prng_;
    Raft raft_;
    LockMachine machine_;
    LogIndex applied_;
    SessionAgent agent_;
    ContentionWatch contentions_;
    Countdowns<RenewedLease> leases_;
    std::map<SessionId, SavedCountdown<RenewedLease>> saved_leases_;  // as found at the start
    TimerQuorum<RenewedLease> lease_quorum_;
    Countdowns<ClosureId> closures_;
    TimerQuorum<ClosureId> closure_quorum_;
    Proposer proposer_;
    StreamPositions streams_;
    std::map<NodeId, std::vector<Forward>> early_forwards_;  // of a leader; a few of each peer
    SessionId newest_when_early_;       // the newest session when the first of them came
    bool knew_log_when_early_ = false;  // whether all of earlier leaders was applied then

    std::map<NodeId, Hello> connected_;
    std::map<NodeId, Hello> outlived_;  // connected, but not counted
    PeerMemory memory_;
    LogIndex replicated_known_;  // the newest entry that all others are known to have
    LifeDoubts doubts_;
    Instant doubts_ask_at_ = Instant::never();
    // The bootstrap that this node is about to make: who was asked, with their incarnations then,
    // and who has agreed.
    struct Founding {
        std::uint64_t round = 0;
        std::map<NodeId, Hello> asked;
        std::set<NodeId> agreed;
        Instant ask_at = Instant::never();
    };
    Founding founding_;
    // connected and empty by their hellos, and not seen as members yet
    std::set<NodeId> unfounded_;
    std::uint8_t format_in_log_ = command_format_oldest;  // the newest format of its commands
    ClusterId former_cluster_;

    // For the snapshot that is being received.
    std::optional<MachineLoader> loading_;
    std::optional<LockMachine> loaded_;
    InstallLag install_lag_;

    PendingReads reads_;
    std::uint64_t reads_asked_ = 0;
    Instant reads_due_ = Instant::never();  // there are more answers than one step may give

    struct Outsider {
        std::string address;
        Instant until;
    };
    MembershipCalls changes_;
    // New nodes that this leader was asked to add, and recently removed members.
    std::map<NodeId, Outsider> outsiders_;
    LogId told_peers_of_;  // the entry of that configuration
    std::map<NodeId, std::string> members_told_;

    std::optional<NodeId> leader_;  // as reported to the agent, and in which term
    Term leader_term_;
    Instant renewals_due_ = Instant::never();
    LogIndex handed_over_;  // everything up to here was passed to the state on disk
    StateLag lag_;
    Instant state_due_ = Instant::never();
    Instant gives_way_at_ = Instant::never();  // for a leader whose state on disk lags
    NodeId gave_way_to_;                       // the last target
    std::deque<StateSum> sums_;                // of this node's own state
    LogIndex sum_proposed_;                    // the newest one in the log, as far as known
    LogIndex sweep_at_;                        // a Sweep is in the log up to here
    Instant stepped_at_;                       // of the steady clock, which may show less than zero
    bool was_removed_ = false;                 // likewise
    std::uint64_t refused_messages_ = 0;
    mutable std::uint64_t checks_ = 0;  // the number of checks; expensive ones do not run each time
    Effects effects_;
};

}  // namespace mortise::core
