// What this node's program asks for, on its way into the log and back: the session, its lease, the
// operations under way, and the reaper. Pure, like all of core.
//
// Every operation that leaves here is sent until it is seen applied, under the same number: it
// takes effect at most once (S17). One that nobody waits for any more (timed out, cancelled,
// granted too late, held when the lease lapsed) is the reaper's: it sends a Cancel or Release until
// confirmed (S18, S21). Invariant (S6): every grant of a live session belongs to a hold, or to the
// reaper.
//
// A source file per subject: session_agent.cpp has the session and its lease, agent_calls.cpp what
// is asked, agent_giving_up.cpp what is given up, agent_answers.cpp what comes back,
// agent_holds.cpp what is held and for how long, agent_losses.cpp what was lost until its owner was
// told, agent_conversions.cpp holds that change their mode, agent_confirming.cpp who wants to know
// that a hold is held, agent_writes.cpp what changes a name for others, agent_order.cpp what comes
// after what, agent_unsent.cpp what may not go out yet, agent_sending.cpp what goes out.
#pragma once

#include <deque>
#include <limits>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "core/agent/call.hpp"
#include "core/base/prng.hpp"
#include "core/codec/command_codec.hpp"
#include "core/leases/own_lease.hpp"
#include "core/locks/session_table.hpp"

namespace mortise::core {

// A member that is cut off from the log asks so often for its session, and then lets it end
// (decision 0005).
constexpr std::uint32_t renewals_unseen_max = 16;

struct AgentOptions {
    NodeId node;
    Incarnation incarnation;
    BootEpoch boot_epoch;
    // The former process on this directory is known to be dead (S10).
    bool former_life_ended = false;
    std::uint32_t ttl_ms = 10'000;
    std::uint32_t rho_ppm = 10'000;
    Nanoseconds call_timeout{std::chrono::seconds{10}};
    Nanoseconds resend_after{std::chrono::seconds{1}};
    Access access = Access::all();  // of this node's certificate
};

// What goes to the leader: commands that only end things go first, and are taken also by a leader
// that is too busy for new ones.
struct Outbound {
    Bytes urgent;
    Bytes acquires;
    std::optional<Renewal> renewal;

    [[nodiscard]] bool is_empty() const {
        return urgent.empty() && acquires.empty() && !renewal.has_value();
    }
};

struct AgentOutput {
    std::optional<Outbound> outbound;
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
    void on_acquire(AcquireSeveralCall call, Now now);
    void on_downgrade(const DowngradeCall& call, Now now);
    void on_upgrade(const UpgradeCall& call, Now now);
    void on_write(WriteCall call, Now now);
    void on_confirm(const ConfirmCall& call, Now now);
    void on_cancel(const CancelCall& call, Now now);
    void on_release(const ReleaseCall& call, Now now);
    // Of a hold in AgentOutput::lost, or one that the program lost by itself. Before that, or until
    // it took too long, the cluster does not hear of it (S6).
    void on_told(OperationId hold);
    void on_close(const CloseCall& call, Now now);
    // Ends a call that was found busy without the log (S20).
    void answer_busy(CallTag tag, LockView seen);
    // May a try on this name be answered from a read? Not behind commands of ours on it (S20).
    [[nodiscard]] bool may_answer_from_read(const std::string& name) const;

    // What was applied at `index`, in order; also of other sessions.
    void on_outcome(const Outcome& outcome, LogIndex index, Now now);
    // Something was applied here: this node still learns what the cluster decides.
    void on_progress(Now now);
    // The log has commands of that form, so every member reads it.
    void on_format(std::uint8_t format) { format_ = format; }
    // The leader has no room for these.
    void on_too_busy(SessionId session, Seq first, Seq last);
    // The leader, if known, and its term. Told on every change; a new link to it counts.
    void on_leader(bool known, Now now);
    void on_timer(Now now);
    // What was applied in between is not told. Everything is asked again: what has its answer gets
    // it once more, what waits is attached to again (S17). A session that is not among `sessions`
    // has ended, and nobody answers for it.
    void on_state_replaced(const SessionTable& sessions, Now now);

