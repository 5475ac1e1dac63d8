// Carries the requests of this node's program into the log, and their answers back.
//
// A request that leaves here is resent under the same sequence number until it is seen applied: it
// takes effect at most once, in the order of the numbers (S17). An operation that no caller waits
// for any more (timed out, cancelled, granted too late, held when the lease ended) gets a Cancel or
// a Release, which is resent until it is confirmed (S18, S21). Invariant (S6): every grant of a
// live session belongs to a hold, or to such a request.
//
// Each subject is a class with its own state: OwnSession, SendWindow, OpenCalls, ParkedCalls,
// HeldLocks, PendingLosses, Confirmations. This class connects them: session_agent.cpp for the
// session and for sending, agent_calls.cpp for calls and their ends, agent_answers.cpp for answers,
// agent_losses.cpp for lost holds. It stays one class because the invariant spans all of them: an
// answer ends a call, makes a hold or an ending, and frees the window, all within one event.
#pragma once

#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "core/agent/call.hpp"
#include "core/agent/call_deadlines.hpp"
#include "core/agent/confirmations.hpp"
#include "core/agent/forward.hpp"
#include "core/agent/held_locks.hpp"
#include "core/agent/open_calls.hpp"
#include "core/agent/own_session.hpp"
#include "core/agent/parked_calls.hpp"
#include "core/agent/pending_losses.hpp"
#include "core/agent/send_window.hpp"
#include "core/base/id_table.hpp"
#include "core/base/prng.hpp"
#include "core/base/ring.hpp"
#include "core/locks/table/session_table.hpp"

namespace mortise::core {

struct AgentOutput {
    std::vector<Forward> forwards;  // in this order
    std::vector<CallAnswer> answers;
    std::vector<HoldLost> lost;
    std::vector<OperationId> suspended;  // their lease ended, and may yet be renewed (S6)
    // granted and lost within this step: the program learns of neither
    std::vector<OperationId> withdrawn;
    std::optional<LeaseChanged> lease;
};

class SessionAgent {
public:
    SessionAgent(const AgentOptions& options, Prng prng, Now now);

    // Every step begins with this call: the end of the lease is noticed before anything relies on
    // it.
    void begin(Now now);
    void on_acquire(AcquireCall call, Now now);
    void on_downgrade(const DowngradeCall& call, Now now);
    void on_upgrade(const UpgradeCall& call, Now now);
    void on_write(WriteCall call, Now now);
    void on_await(AwaitCall call, Now now);
    void on_confirm(const ConfirmCall& call, Now now);
    void on_publish(PublishCall call);
    void on_cancel(const CancelCall& call, Now now);
    void on_release(const ReleaseCall& call, Now now);
    // The owner of a hold in AgentOutput::lost, or of a hold that the program gave up as lost, was
    // notified. The cluster learns of the loss after this, or when the notification took too long
    // (S6).
    void on_notified(OperationId hold);
    void on_close(const CloseCall& call, Now now);
    // Ends a call with `busy` that was decided by a read (S20).
    void answer_busy(CallTag tag, LockView seen);
    // A try on these names may be answered from a state in which the returned request, and so
    // everything that was sent before the try, is applied (S20). Not set if only the log can answer
    // it.
    [[nodiscard]] std::optional<OperationId> read_behind(const Names& names) const;
    [[nodiscard]] bool is_applied(OperationId request) const;

    // The outcome of a command of any session, applied at `index`. Called in order.
    void on_outcome(const Outcome& outcome, LogIndex index, Now now);
    // An entry was applied here, so this node still receives the log.
    void on_progress(Now now);
    // Whether the leader is known. Called on every change; a new connection to the leader counts as
    // one.
    void on_leader(bool known, Now now);
    // The leader expects that request next.
    void on_gap(SessionId session, Seq next);
    void on_timer(Now now);
    // A snapshot was installed, and the outcomes in between were skipped. This session's part of
    // the state has its answers. If the session is not among `sessions`, it has ended.
    void on_state_replaced(const SessionTable& sessions, Now now);
    // This node is no longer a member, and receives nothing about its session. Requests in the
    // cluster's queues end as if the session had ended (S48).
    void on_removed();

    AgentOutput collect(Now now);
    // On the steady clock.
    [[nodiscard]] Instant deadline() const;

    // The session, unless it is being opened or closed.
    [[nodiscard]] std::optional<SessionId> open_session() const {
        return stage_ == Stage::open ? session_.id() : std::nullopt;
    }
    // False while there is no session.
    [[nodiscard]] bool has_valid_lease(Now now) const { return session_.is_valid(now); }
    // Identifies the present session, or the one that is being opened, before it has an id.
    [[nodiscard]] std::uint64_t session_nonce() const { return session_.nonce(); }
    // Empty if this node does not have the hold.
    [[nodiscard]] std::optional<Names> names_of(OperationId hold) const;
    [[nodiscard]] bool has(OperationId hold) const;
    // The request of an unanswered call; not set if it is not sent, or not known.
    [[nodiscard]] OperationId operation_of(CallTag call) const;
    // What this unanswered call waits for in the queues of the cluster; empty if it is not there.
    [[nodiscard]] Names waits_for(CallTag call) const;
    // The hold that this unanswered request of ours converts; otherwise not set.
    [[nodiscard]] OperationId converted_by(OperationId request) const;
    [[nodiscard]] bool is_closed() const { return stage_ == Stage::closed; }
    // The operations that a call, a hold or an ending accounts for, in ascending order: see the
    // invariant above.
    [[nodiscard]] std::vector<Seq> accounted_for() const;
    // Throws if the members contradict each other.
    void check_invariants() const;
    // Calls without an answer, and endings that are not confirmed.
    [[nodiscard]] std::size_t outstanding() const { return calls_.size() + endings_open_; }
    // How many holds were released before their owner had been notified, since the start.
    [[nodiscard]] std::uint64_t released_unnotified() const { return released_unnotified_; }

private:
    // The stage of the node: sessions may be replaced while it is open.
    enum class Stage : std::uint8_t { open, closing, closed };

