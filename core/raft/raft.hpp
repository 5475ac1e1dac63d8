// Consensus on one log (Ongaro, "Consensus: bridging theory and practice", 2014: "thesis" below),
// as a state machine without clock, disk, network or randomness: its input is events and the time,
// its output is RaftOutput. Almost every event reads and changes several of term, role, log,
// configuration and commit index, and the rules of the thesis are about their relation: these are
// its own, with a source file per subject. What has a rule of its own is a class beside it: Log,
// WriteTracker, ConfigurationHistory, Succession (who asks for votes when), OwnMembership,
// LeaderClaim, RaiseLimit, SnapshotReceiver.
//
// An event is one call of on_*, propose or the like, followed by take_decided() and collect().
// Messages are made while collecting, from the state at that time: what accumulated during an event
// is sent together.
#pragma once

#include <map>
#include <optional>
#include <set>
#include <variant>
#include <vector>

#include "core/base/instant.hpp"
#include "core/base/prng.hpp"
#include "core/raft/configuration_change.hpp"
#include "core/raft/configuration_history.hpp"
#include "core/raft/leader_claim.hpp"
#include "core/raft/log.hpp"
#include "core/raft/log_base.hpp"
#include "core/raft/output.hpp"
#include "core/raft/own_membership.hpp"
#include "core/raft/raise_limit.hpp"
#include "core/raft/role.hpp"
#include "core/raft/snapshot_receiver.hpp"
#include "core/raft/succession.hpp"
#include "core/raft/write_tracker.hpp"

namespace mortise::core {

struct RaftOptions {
    NodeId self;
    Incarnation incarnation;  // of the data directory: id and incarnation identify a member
    // How long a leader may be without contact, and the most that a follower waits for a silent one
    // before it suspects it (see Patience).
    Nanoseconds election_timeout{std::chrono::seconds{1}};
    Nanoseconds heartbeat{std::chrono::milliseconds{100}};
    // The interval at which a leader sends. By default it is the heartbeat.
    std::optional<Nanoseconds> pace{};
    std::size_t append_bytes_max = 1U << 20U;
    std::size_t appends_in_flight_max = 4;       // per follower
    std::size_t snapshot_bytes_max = 1U << 19U;  // of a chunk
    // for the committed entries returned in one step; a single larger entry is returned alone
    std::size_t decided_bytes_max = 1U << 15U;
    // True if every peer is told of every commit at once. If not, tell_commit() names the peers and
    // the commits for which that is done.
    bool tells_every_commit = true;
};

// What was found on disk at the start.
struct RaftState {
    HardState hard_state;
    LogId base;
    std::vector<Entry> entries;
    LogIndex applied;  // certainly committed: the state on disk contains it
    // In force at `base`; not formed if there was none. Later ones are read from `entries`.
    Configuration configuration;
    Unsynced unsynced = Unsynced::nothing;
};

using ChangeResult = std::variant<LogIndex, MembershipRefusal>;

class Raft {
public:
    Raft(const RaftOptions& options, RaftState state, Prng prng, Instant now);

    // --- events ---------------------------------------------------------------------------------
    // Called at the beginning of every event, also of those that do not concern consensus: a leader
    // that was suspended must notice that before anything is done in its name.
    void begin_event(Instant now);
    // A message is processed in two steps. refuses() returns true for a message that no correct
    // peer would send: it has no effect, and the output reports its sender. take_message() executes
    // a message that was not refused.
    [[nodiscard]] bool refuses(NodeId from, const RaftMessage& message);
    void take_message(NodeId from, RaftMessage message, Instant now);
    void on_timer(Instant now);
    void on_write_done(WriteId id, Instant now);
    // A broken connection is a hint: if it was to the leader, an election may start at once. This
    // is always safe, because pre-vote and stickiness ask the others.
    void on_peer_down(NodeId peer, Instant now);
    // A new run of the peer is connected: it has to report again what the previous run had
    // acknowledged.
    void on_peer_restarted(NodeId peer);