    // This node is no member any more. Nothing that happens to its session is told here, so what
    // waits in the cluster's queues ends as with the session (S48).
    void on_removed();

    AgentOutput collect(Now now);
    // Of the steady clock.
    [[nodiscard]] Instant deadline() const;

    // The session, while it is neither being opened nor closed.
    [[nodiscard]] std::optional<SessionId> open_session() const {
        return stage_ == Stage::open ? session_ : std::nullopt;
    }
    // Null for what this node does not hold.
    [[nodiscard]] const std::vector<std::string>* names_of(OperationId hold) const;
    // The hold that this request of ours, which has no answer yet, converts; else not set.
    [[nodiscard]] OperationId converted_by(OperationId request) const;
    [[nodiscard]] bool is_closed() const { return stage_ == Stage::closed; }
    // The operations that a call, a hold or the reaper answers for, rising: the invariant above.
    [[nodiscard]] std::vector<Seq> accounted_for() const;
    // Throws when what it keeps is not what it needs.
    void check_invariants() const;
    // Calls that wait, and what the reaper has still to end.
    [[nodiscard]] std::size_t outstanding() const {
        return unsent_.size() + kept_back_ + sent_.size() + endings_.size() + untold_.size();
    }
    // Since the start: what went back though its owner had not been told yet.
    [[nodiscard]] std::uint64_t released_untold() const { return released_untold_; }

private:
    enum class Stage : std::uint8_t { opening, open, closing, closed };

    using Names = std::vector<std::string>;

    struct Waiting {                // a call that waits for its answer
        RequestBody asked;          // an Acquire, an AcquireSeveral or an Upgrade
        Names names;                // that it is about
        Instant deadline;           // its own
        Seq seq;                    // not set: not sent yet
        std::uint64_t arrival = 0;  // orders those that are not sent
        Instant gives_up;           // when it is answered whatever happens
        bool queued = false;        // the cluster has it
        bool suspends = false;      // the hold that comes of it
    };
    struct Held {
        Names names;
        LockMode mode = LockMode::exclusive;    // of one name, by the newest answer
        LockMode wanted = LockMode::exclusive;  // as its owner believes to have it
        Seq converted_by;                       // what made that mode; not set: as it was granted
        std::size_t downgrades = 0;             // that were asked for and have no answer
        CallTag upgrade;                        // the call that waits to upgrade it
        Seq unsettled;  // an upgrade that was given up, until its end is known
        bool suspends = false;
        Instant ends = Instant::never();  // of the boot clock (S8)
    };
    struct Ending {  // a Release, a Cancel or a Downgrade: whoever waits for it, it is done
        CallTag tag;
        RequestBody asked;
        Names names;
        Seq hold{};   // of a Cancel of an upgrade: of what
        Seq after{};  // of a Cancel: what its call comes after, if that may not be there yet
    };
    struct Untold {
        Ending release;
        Instant until;  // of the steady clock: then it goes out all the same
    };
    struct Sent {
        Request request;
        Names names;
        CallTag tag;  // of the waiting call, if it is one and was not given up
        std::optional<Ending> ending;
        std::uint64_t round = 0;  // of resending, in which it was sent last
        bool applied = false;     // queued: known to the cluster, not answered
        bool unsure = false;      // may have been answered without our being told
        bool is_early = false;    // an ending that comes after what may not be there yet
    };
    struct UnderWay {  // what was sent on a name and is not known to be applied
        std::set<Seq> requests;
        std::set<Seq> newest;  // whoever comes after these comes after all of them
        Seq newest_ending;     // the last release or downgrade of those that come one after another
    };
    struct Resending {
        bool due = false;
        std::size_t left = 0;  // so many requests at most
        Seq endings;           // the first of each kind that did not go out yet
        Seq calls;
        std::uint64_t round = 0;
    };
    struct Ender {  // a caller of release() or downgrade()
        Instant gives_up;
        bool releases = true;
    };

    struct Confirming {
        Seq hold;
        std::uint64_t newest = 0;  // renewal that was asked for before
        Instant gives_up;
    };

    void open(Now now);
    void renew(Now now);
    void lapse();
    void lose_session(SessionEnd how, Now now);
    void fail_void_calls();
    void fail_calls(CallError error);
    void on_opened(SessionId session, Now now);