    struct Ender {  // a caller of release() or downgrade()
        Instant gives_up;
        bool releases = true;
    };

    // --- the session
    void lapse();
    void lose_session(SessionEnd how, Now now);
    void on_evicted();
    void fail_void_calls();
    void answer_enders(SessionEnd how);
    void fail_calls(CallError error);
    void on_renewed(const SessionRenewed& renewed, Now now);

    // --- what goes out
    void number_endings(Now now);
    void number_calls(Now now);
    [[nodiscard]] bool is_held_back(const AgentRequest& call);
    [[nodiscard]] bool may_number_calls() const;
    // The session is to be closed, as soon as the owners of its holds were notified.
    [[nodiscard]] bool leaves_session() const { return stage_ == Stage::closing || is_evicted_; }
    void number_close(Now now);
    void send(Now now);
    [[nodiscard]] bool has_more_to_send() const;

    // --- calls and their ends
    [[nodiscard]] bool has_capacity_for(std::size_t names) const;
    void take_call(AgentRequest call, Now now);
    void watch(AgentRequest& call, Instant gives_up);
    // An unanswered call, wherever its request is; otherwise null.
    [[nodiscard]] const AgentRequest* find_call(CallTag tag) const;
    [[nodiscard]] AgentRequest take_call_back(CallTag tag);
    void refuse(CallTag tag, CallError error) { out_.answers.push_back({tag, error}); }
    void finish(const AgentRequest& call);
    template <class Result>
    void answer(const AgentRequest& call, Result result) {
        finish(call);
        out_.answers.push_back({call.tag, std::move(result)});
    }
    void abandon(CallTag tag, CallError error);
    void end_abandoned(const AgentRequest& call);
    void give_up_try(CallTag tag);
    [[nodiscard]] static bool is_try(const AgentRequest& call);
    void expect_end(CallTag tag, bool releases, Now now);
    void end(AgentRequest ending);
    [[nodiscard]] bool is_current(CallTag tag, Instant at) const;
    [[nodiscard]] CallError why_not_taken(const AgentRequest& call, Now now) const;
    void give_up_overdue(Now now);
    void give_up(CallTag tag, Now now);

    // --- answers
    void on_answered(Seq seq, const Answer& given, Now now);
    void on_queued(Seq seq, Now now);
    void take_answer(AgentRequest sent, const Answer& given, Now now);
    void on_call_answered(AgentRequest& sent, const Answer& given, Now now);
    void on_granted(AgentRequest& sent, const Answer& given, Now now);
    void on_refused(const AgentRequest& sent, AnswerKind kind);
    void on_denied(const AgentRequest& sent);
    void on_await_answered(const AgentRequest& sent, AnswerKind kind);
    void on_upgrade_answered(const AgentRequest& sent, const Answer& given);
    void on_write_answered(const AgentRequest& sent, AnswerKind kind);
    void on_ending_answered(const AgentRequest& sent, const Answer& given);
    void on_downgrade_answered(const Downgrade& asked, Seq seq, AnswerKind kind);
    void settle_upgrade(Seq hold, AnswerKind kind);
    [[nodiscard]] bool is_answer_to(const RequestBody& asked, const Answer& given) const;
    void take_answers_from(const Session& own, Now now);
    void answer_from(const Session& own, Seq seq, Now now);

    // --- holds
    [[nodiscard]] Held* find_hold(OperationId hold);
    void drop_upgrade(const Held& held, CallError error);
    void lose(Seq operation, HoldLost::Reason why, const Held& held);
    void end_when_notified(Seq operation, CallTag tag, Names names);
    void close_when_notified(OperationId hold);
    void end_pending_loss(Seq operation);
    void end_overdue_losses();
    void forget_pending_losses();
    void end_holds_that_are_over();
    void lose_broken(Seq operation);
    void lose_taken(Seq operation, const Held& held, CallError of_grant);
    void give_up_broken(Seq operation);
    [[nodiscard]] bool withdraw_grant(Seq operation, CallError error);
    void withdraw_grants();
    void end_confirms(CallError error) { confirmations_.end(holds_, error, out_.answers); }
    void go_on_with(const std::vector<CallTag>& freed);

    AgentOptions options_;
    Stage stage_ = Stage::open;
    OwnSession session_;
    SendWindow window_;
    Ring<AgentRequest> endings_;  // without a sequence number; they go before the calls (S21)
    OpenCalls calls_;
    ParkedCalls parked_;
    HeldLocks holds_;
    PendingLosses pending_losses_;
    Confirmations confirmations_;
    IdTable<CallTag, Ender> enders_;
    CallDeadlines deadlines_;  // of calls, confirmations and enders
    // Releases, cancels and downgrades that are not confirmed, sent or not; and the number of their
    // names.
    std::size_t endings_open_ = 0;
    std::size_t ending_names_ = 0;
    std::uint64_t released_unnotified_ = 0;
    // When an entry was last applied here.
    Instant heard_at_{std::numeric_limits<std::int64_t>::min()};
    CallTag close_tag_;
    bool close_is_numbered_ = false;
    bool is_evicted_ = false;  // the present session
    Now now_;
    AgentOutput out_;
};

}  // namespace mortise::core