    // Returns the index of the new entry; empty if this node does not lead or is transferring
    // leadership.
    std::optional<LogIndex> propose(EntryKind kind, Bytes payload, Instant now);
    // Asks for a ReadGrant with this id, at the leader if that is another node. False if no leader
    // is known. The answer may never come (lost, or the leader changed): ask again with a new id.
    bool read(ReadId id, Instant now);
    // The peer, or every peer, has to learn at once that the entries up to there are committed. No
    // effect unless this node leads.
    void tell_commit(NodeId peer, LogIndex index);
    void tell_commit_to_all(LogIndex index);
    // Begins to transfer leadership to a voter. False if this node does not lead, or the target is
    // not a voter or is this node.
    bool transfer_to(NodeId target, Instant now);
    // Membership changes, one at a time, begun by a leader that has committed in its term. Each
    // returns the index of its first entry, or why it was not begun. An accepted change completes
    // by itself, if necessary under the next leader.
    ChangeResult add_learner(const Member& member, Instant now);
    ChangeResult promote(NodeId id, Instant now);
    ChangeResult remove(NodeId id, Instant now);
    // No other member may have that address.
    ChangeResult move(NodeId id, const std::string& address, Instant now);
    // Notes that the peer has lost what it acknowledged.
    void note_forgotten(NodeId peer) { note(Note::Kind::peer_forgot, peer); }
    void note_counts_again(NodeId peer) { note(Note::Kind::peer_counts_again, peer); }
    // Executes the answer of a follower whose directory has lost what it acknowledged: it receives
    // the log, and counts for nothing. Returns true if it counts again from now on. Other messages
    // of such a follower have no effect.
    bool let_catch_up(NodeId from, RaftMessage message, Instant now);
    // Tells a node that acts like a member that it is not one. Does nothing unless the present
    // configuration is committed, and the term durable.
    void dismiss(NodeId stranger);

    // The rows that RaftOutput::read_snapshot requested have been read.
    void on_snapshot_rows(SnapshotRows rows, Instant now);
    // The received state is in force and durable, so the log begins at `last` from now on. False if
    // this was not expected.
    bool on_state_installed(LogId last, Instant now);
    // The state that is being received is invalid. Requires that its last chunk was not passed on
    // to the store.
    void refuse_state();

    // Notes that a peer doubts this node's own generation.
    void note_doubt(NodeId by) { note(Note::Kind::own_life_doubted, by); }
    // A peer says that this node has lost what it acknowledged. Until that is resolved, this node
    // follows and acknowledges, but takes no part in elections.
    void set_doubted(bool is_doubted, Instant now);
    [[nodiscard]] bool is_doubted() const { return is_doubted_; }
    // Sends the question of a pre-vote to every other member, and ignores the answers. A member
    // that knows what this node has lost then says so.
    void ask_to_be_judged();

    // Without capacity it accepts no new entries from a leader, but still follows and reports what
    // it has. It asks for votes later than nodes with capacity. A leader continues; its proposer
    // limits the work.
    void set_room(bool has_room) { succession_.set_room(has_room); }
    // A follower replies to its leader, which has not asked, because there is something to report
    // in the reply. It does not while it does not hear its leader, which counts each reply as
    // contact.
    void reply_early(Instant now);
    // Sets how often it sends while it leads.
    void set_pace(Nanoseconds pace);
    // Without capacity it delays the acknowledgement of the last chunk of a snapshot, so that no
    // more chunks come.
    void set_room_for_state(bool has_room) { has_capacity_for_state_ = has_room; }

    // Begins this node's log with the first entry of the cluster (S47). The log must never have
    // been written.
    void adopt_formation(const Entry& entry, Instant now);
    // --- what a loss of power may take (docs/decisions/0095)
    // The disk may lack entries that this node has acknowledged: it takes part in elections only if
    // all voters do, until it has recovered.
    [[nodiscard]] bool is_forgetful() const { return unsynced_ == Unsynced::forgotten; }
    // A leader has said, after this run began, that everything that was ever committed is at or
    // before this index.
    void recover_at(LogIndex index);
    // This learner has committed what the voters lost before they began an era. Its state is of no
    // use any more.
    [[nodiscard]] bool is_left_behind() const { return is_left_behind_; }
    // Leader only: the durability of the cluster changes.
    ChangeResult set_durability(Durability durability, Instant now);

    // Forgets the log up to and including `index`. Requires that all of it was handed out. Members
    // that still need it are cut off, and a note says so.
    void purge_to(LogIndex index);

    // Returns the entries that were committed since the last call, limited to what one step should
    // apply: after a start they may be the whole log, and heartbeats, votes and reads continue
    // meanwhile (P10).
    RaftDecided take_decided();
    // Returns whether more entries wait for the next step. False while a snapshot is about to
    // replace the state to which they would be applied.
    [[nodiscard]] bool has_decided() const;
    // Returns everything that was requested since the last call, and makes the messages.
    RaftOutput collect(Instant now);
    // Returns when to call on_timer if nothing else happens.
    [[nodiscard]] Instant deadline() const;

