// The calls of this node's program. A call goes to the agent, into the log, or waits here until a
// read answers it, which needs no log entry (S20, S46), or until the membership has changed. The
// first of the three places where the rights of certificates are checked (S50,
// core/agent/call_denial.hpp): the others are
// ForwardIntake, when a peer forwards commands to a leader, and apply
// (core/locks/machine/requests.cpp), which decides. docs/decisions/0031 gives the reasons.
#pragma once

#include "core/agent/session_agent.hpp"
#include "core/node/cluster_clock.hpp"
#include "core/node/contention_watch.hpp"
#include "core/node/membership_calls.hpp"
#include "core/node/pending_reads.hpp"
#include "core/node/quorum_timers.hpp"

namespace mortise::core {

class CallDesk {
public:
    CallDesk(const NodeOptions& options, const LockMachine& machine, const QuorumTimers& timers,
             const ClusterClock& clock, SessionAgent& agent, ContentionWatch& contentions)
        : options_{options},
          machine_{machine},
          timers_{timers},
          clock_{clock},
          agent_{agent},
          contentions_{contentions},
          changes_{options.generation.boot_epoch, {options.election_timeout, options.heartbeat}} {}

    // The calls that change the membership.
    [[nodiscard]] MembershipCalls& changes() { return changes_; }
    void take(Call& call, Now now);
    // Answers calls whose time is over; questions without an answer are repeated.
    void on_timer(Now now);
    // Questions to the old leader may never be answered.
    void on_leader(Instant now);
    // The question to ask the leader, for all reads that wait for one.
    [[nodiscard]] std::optional<ReadId> take_question(Now now);
    // The answer of the leader.
    void granted(ReadId id, LogIndex index) { reads_.granted(id, index); }
    // Answers reads for which everything up to `applied` is enough, or a limited number of them.
    void answer_reads(LogIndex applied, Now now);
    // The answers since the last call.
    [[nodiscard]] std::vector<CallAnswer> take_answers() { return std::exchange(answers_, {}); }
    [[nodiscard]] Instant deadline(bool has_leader) const;

private:
    void on(AcquireCall& call, Now now);
    void on(const CancelCall& call, Now now);
    void on(const WatchCall& call, Now now);
    void on(const ReleaseCall& call, Now now);
    void on(InspectCall& call, Now now);
    void on(ChangeCall& call, Now now);
    void on(const CloseCall& call, Now now);
    void ask_try(AcquireCall& call, OperationId behind, Now now);
    void ask_read(Call call, Instant gives_up, OperationId behind = {});
    void answer_read(Call& call, Now now);
    void answer_read(InspectCall& inspect, Now now);
    void tell_times(LockView& lock, Now now) const;
    void answer_try(AcquireCall& call, Now now);
    [[nodiscard]] bool would_grant(const Acquire& request) const;
    [[nodiscard]] bool would_recall(const Acquire& request) const;
    [[nodiscard]] bool names_other_policy(const Acquire& request) const;

    const NodeOptions& options_;
    const LockMachine& machine_;
    const QuorumTimers& timers_;
    const ClusterClock& clock_;
    SessionAgent& agent_;
    ContentionWatch& contentions_;
    MembershipCalls changes_;
    PendingReads reads_;
    std::uint64_t asked_ = 0;         // the number of questions
    Instant due_ = Instant::never();  // there are more answers than one step may give
    std::vector<CallAnswer> answers_;
};

}  // namespace mortise::core
