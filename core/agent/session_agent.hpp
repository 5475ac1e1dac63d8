// What this node's program asks for, on its way into the log and back. Pure, like all of core.
//
// A request that leaves here is sent until it is seen applied, under the same number: it takes
// effect at most once, in the order of the numbers (S17). An operation that nobody waits for any
// more (timed out, cancelled, granted too late, held when the lease lapsed) gets a Cancel or a
// Release, which is sent until it is confirmed (S18, S21). Invariant (S6): every grant of a live
// session belongs to a hold, or to such a request.
//
// Each subject is a class with its own state: OwnSession, SendWindow, OpenCalls, ParkedCalls,
// HeldLocks, UntoldLosses, Confirmations. This class says what of one follows from another:
// session_agent.cpp for the session and for what goes out, agent_calls.cpp for what is asked and
// given up, agent_answers.cpp for what comes back, agent_losses.cpp for holds that are lost.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "core/agent/call.hpp"
#include "core/agent/call_deadlines.hpp"
#include "core/agent/confirmations.hpp"
#include "core/agent/forward.hpp"
#include "core/agent/held_locks.hpp"
#include "core/agent/open_calls.hpp"
#include "core/agent/own_session.hpp"
#include "core/agent/parked_calls.hpp"
#include "core/agent/send_window.hpp"
#include "core/agent/untold_losses.hpp"
#include "core/base/id_table.hpp"
#include "core/base/prng.hpp"
#include "core/base/ring.hpp"
#include "core/locks/table/session_table.hpp"

namespace mortise::core {

struct AgentOutput {
    std::vector<Forward> forwards;  // in this order
    std::vector<CallAnswer> answers;
    std::vector<HoldLost> lost;
    std::vector<OperationId> suspended;  // their lease ran out, and may yet be renewed (S6)
    std::vector<OperationId> withdrawn;  // granted and lost within this step: nobody hears of them
    std::optional<LeaseChanged> lease;
};

class SessionAgent {
public:
    SessionAgent(const AgentOptions& options, Prng prng, Now now);

    // Every step begins with this: a lease that ran out is noticed before anything is done with it.
    void begin(Now now);
    void on_acquire(AcquireCall call, Now now);
    void on_downgrade(const DowngradeCall& call, Now now);
    void on_upgrade(const UpgradeCall& call, Now now);
    void on_write(WriteCall call, Now now);
    void on_confirm(const ConfirmCall& call, Now now);
    void on_cancel(const CancelCall& call, Now now);
    void on_release(const ReleaseCall& call, Now now);
    // The owner of a hold in AgentOutput::lost, or of one that the program lost by itself, was
    // told. Before that, or until it took too long, the cluster does not hear of the loss (S6).
    void on_told(OperationId hold);
    void on_close(const CloseCall& call, Now now);
    // Ends a call that was found busy without the log (S20).
    void answer_busy(CallTag tag, LockView seen);
    // A try on these names may be answered from a state in which the returned request is applied,
    // and with it everything that was sent before the try (S20). Not set: only the log can tell.
    [[nodiscard]] std::optional<OperationId> read_behind(const Names& names) const;
    [[nodiscard]] bool is_applied(OperationId request) const;

    // What was applied at `index`, in order; also of other sessions.
    void on_outcome(const Outcome& outcome, LogIndex index, Now now);
    // Something was applied here: this node still learns what the cluster decides.
    void on_progress(Now now);
    // The leader, if known, and its term. Told on every change; a new link to it counts.
    void on_leader(bool known, Now now);
    // The leader takes the stream from that request on.
    void on_gap(SessionId session, Seq next);
    void on_timer(Now now);
    // What was applied in between was not told. This session's part of the state has its answers.
    // A session that is not among `sessions` has ended.
    void on_state_replaced(const SessionTable& sessions, Now now);
    // This node is no member any more. Nothing that happens to its session is told here, so what
    // waits in the cluster's queues ends as with the session (S48).
    void on_removed();

    AgentOutput collect(Now now);
    // Of the steady clock.
    [[nodiscard]] Instant deadline() const;

    // The session, while it is neither being opened nor closed.
    [[nodiscard]] std::optional<SessionId> open_session() const {
        return stage_ == Stage::open ? session_.id() : std::nullopt;
    }
    // Null for what this node does not hold.
    [[nodiscard]] const Names* names_of(OperationId hold) const;
    // The hold that this request of ours, which has no answer yet, converts; else not set.
    [[nodiscard]] OperationId converted_by(OperationId request) const;
    [[nodiscard]] bool is_closed() const { return stage_ == Stage::closed; }
    // The operations that a call, a hold or an ending answers for, rising: the invariant above.
    [[nodiscard]] std::vector<Seq> accounted_for() const;
    // Throws when what it keeps is not what it needs.
    void check_invariants() const;
    // Calls that wait, and what is still to be ended.
    [[nodiscard]] std::size_t outstanding() const { return calls_.size() + endings_open_; }
    // Since the start: what went back though its owner had not been told yet.
    [[nodiscard]] std::uint64_t released_untold() const { return released_untold_; }

private:
    // Of the node: sessions come and go while it is open.
    enum class Stage : std::uint8_t { open, closing, closed };