    // --- queries --------------------------------------------------------------------------------
    [[nodiscard]] Role role() const { return static_cast<Role>(role_.index()); }
    [[nodiscard]] bool is_leader() const { return role() == Role::leader; }
    [[nodiscard]] Term term() const { return hard_state_.term; }
    [[nodiscard]] const HardState& hard_state() const { return hard_state_; }
    [[nodiscard]] std::optional<NodeId> leader() const;
    [[nodiscard]] LogIndex commit_index() const { return commit_; }
    // Up to here the log is durable at every member, learners included: no member will ask for it
    // again. A leader has said so whose votes are known.
    [[nodiscard]] LogIndex replicated_index() const { return replicated_; }
    // The same, by the word of any leader. Who asks for it all the same needs a snapshot.
    [[nodiscard]] LogIndex unwanted_index() const { return std::max(unwanted_, replicated_); }
    [[nodiscard]] LogIndex durable_index() const { return writes_.durable(); }
    [[nodiscard]] const HardState& durable_hard_state() const { return writes_.hard_state(); }
    [[nodiscard]] Unsynced unsynced() const { return unsynced_; }
    // Returns the size of the entries above the commit index.
    [[nodiscard]] std::size_t uncommitted_bytes() const { return uncommitted_bytes_; }
    [[nodiscard]] std::size_t writes_in_flight() const { return writes_.in_flight(); }
    [[nodiscard]] const Log& log() const { return log_; }
    // Returns the configuration in force, which is the newest in the log.
    [[nodiscard]] const Configuration& configuration() const {
        return configurations_.newest().configuration;
    }
    // Returns the configuration in force at `index`. Requires base <= index <= last.
    [[nodiscard]] const Configuration& configuration_at(LogIndex index) const;
    [[nodiscard]] bool is_configuration_committed() const {
        return configurations_.newest().index <= commit_;
    }
    [[nodiscard]] LogId configuration_id() const;
    // True if enough peers have said that this node was removed and no leader was heard since, or
    // if the log shows it.
    [[nodiscard]] bool is_removed() const { return membership_.is_removed(); }
    // That voter has said that it does not know this node.
    void on_unknown_to(NodeId voter);
    // Returns whether this node is a member by the configuration in force.
    [[nodiscard]] bool is_member() const {
        return configuration().has(options_.self, options_.incarnation);
    }
    // Leader only: true if the peer answers, knows that it is a member, and lacks only few entries.
    [[nodiscard]] bool is_caught_up(NodeId peer, Instant now) const;
    // Leader only: returns the index of the oldest snapshot that is being sent. Its receiver will
    // continue from there.
    [[nodiscard]] std::optional<LogIndex> oldest_state_sent() const;
    // True if the last chunk of a snapshot has arrived and takes effect soon: nothing else may
    // change the state.
    [[nodiscard]] bool is_installing() const { return receiver_.complete(); }
    // Returns the beginning of the log.
    [[nodiscard]] LogBase base() const;
    // Leader only: the time since which it has been running and in contact with a majority, without
    // a gap longer than one election timeout (S4). Instant::never() if it does not lead.
    [[nodiscard]] Instant contact_since() const;
    // Leader only: true if an entry of its own term is committed, so that all entries before it are
    // known to be.
    [[nodiscard]] bool has_committed_own_term() const;
    // Leader only: true if such an entry was handed out, so that a state that contains it contains
    // all that earlier leaders committed.
    [[nodiscard]] bool has_handed_out_own_term() const;
    // Leader only: returns the progress of a follower. Null for other nodes, and if this node does
    // not lead.
    [[nodiscard]] const Progress* progress_of(NodeId peer) const;
    // Null also if the follower counts for nothing now.
    [[nodiscard]] const Progress* counted(NodeId peer) const;
    // Leader only: returns all nodes to which it sends its log, including those that are being
    // removed.
    [[nodiscard]] std::vector<Incarnation> followers() const;
    [[nodiscard]] bool is_transferring() const;

    // Throws InvariantBroken. Fast enough for every step of a test.
    void check_invariants() const;

private:
    friend class StateReader;  // tests/explore: distinguishes states by all members
    enum class Consent : std::uint8_t { none, if_all, granted };
    struct OwedVote {
        NodeId candidate;
        std::uint64_t round = 0;
        Consent consent = Consent::none;
    };

