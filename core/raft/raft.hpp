// Consensus on one log (Ongaro, "Consensus: bridging theory and practice", 2014: "thesis" below),
// as a machine without clock, disk, network or chance: events and the time go in, RaftOutput comes
// out. One class, one header, a source file per subject.
//
// An event is one on_*, propose or the like, followed by take_decided() and collect(). Messages are
// made while collecting, from the state then: what piled up during an event travels together.
#pragma once

#include <optional>
#include <variant>
#include <vector>

#include "core/base/instant.hpp"
#include "core/base/prng.hpp"
#include "core/raft/configuration.hpp"
#include "core/raft/log.hpp"
#include "core/raft/log_base.hpp"
#include "core/raft/output.hpp"
#include "core/raft/role.hpp"
#include "core/raft/write_tracker.hpp"

namespace mortise::core {

struct RaftOptions {
    NodeId self;
    Nanoseconds election_timeout{std::chrono::seconds{1}};  // drawn from one to two of these
    Nanoseconds heartbeat{std::chrono::milliseconds{100}};
    std::size_t append_bytes_max = 1U << 20U;
    std::size_t appends_in_flight_max = 4;  // per follower
};

// What was found on disk at start. `configurations` are those at or below `base` and inside the
// entries, oldest first; empty when the cluster was never formed.
struct RaftState {
    HardState hard_state;
    LogId base;
    std::vector<Entry> entries;
    LogIndex applied;             // committed for certain: the state on disk contains it
    Configuration configuration;  // at `base`; those of `entries` are read from them
};

class Raft {
public:
    Raft(const RaftOptions& options, RaftState state, Prng prng, Instant now);

    // --- events
    // -----------------------------------------------------------------------------------
    // What each of them begins with. Events of which consensus learns nothing begin so, too: a
    // leader that was asleep must know before anything is done in its name.
    void begin_event(Instant now);
    void on_message(NodeId from, RaftMessage message, Instant now);
    void on_timer(Instant now);
    void on_write_done(WriteId id, Instant now);
    // A broken connection is a hint: if it was to the leader, an election may start at once. Safe
    // always, since pre-vote and stickiness ask the others.
    void on_peer_down(NodeId peer, Instant now);

    // The index of the new entry; empty when this node does not lead or is handing leadership over.
    std::optional<LogIndex> propose(EntryKind kind, Bytes payload, Instant now);
    // Asks for a ReadGrant with this id, of the leader if that is somebody else. False when no
    // leader is known. The answer may never come (lost, leader changed): ask again with a new id.
    bool read(ReadId id, Instant now);
    // Hands leadership to a voter. False when not leader, or the target is no voter or this node.
    bool transfer_to(NodeId target, Instant now);
    // Makes the founding entry this node's log (S47). Requires a log that was never written.
    void adopt_formation(const Entry& entry, Instant now);
    // Forgets the log up to and including `index`, at most what is committed. Members that still
    // need it are cut off, and a note says so.
    void purge_to(LogIndex index);

    // What became final since the last call.
    RaftDecided take_decided();
    // Everything asked for since the last call.
    RaftOutput collect(Instant now);
    // When to call on_timer if nothing else happens.
    [[nodiscard]] Instant deadline() const;

    // --- questions
    // --------------------------------------------------------------------------------
    [[nodiscard]] Role role() const { return static_cast<Role>(role_.index()); }
    [[nodiscard]] bool is_leader() const { return role() == Role::leader; }
    [[nodiscard]] Term term() const { return hard_state_.term; }
    [[nodiscard]] const HardState& hard_state() const { return hard_state_; }
    [[nodiscard]] std::optional<NodeId> leader() const;
    [[nodiscard]] LogIndex commit_index() const { return commit_; }
    // Durable at every member, learners included: nobody will ask for it again.
    [[nodiscard]] LogIndex replicated_index() const { return replicated_; }
    [[nodiscard]] LogIndex durable_index() const { return writes_.durable(); }
    [[nodiscard]] const HardState& durable_hard_state() const { return writes_.hard_state(); }
    [[nodiscard]] std::size_t writes_in_flight() const { return writes_.in_flight(); }
    [[nodiscard]] const Log& log() const { return log_; }
    // The one in force: the newest in the log.
    [[nodiscard]] const Configuration& configuration() const;
    // The one that is in force at `index`. Requires base <= index <= last.
    [[nodiscard]] const Configuration& configuration_at(LogIndex index) const;
    // Where the log begins.
    [[nodiscard]] LogBase base() const;
    // Leader only: since when it has been in contact with a majority, and running, without a gap
    // longer than one election timeout (S4). Never when it does not lead.
    [[nodiscard]] Instant contact_since() const;
    // Leader only: an entry of its own term is committed, so all earlier ones are known to be.
    [[nodiscard]] bool has_committed_own_term() const;
    // Leader only: how far a follower is. Null for strangers and on others.
    [[nodiscard]] const Progress* progress_of(NodeId peer) const;
    [[nodiscard]] bool is_transferring() const;