    struct Ender {  // a caller of release() or downgrade()
        Instant gives_up;
        bool releases = true;
    };

    // --- the session
    void lapse();
    void lose_session(SessionEnd how, Now now);
    void fail_void_calls();
    void answer_enders(SessionEnd how);
    void fail_calls(CallError error);
    void on_renewed(const SessionRenewed& renewed, Now now);

    // --- what goes out
    void number_endings(Now now);
    void number_calls(Now now);
    void number(CallTag tag, Now now);
    [[nodiscard]] bool is_held_back(CallTag tag, const OpenCall& call);
    [[nodiscard]] bool may_number_calls() const;
    void number_close(Now now);
    void send(Now now);
    [[nodiscard]] bool has_more_to_send() const;

    // --- what is asked and given up
    [[nodiscard]] bool has_room_for(std::size_t names) const;
    void take_call(CallTag tag, OpenCall call, Now now);
    void watch(CallTag tag, OpenCall& call, Instant gives_up);
    void refuse(CallTag tag, CallError error) { out_.answers.push_back({tag, error}); }
    OpenCall finish(CallTag tag);
    void answer(CallTag tag, CallError error);
    void abandon(CallTag tag, CallError error);
    void expect_end(CallTag tag, bool releases, Now now);
    void end(Outgoing ending);
    [[nodiscard]] bool is_current(CallTag tag, Instant at) const;
    [[nodiscard]] CallError why_not_taken(Now now) const;
    void give_up_overdue(Now now);
    void give_up(CallTag tag, Now now);

    // --- what comes back
    void on_answered(Seq seq, const Answer& given, Now now);
    void on_queued(Seq seq, Now now);
    void take_answer(const Outgoing& sent, Seq seq, const Answer& given, Now now);
    void on_call_answered(const Outgoing& sent, Seq seq, const Answer& given, Now now);
    void on_granted(const Outgoing& sent, Seq seq, const Answer& given, Now now);
    void on_refused(const Outgoing& sent, AnswerKind kind);
    void on_denied(const Outgoing& sent);
    void on_upgrade_answered(const Outgoing& sent, Seq seq, const Answer& given);
    void on_write_answered(const Outgoing& sent, AnswerKind kind);
    void on_ending_answered(const Outgoing& sent, Seq seq, const Answer& given);
    void on_downgrade_answered(const Downgrade& asked, Seq seq, AnswerKind kind);
    void settle_upgrade(Seq hold, AnswerKind kind);
    [[nodiscard]] bool is_answer_to(const RequestBody& asked, const Answer& given) const;
    void take_answers_from(const Session& own, Now now);
    void answer_from(const Session& own, Seq seq, Now now);

    // --- holds
    [[nodiscard]] Held* find_hold(OperationId hold);
    void drop_upgrade(const Held& held, CallError error);
    void lose(Seq operation, HoldLost::Reason why, Held held);
    void end_when_told(Seq operation, CallTag tag, Names names);
    void end_untold(Seq operation);
    void end_overdue_untold();
    void forget_untold();
    void end_holds_that_are_over();
    void lose_broken(Seq operation);
    void give_up_broken(Seq operation);
    [[nodiscard]] bool withdraw_grant(Seq operation);
    void withdraw_grants();
    void end_confirms(CallError error) { confirmations_.end(holds_, error, out_.answers); }
    void go_on_with(const std::vector<CallTag>& freed);

    AgentOptions options_;
    Stage stage_ = Stage::open;
    OwnSession session_;
    SendWindow window_;
    Ring<Outgoing> endings_;  // without a number yet: they go before the calls (S21)
    OpenCalls calls_;
    ParkedCalls parked_;
    HeldLocks holds_;
    UntoldLosses untold_;
    Confirmations confirmations_;
    IdTable<CallTag, Ender> enders_;
    CallDeadlines deadlines_;  // of calls, confirmations and enders
    // Releases, cancels and downgrades that are not confirmed, sent or not; and their names.
    std::size_t endings_open_ = 0;
    std::size_t ending_names_ = 0;
    std::uint64_t released_untold_ = 0;
    // Something was applied: the newest that is known of it.
    Instant heard_at_{std::numeric_limits<std::int64_t>::min()};
    CallTag close_tag_;
    bool close_is_numbered_ = false;
    Now now_;
    AgentOutput out_;
};

}  // namespace mortise::core