    // terms.cpp
    [[nodiscard]] bool takes_term_of(NodeId from, const RaftMessage& message, Instant now);
    bool raise_term(NodeId by, Term said, Instant now);
    void ask_anew(Role was, Instant now);
    void adopt_term(Term term, Instant now);

    // claims.cpp
    [[nodiscard]] LeaderClaim::Facts facts_at(Instant now) const;
    // A directory that was rolled back may have forgotten a vote, also when it counts again.
    [[nodiscard]] bool knows_its_vote() const { return !is_doubted_ && term() > doubted_in_; }
    [[nodiscard]] bool is_proven(NodeId leader, Term of) const;
    [[nodiscard]] bool is_elected(NodeId leader) const;
    [[nodiscard]] bool may_follow(NodeId from, Term of, Instant now);
    void ask_who_voted(LeaderClaim& claim, Term of, const LeaderClaim::Facts& facts);
    void weigh_claim(NodeId from, const PreVoteReply& reply, Instant now);

    // raft.cpp: the vote, the log and the commit index
    void become_follower(std::optional<NodeId> leader, Instant now);
    void vote_for(NodeId candidate);
    void append_to_log(Entry entry);
    void truncate_log(LogIndex from);
    void commit_to(LogIndex index);
    void note(Note::Kind kind, NodeId peer = {});
    void send(NodeId to, RaftMessage message);
    [[nodiscard]] Nanoseconds pace() const { return options_.pace.value_or(options_.heartbeat); }
    [[nodiscard]] NodeId self() const { return options_.self; }
    [[nodiscard]] bool can_campaign() const;
    [[nodiscard]] bool is_term_durable() const { return writes_.hard_state().term == term(); }
    [[nodiscard]] bool has_capacity() const { return succession_.has_room(); }
    void on_silence(Follower& follower, Instant now);
    void lose_leader(Follower& follower, Instant now);

    // check_message.cpp: the reason why the message is refused; null if it is not
    template <class Message>
    [[nodiscard]] const char* why_refused(NodeId /*from*/, const Message& /*message*/) const {
        return nullptr;
    }
    [[nodiscard]] const char* why_refused(NodeId from, const AppendRequest& request) const;
    [[nodiscard]] const char* why_refused(NodeId from, const AppendReply& reply) const;
    [[nodiscard]] const char* why_refused(NodeId from, const SnapshotChunk& chunk) const;
    [[nodiscard]] const char* why_refused(NodeId from, const SnapshotReply& reply) const;
    [[nodiscard]] const char* why_refused(NodeId from, const ReadRequest& request) const;
    [[nodiscard]] const char* why_refused(NodeId from, const ReadReply& reply) const;
    [[nodiscard]] bool is_second_leader(NodeId from, Term of) const;
    [[nodiscard]] LogIndex certain_for(NodeId from, Term of) const;
    [[nodiscard]] bool is_of_other_cluster(const Configuration& configuration) const;
    void refuse(NodeId from, const char* message, const char* why);

    // election.cpp
    void become_pre_candidate(Instant now);
    void become_candidate(bool transfer, Instant now);
    void become_leader(EntryKind first, Instant now);
    void campaign_if_durable(Instant now);
    void count_votes(Instant now);
    void add_own_vote(Votes& votes) const;
    [[nodiscard]] Consent consent() const;
    [[nodiscard]] std::optional<EntryKind> elected_by(const Votes& votes) const;
    [[nodiscard]] bool stands_by_leader(Instant now) const;
    [[nodiscard]] bool is_kept_from(NodeId asker, Instant now) const;
    [[nodiscard]] bool is_to_take_over(NodeId candidate) const;
    [[nodiscard]] bool grants(NodeId to, const PreVoteRequest& request, Instant now) const;
    void answer(NodeId to, const PreVoteRequest& request, Consent consent);
    bool answer_late(const Follower& follower, Instant now);
    void on(NodeId from, const PreVoteRequest& request, Instant now);
    void on(NodeId from, const PreVoteReply& reply, Instant now);
    void on(NodeId from, const VoteRequest& request, Instant now);
    void on(NodeId from, const VoteReply& reply, Instant now);
    void on(NodeId from, const TimeoutNow& request, Instant now);
    [[nodiscard]] bool is_at_least_ours(LogId last) const;
    [[nodiscard]] bool may_be_voted_for(NodeId candidate, LogId last) const;
    void send_owed_votes();
    [[nodiscard]] bool is_giving_a_vote() const;