    // Throws InvariantBroken. Cheap enough for every step of a test.
    void check_invariants() const;

private:
    struct OwedVote {
        NodeId candidate;
        std::uint64_t round = 0;
        bool granted = false;
    };
    struct ConfigurationAt {
        LogIndex index;
        Configuration configuration;
    };

    // raft.cpp: terms, the log as this node writes it
    void adopt_term(Term term, Instant now);
    void become_follower(std::optional<NodeId> leader, Instant now);
    void vote_for(NodeId candidate);
    void append_to_log(Entry entry);
    void truncate_log(LogIndex from);
    void commit_to(LogIndex index);
    void note(Note::Kind kind, NodeId peer = {});
    void send(NodeId to, RaftMessage message);
    [[nodiscard]] NodeId self() const { return options_.self; }
    [[nodiscard]] bool can_campaign() const;
    [[nodiscard]] bool is_term_durable() const { return writes_.hard_state().term == term(); }
    [[nodiscard]] Instant draw_election_deadline(Instant now);

    // election.cpp
    void become_pre_candidate(Instant now);
    void become_candidate(bool transfer, Instant now);
    void become_leader(Instant now);
    void campaign_if_durable(Instant now);
    void count_votes(Instant now);
    [[nodiscard]] bool stands_by_leader(Instant now) const;
    void on(NodeId from, const PreVoteRequest& request, Instant now);
    void on(NodeId from, const PreVoteReply& reply, Instant now);
    void on(NodeId from, const VoteRequest& request, Instant now);
    void on(NodeId from, const VoteReply& reply, Instant now);
    void on(NodeId from, const TimeoutNow& request, Instant now);
    void on(NodeId, const SnapshotChunk&, Instant) {}
    void on(NodeId, const SnapshotReply&, Instant) {}
    void on(NodeId, const NotAMember&, Instant) {}
    void send_owed_votes();

    // replication.cpp
    void on(NodeId from, AppendRequest& request, Instant now);
    void on(NodeId from, const AppendReply& reply, Instant now);
    [[nodiscard]] static bool is_well_formed(const AppendRequest& request);
    void take_entries(AppendRequest& request);
    void send_owed_replies();
    void send_appends();
    void send_appends_to(NodeId peer, Progress& progress);
    void send_append(NodeId peer, Progress& progress, std::vector<Entry> entries);
    void on_accepted(Progress& progress, const AppendReply& reply);
    void on_rejected(NodeId from, Progress& progress, const AppendReply& reply);
    void cut_off_if_purged(NodeId peer, Progress& progress);
    void advance_commit();
    void advance_replicated(const Leader& leader);
    void sync_progress_with_configuration(Leader& leader);

    // leadership.cpp: what a leader must do to stay one, and how it stops
    void check_leadership(Instant now);
    [[nodiscard]] Instant quorum_contact(const Leader& leader, Instant now) const;
    void step_down(Note::Kind why, Instant now);
    void progress_transfer(Instant now);

    // reads.cpp
    void on(NodeId from, const ReadRequest& request, Instant now);
    void on(NodeId from, const ReadReply& reply, Instant now);
    void start_read_rounds(Leader& leader);
    void grant_reads(Leader& leader);

    RaftOptions options_;
    Prng prng_;
    HardState hard_state_;
    Log log_;
    std::vector<ConfigurationAt> configurations_;  // oldest first; the last is in force
    WriteTracker writes_;
    LogIndex commit_;
    LogIndex replicated_;
    LogIndex handed_out_;  // committed entries up to here have left
    RoleData role_;
    std::uint64_t round_ = 0;  // numbers this node's elections
    std::vector<OwedVote> owed_votes_;
    Instant last_event_;

    Write pending_;  // what the next collect() writes
    std::vector<ReadGrant> granted_reads_;
    RaftOutput out_;
};

}  // namespace mortise::core