    void on_answered(const Answered& answered, Now now);
    void on_granted(const Sent& sent, const Answer& given, Now now);
    void on_ending_answered(const Sent& sent, const Answer& given);
    void on_refused(CallTag tag, AnswerKind kind);
    [[nodiscard]] static Held held_of_several(const AcquireSeveral& asked, const Answer& given);
    void on_queued(Seq seq);

    [[nodiscard]] bool has_room_for(std::size_t names) const;
    // Null when it was refused, and answered.
    Waiting* take_call(CallTag tag, RequestBody asked, Names names, Instant deadline, Now now);
    void refuse(CallTag tag, CallError error) { out_.answers.push_back({tag, error}); }
    void answer(CallTag tag, CallError error);
    void finish(CallTag tag);
    void abandon(CallTag tag, CallError error);
    [[nodiscard]] static bool is_given_up(const Sent& sent);
    void reap_if_ready(Seq seq);
    void reap(Seq seq, Seq after);
    [[nodiscard]] std::vector<Seq> unsettled_before(const Request& request) const;
    [[nodiscard]] Seq standing_for(Seq seq) const;
    [[nodiscard]] static Seq place_of(const Request& request);
    [[nodiscard]] bool is_early(const Request& ending) const;
    void note_if_early(Sent& ending);
    void review_early_endings();
    void send_early_again(Seq call);
    void took_effect(const Sent& sent);
    void settle(Seq place);
    void check_given_up() const;
    [[nodiscard]] bool is_answer_to(const RequestBody& asked, const Answer& given) const;
    [[nodiscard]] CallError why_not_taken(Now now) const;
    void give_up_overdue(Now now);
    void watch(CallTag tag, Waiting& waiting, Instant gives_up);
    void expect_end(CallTag tag, bool releases, Now now);
    void end_operation(Ending ending);
    void queue_ending(Ending ending);
    [[nodiscard]] Ending next_ending();
    [[nodiscard]] static Seq target_of(const Ending& ending);
    [[nodiscard]] static Seq hold_of(const Ending& ending);

    Held* find_hold(OperationId hold);
    using Holds = std::map<Seq, Held>;
    void add_hold(Seq operation, Held held);
    [[nodiscard]] Held take_hold(Holds::iterator hold);
    void end_holds_that_are_over();
    void lose(Seq operation, HoldLost::Reason why, Held held);
    void end_when_told(Ending release);
    void end_untold(Seq operation);
    void end_overdue_untold();
    void forget_untold();
    [[nodiscard]] bool is_behind_others(const Waiting& waiting) const;
    void keep_back(CallTag tag, const Waiting& waiting);
    void let_go(const std::string& name);
    void forget_kept_back(const Waiting& waiting);
    void take_from_unsent(const Waiting& waiting);
    void check_kept_back() const;
    [[nodiscard]] bool withdraw_grant(Seq operation);
    void withdraw_grants();
    void on_upgrade_answered(const Sent& sent, const Answer& given);
    static void become_exclusive(Held& held, Seq by);
    void downgrade(Held& held, Ending downgrade);
    static void on_downgrade_answered(Held& held, const Sent& sent, AnswerKind kind);
    void settle_upgrade(const Ending& cancelled, AnswerKind kind);
    void drop_upgrade(const Held& held, CallError error);
    [[nodiscard]] Holds take_holds();
    void answer_confirms(std::uint64_t renewed, CallError error);
    void forget_confirm(CallTag tag);
    void tell_confirmed();

    [[nodiscard]] static bool is_write(const RequestBody& body);
    void on_denied(const Sent& sent);
    void on_write_answered(const Sent& sent, AnswerKind kind);
    void lose_broken(Seq operation);
    void give_up_broken(Seq operation);