    // memory.cpp
    [[nodiscard]] bool may_lack_syncs() const;
    [[nodiscard]] bool is_to_be_synced(const Write& write) const;
    void update_mark();
    [[nodiscard]] bool may_be_left_behind() const;
    bool leaves_behind(LogId shown);

    // replication.cpp
    void on(NodeId from, AppendRequest& request, Instant now);
    void on(NodeId from, const AppendReply& reply, Instant now);
    [[nodiscard]] static bool is_well_formed(const AppendRequest& request);
    void leave_out_what_is_new(AppendRequest& request) const;
    void take_entries(AppendRequest& request);
    void send_owed_replies();
    void send_appends();
    void send_appends_to(NodeId peer, Progress& progress);
    [[nodiscard]] std::vector<Entry> next_entries(const Progress& progress) const;
    void send_append(NodeId peer, Progress& progress, std::vector<Entry> entries);
    void on_accepted(Progress& progress, const AppendReply& reply);
    void on_rejected(NodeId from, Progress& progress, const AppendReply& reply);
    void on_denied(NodeId from, Progress& progress, const AppendReply& reply);
    void cut_off_if_purged(NodeId peer, Progress& progress);
    void advance_commit();
    void advance_replicated(const Leader& leader);
    void advance_everything(Leader& leader);
    Follower& follow(NodeId leader, Instant now);

    // membership.cpp
    void sync_progress_with_configuration(Leader& leader);
    void let_leavers_go(Leader& leader);
    [[nodiscard]] std::optional<MembershipRefusal> may_not_change() const;
    [[nodiscard]] bool is_carried(const Configuration& next, Instant now) const;
    LogIndex change_to(Configuration next);
    void finish_change();
    void resign_if_removed();
    void note_membership();
    void on(NodeId from, const NotAMember& message, Instant now);

    // send_snapshot.cpp
    void on(NodeId from, const SnapshotReply& reply, Instant now);
    void send_snapshot_to(NodeId peer, Progress& progress);
    void read_on(NodeId peer, SnapshotSending& sending);
    void make_chunk(SnapshotSending& sending);
    void on_chunk_taken(NodeId peer, Progress& progress);
    void close_views();

    // receive_snapshot.cpp
    void on(NodeId from, SnapshotChunk& chunk, Instant now);
    [[nodiscard]] static bool is_well_formed(const SnapshotChunk& chunk);
    void owe_snapshot_reply(LogId last, std::uint64_t next);
    void send_owed_snapshot_reply();

    // leadership.cpp: what a leader must do to stay one, and how it stops
    void check_leadership(Instant now);
    [[nodiscard]] Instant quorum_contact(const Leader& leader, Instant now) const;
    void step_down(Note::Kind why, Instant now);
    void begin_transfer(NodeId target, Instant now);
    void progress_transfer(Instant now);

    // reads.cpp
    void on(NodeId from, const ReadRequest& request, Instant now);
    void on(NodeId from, const ReadReply& reply, Instant now);
    static void remember_read(Leader& leader, NodeId from, ReadId id);
    void start_read_round();
    void grant_reads(Leader& leader);

    RaftOptions options_;
    HardState hard_state_;
    Unsynced unsynced_;
    std::optional<LogIndex> recovers_at_;
    Log log_;
    ConfigurationHistory configurations_;
    WriteTracker writes_;
    LogIndex commit_;
    std::size_t uncommitted_bytes_ = 0;
    LogIndex replicated_;
    LogIndex unwanted_;    // as the newest leader said, whose votes may be unknown
    LogIndex handed_out_;  // committed entries up to here were handed out
    RoleData role_;
    std::uint64_t round_ = 0;  // numbers this node's elections
    Succession succession_;
    std::vector<OwedVote> owed_votes_;
    RaiseLimit raises_;
    std::map<NodeId, LeaderClaim> claims_;  // by those that make them
    Instant last_event_;
    SnapshotReceiver receiver_;
    std::set<NodeId> open_views_;  // of this node's state
    std::uint64_t transfers_ = 0;  // snapshots sent in this run
    OwnMembership membership_;
    bool is_left_behind_ = false;
    bool is_doubted_ = false;
    Term doubted_in_;  // the newest term in which it was
    bool has_capacity_for_state_ = true;

    Write pending_;  // what the next collect() will write
    std::vector<ReadGrant> granted_reads_;
    RaftOutput out_;
};

}  // namespace mortise::core
