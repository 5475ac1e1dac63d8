// The quorum timers of a node: the leases of all sessions, and the closures of names and limits of
// holds. As a voter the node counts them down and reports those that ran out; as a leader it
// decides which have run out at a majority (S4, S5, S8, S9).
#pragma once

#include <map>
#include <optional>
#include <vector>

#include "core/leases/countdowns.hpp"
#include "core/leases/timer_votes.hpp"
#include "core/locks/machine/lock_machine.hpp"
#include "core/node/node_options.hpp"
#include "core/node/proposer.hpp"
#include "core/raft/raft.hpp"

namespace mortise::core {

class QuorumTimers {
public:
    QuorumTimers(const NodeOptions& options, const Raft& raft, const LockMachine& machine)
        : options_{options}, raft_{raft}, machine_{machine} {}

    // --- the effects of applied entries
    // The machine was read from disk, or replaced: all its timers, with the times that were saved.
    void restart(const SavedCountdowns& saved, Instant now);
    void renewed(SessionId id, Instant now);
    void ended(SessionId id);
    void begun(const ClosureBegun& closure, Instant now);
    void ended(ClosureId id);

    // --- a voter's part
    void advance(Instant now);
    void report_in(AppendReply& reply) const;
    // True once after closures have run out here: the leader is to hear of it before it asks.
    [[nodiscard]] bool take_due_report(Instant now);
    // The time left by this node's own countdown, which decides nothing alone. Empty if the timer
    // does not run.
    [[nodiscard]] std::optional<Nanoseconds> left(ClosureId closure, Instant now) const;
    [[nodiscard]] std::optional<Nanoseconds> left(SessionId session, Instant now) const;
    // For how long this run of the node has known the session; zero if it does not know it.
    [[nodiscard]] Nanoseconds known(SessionId session, Instant now) const;
    [[nodiscard]] SavedCountdowns save(LogIndex applied, Instant now) const;
    // The countdowns to be saved on disk, if that is due now.
    [[nodiscard]] std::optional<SavedCountdowns> take_due_save(LogIndex applied, Instant now);
    [[nodiscard]] Instant deadline() const;

    // --- a leader's part
    void reported(NodeId by, const AppendReply& reply);
    void begin_term();
    // The commands that end timers which have elapsed at a majority. A session with a renewal at
    // the proposer is left out.
    [[nodiscard]] std::vector<Command> commands_that_end_timers(const Proposer& proposer,
                                                                Instant now);

private:
    [[nodiscard]] bool may_end_any(Instant now) const;
    void restart_leases(const SavedCountdowns& saved, Instant now);
    void restart_closures(const SavedCountdowns& saved, Instant now);
    [[nodiscard]] Nanoseconds saved_elapsed(const Session& session) const;

    const NodeOptions& options_;
    const Raft& raft_;
    const LockMachine& machine_;
    Countdowns<RenewedLease> leases_;
    std::map<SessionId, Instant> known_since_;
    std::map<SessionId, SavedCountdown<RenewedLease>> saved_leases_;  // as found at the start
    TimerVotes<RenewedLease> lease_votes_;
    Countdowns<ClosureId> closures_;
    TimerVotes<ClosureId> closure_votes_;
    Instant report_at_ = Instant::never();
};

}  // namespace mortise::core