    void send_again(BatchBuilder& urgent);
    void send_endings(BatchBuilder& urgent);
    [[nodiscard]] bool may_send_acquires() const;
    [[nodiscard]] bool may_close() const;
    void send_acquires(BatchBuilder& acquires);
    void send_call(CallTag tag, Waiting& waiting, BatchBuilder& acquires);
    void begin_resending(bool everything);
    void resend(BatchBuilder& urgent, BatchBuilder& acquires);
    Seq resend_endings(BatchBuilder& urgent, Seq from, Seq to);
    Seq resend_calls(BatchBuilder& acquires, Seq from, Seq to);
    [[nodiscard]] bool resend_one(BatchBuilder& lane, Sent& sent);
    [[nodiscard]] bool has_more_to_send() const;
    [[nodiscard]] static std::vector<Seq> predecessors(const Request& request);  // what it is after
    [[nodiscard]] std::optional<std::vector<Seq>> sent_before(const Names& names) const;
    [[nodiscard]] Seq sent_before(const Ending& ending) const;
    [[nodiscard]] Request next_request(Seq after, RequestBody body);
    [[nodiscard]] Request request_behind(RequestBody body, std::vector<Seq> before);
    Sent& remember(Request request, Names names);
    Sent forget(Seq seq);
    void leave_order(const Sent& sent);
    void forget_sent();
    void tell_lease();

    AgentOptions options_;
    Prng prng_;
    Stage stage_ = Stage::opening;
    OpenSession opening_;
    std::optional<Instant> opening_sent_;  // boot clock, the first time
    Instant open_again_at_;
    std::optional<SessionId> session_;
    OwnLease lease_;
    bool lapsed_ = true;
    Instant renew_at_ = Instant::never();
    bool renewal_due_ = false;
    std::uint32_t renewals_unseen_ = 0;  // sent since anything was applied here
    bool leader_known_ = false;
    // The leader decided something, or was too busy: the newest that is known of it.
    Instant heard_at_{std::numeric_limits<std::int64_t>::min()};
    std::uint8_t format_ = command_format_oldest;  // of commands, that every member reads

    Seq newest_seq_;
    std::map<CallTag, Waiting> waiting_;
    std::set<std::pair<Instant, CallTag>> by_deadline_;
    using Arrivals = std::map<std::uint64_t, CallTag>;
    Arrivals unsent_;                         // those that may be sent, as far as is known
    std::map<std::string, Arrivals> behind_;  // those kept back, by each name they are about
    std::size_t kept_back_ = 0;               // how many those are
    std::uint64_t arrivals_ = 0;
    std::deque<Ending> endings_;  // the reaper's lane, not sent yet
    std::multiset<std::string> ending_names_;
    std::map<Seq, Untold> untold_;  // by the hold: not in that lane yet
    std::set<std::pair<Instant, Seq>> untold_by_time_;
    std::multiset<std::string> untold_names_;
    std::uint64_t released_untold_ = 0;
    std::map<Seq, Sent> sent_;  // until answered
    std::map<std::string, UnderWay> under_way_;
    std::map<Seq, Seq> newest_of_hold_;      // what was sent last to change or end a hold
    std::map<Seq, Seq> cancelling_;          // calls, and the Cancel of each; not set: not sent yet
    std::set<std::pair<Seq, Seq>> sent_on_;  // what calls that are given up come after, and those
    std::map<Seq, Seq> early_endings_;       // that may be passed over, by their place
    std::vector<Seq> again_;                 // those of them that may not be any more
    std::map<CallTag, Ender> enders_;
    std::map<CallTag, Confirming> confirming_;
    std::vector<std::pair<CallTag, Seq>> confirmed_;  // in the step that is under way
    Holds holds_;                                     // those that live
    std::set<std::pair<Instant, Seq>> by_end_;        // those with a max_hold
    std::set<Seq> uncounted_;                         // likewise, as far as is known by the cluster
    std::size_t held_names_ = 0;                      // of all of them
    std::size_t names_beyond_ = 0;                    // besides the first, of all outstanding()
    std::size_t unapplied_ = 0;                       // of sent_, those not known to be applied
    std::size_t unsure_ = 0;  // of sent_; until there are none nothing is acknowledged
    CallTag close_tag_;
    Resending resending_;
    Instant resend_at_ = Instant::never();
    LogIndex received_;      // the newest index at which an answer came
    LogIndex acknowledged_;  // as told to the cluster
    Now now_;
    AgentOutput out_;
};

}  // namespace mortise::core
