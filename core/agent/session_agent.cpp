// The session of this node, and what it sends.
#include "core/agent/session_agent.hpp"

#include <algorithm>
#include <utility>

#include "core/base/check.hpp"
#include "core/base/overloaded.hpp"

namespace mortise::core {

namespace {

// A step sends at most this many batches (P10); the next step follows at once.
constexpr int forwards_per_step_max = 4;
constexpr int calls_per_step_max = 1'024;

}  // namespace

SessionAgent::SessionAgent(const AgentOptions& options, Prng prng, Now now)
    : options_{options},
      session_{options, prng, now},
      window_{options.resend_after, options.window, options.batch_bytes},
      now_{now} {}

void SessionAgent::begin(Now now) {
    now_ = now;
    end_overdue_losses();
    end_holds_that_are_over();
    // When the lease ends locally, every hold is lost before anything else is done, whatever the
    // state of the network (S6).
    if (session_.lapses(now)) lapse();
}

// The session may live on in the cluster, so its holds are released there (S6).
void SessionAgent::lapse() {
    for (const auto operation : holds_.all()) {
        if (holds_.find(operation)->suspends()) {
            out_.suspended.push_back({*session_.id(), operation});
        } else {
            lose(operation, HoldLost::Reason::expired, *holds_.take(operation));
        }
    }
    end_confirms(CallError::lock_lost);
}

void SessionAgent::lose_session(SessionEnd how, Now now) {
    withdraw_grants();
    for (const auto operation : holds_.all()) {
        (void)holds_.take(operation);
        out_.lost.push_back({{*session_.id(), operation}, HoldLost::Reason::expired});
    }
    fail_void_calls();
    end_confirms(CallError::lock_lost);
    answer_enders(how);
    window_.clear();
    endings_.clear();
    forget_pending_losses();
    endings_open_ = 0;
    ending_names_ = 0;
    is_evicted_ = false;
    close_is_numbered_ = false;
    session_.former_run_is_this_one();
    session_.open(now);
    if (stage_ != Stage::closing) return;
    stage_ = Stage::closed;
    fail_calls(CallError::node_stopped);
    out_.answers.push_back({close_tag_, Closed{}});
}

void SessionAgent::answer_enders(SessionEnd how) {
    std::vector<std::pair<CallTag, bool>> enders;
    enders_.each(
        [&](CallTag tag, const Ender& ender) { enders.emplace_back(tag, ender.releases); });
    std::ranges::sort(enders);
    enders_.clear();
    for (const auto& [tag, releases] : enders) {
        CallAnswer answer{tag, CallError::lock_lost};
        // The end of the session has released everything.
        if (how == SessionEnd::closed && releases) answer.result = Released{};
        out_.answers.push_back(std::move(answer));
    }
}

// A call with a sequence number ends with the session; an acquire without one is sent in the next
// session. The hold of an upgrade or a write is gone.
void SessionAgent::fail_void_calls() {
    for (const auto tag : calls_.tags()) {
        const auto& call = *find_call(tag);
        const bool is_sent = call.seq.is_set();
        if (call.hold.is_set()) {
            answer(take_call_back(tag), CallError::lock_lost);
        } else if (is_sent || call.writes) {
            const bool is_unknown = is_sent && call.writes;
            answer(take_call_back(tag),
                   is_unknown ? CallError::outcome_unknown : CallError::session_expired);
        }
    }
}

// A write that was sent may take effect nevertheless (P6).
void SessionAgent::fail_calls(CallError error) {
    for (const auto tag : calls_.tags()) {
        const auto call = take_call_back(tag);
        answer(call, call.writes && call.seq.is_set() ? CallError::outcome_unknown : error);
    }
}

void SessionAgent::on_outcome(const Outcome& outcome, LogIndex index, Now now) {
    const auto own = session_.id();
    const auto is_own = [&](SessionId session) { return own && session == *own; };
    std::visit(Overloaded{
                   [&](const Answered& answered) {
                       if (!is_own(answered.operation.session)) return;
                       session_.on_answer(index);
                       on_answered(answered.operation.seq, answered.answer, now);
                   },
                   [&](const Queued& queued) {
                       if (is_own(queued.operation.session)) on_queued(queued.operation.seq, now);
                   },
                   [&](const SessionOpened& opened) { (void)session_.on_opened(opened, now); },
                   [&](const OpenRefused& refused) { session_.on_refused(refused, now); },
                   [&](const SessionRenewed& renewed) {
                       if (is_own(renewed.session)) on_renewed(renewed, now);
                   },
                   [&](const RenewalLost& lost) {
                       if (is_own(lost.session)) lose_session(SessionEnd::expired, now);
                   },
                   [&](const SessionEnded& ended) {
                       if (is_own(ended.session)) lose_session(ended.how, now);
                   },
                   [&](const SessionEvicted& evicted) {
                       if (is_own(evicted.session)) on_evicted();
                   },
                   [&](const LockBroken& broken) {
                       for (const auto hold : broken.holds) {
                           if (is_own(hold.session)) lose_broken(hold.seq);
                       }
                   },
                   [&](const ClosureBegun& begun) {
                       const bool bounds = begun.kind == Closure::Kind::max_hold;
                       if (bounds && is_own(begun.hold.session)) holds_.counted(begun.hold.seq);
                   },
                   [](const auto&) {},
               },
               outcome);
}

void SessionAgent::on_renewed(const SessionRenewed& renewed, Now now) {
    if (renewed.number == last_renewal) return on_evicted();
    for (const auto operation : renewed.broken)
        lose_broken(operation);
    session_.on_renewed(renewed.number, now);
    end_confirms(CallError::lock_lost);
    if (!session_.has_lapsed()) confirmations_.renewed(renewed.number);
}

void SessionAgent::on_progress(Now now) {
    heard_at_ = now.steady;
    session_.on_progress(now);
}

void SessionAgent::on_leader(bool known, Now now) {
    session_.on_leader(known, now);
    if (!known || window_.size() == 0) return;
    window_.send_again();
    session_.acknowledge_again();  // it may be lost like a request
}

void SessionAgent::on_gap(SessionId session, Seq next) {
    if (session_.id() != session) return;
    window_.go_back_to(next);
    session_.acknowledge_again();
}

void SessionAgent::on_timer(Now now) {
    session_.on_timer(now);
    // The cluster may have applied nothing because it keeps too many unacknowledged answers (P11).
    if (window_.on_timer(now)) session_.acknowledge_again();
    give_up_overdue(now);
}

// The node may be added again before its session has ended, so abandoned requests are cancelled all
// the same.
void SessionAgent::on_removed() {
    for (const auto tag : calls_.tags()) {
        if (find_call(tag)->queued) abandon(tag, CallError::session_expired);
    }
}

// --- sending ------------------------------------------------------------------------------------

void SessionAgent::number_endings(Now now) {
    while (!endings_.empty() && window_.has_room())
        window_.add(endings_.pop_front(), now);
}

// Releases and cancels got their sequence numbers before: an unlock() goes ahead of a try_lock()
// (S20, S21). If the window had no capacity for them, it has none for calls either.
bool SessionAgent::may_number_calls() const {
    return !leaves_session() && stage_ == Stage::open && window_.has_capacity_for_calls();
}

void SessionAgent::number_calls(Now now) {
    for (int count = 0; count < calls_per_step_max && may_number_calls(); ++count) {
        const auto tag = calls_.next_to_send();
        if (!tag.is_set()) return;
        calls_.took_next();
        if (!is_held_back(*calls_.find(tag))) window_.add(calls_.send(tag, window_.next()), now);
    }
}

namespace {

Names names_in(const RequestBody& body) {
    return std::visit(Overloaded{[](const Acquire& acquire) { return names_of(acquire); },
                                 [](const auto& one) {
                                     if constexpr (requires { one.name; }) return Names{one.name};
                                     return Names{};
                                 }},
                      body);
}

}  // namespace

// While the outcome of an abandoned upgrade is unknown, the mode of the hold is unknown too, so the
// next upgrade waits.
bool SessionAgent::is_held_back(const AgentRequest& call) {
    auto* held = call.hold.is_set() ? holds_.find(call.hold) : nullptr;
    if (held != nullptr && std::as_const(*held).conversions().unsettled.is_set()) {
        held->conversions().held_back = call.tag;
        return true;
    }
    if (parked_.are_none()) return false;
    auto names = held != nullptr ? held->names() : names_in(call.body);
    if (!parked_.must_wait(names, call.arrival)) return false;
    parked_.add(call.tag, std::move(names), call.arrival);
    return true;
}

void SessionAgent::go_on_with(const std::vector<CallTag>& freed) {
    for (const auto tag : freed)
        calls_.send_first(tag);
}

// The last request of the stream. A close ends the remaining holds cleanly, but a lost hold ends
// uncleanly (S23), so the cluster is informed of losses first. And it makes all names free, so
// their owners are notified first (S6).
void SessionAgent::number_close(Now now) {
    const bool is_next = leaves_session() && !close_is_numbered_ && endings_.empty() &&
                         pending_losses_.empty() && window_.has_room();
    if (!is_next) return;
    window_.add({CloseSession{}, {}, {}}, now);
    close_is_numbered_ = true;
}

void SessionAgent::send(Now now) {
    BatchBuilder batch;
    if (const auto opening = session_.take_opening(now)) batch.add(*opening);
    const auto id = session_.id();
    bool has_requests = id && window_.send(*id, batch);
    const auto renewal = session_.take_renewal(now);
    // The acknowledgement is repeated with each renewal while the cluster may have missed it, since
    // the cluster counts a max_hold from it (S8).
    if (renewal && holds_.has_uncounted()) session_.acknowledge_again();
    if (has_requests || renewal) {
        if (const auto received = session_.take_acknowledgement()) batch.add(*received);
    }
    Forward forward{{}, renewal};
    if (!batch.is_empty()) forward.batch = batch.take();
    if (forward.is_empty()) return;
    out_.forwards.push_back(std::move(forward));
    for (int more = 1; has_requests && more < forwards_per_step_max; ++more) {
        has_requests = window_.send(*id, batch);
        if (has_requests) out_.forwards.push_back({batch.take(), {}});
    }
}

// If a step could not send everything, nothing else triggers the next one.
bool SessionAgent::has_more_to_send() const {
    if (!session_.is_leader_known() || !session_.id()) return false;
    return window_.has_unsent() || (!endings_.empty() && window_.has_room()) ||
           (calls_.has_next() && may_number_calls());
}

AgentOutput SessionAgent::collect(Now now) {
    if (session_.is_leader_known() && stage_ != Stage::closed) {
        if (session_.id()) {
            number_endings(now);
            number_calls(now);
            number_close(now);
        }
        send(now);
    }
    confirmations_.answer(holds_, out_.answers);
    deadlines_.drop_ended([this](CallTag tag, Instant at) { return is_current(tag, at); });
    out_.lease = session_.take_lease_change();
    return std::exchange(out_, {});
}

Instant SessionAgent::deadline() const {
    if (stage_ == Stage::closed) return Instant::never();
    if (has_more_to_send()) return now_.steady;
    auto next = std::min({session_.deadline(now_), window_.deadline(), deadlines_.next(),
                          pending_losses_.deadline()});
    const auto end = holds_.next_end();
    return end == Instant::never() ? next : std::min(next, now_.steady + (end - now_.boot));
}

// --- queries ------------------------------------------------------------------------------------

std::optional<Names> SessionAgent::names_of(OperationId hold) const {
    return has(hold) ? std::optional{holds_.find(hold.seq)->names()} : std::nullopt;
}

bool SessionAgent::has(OperationId hold) const {
    return session_.id() == hold.session && holds_.contains(hold.seq);
}

OperationId SessionAgent::operation_of(CallTag call) const {
    const auto* open = find_call(call);
    const auto session = session_.id();
    if (open == nullptr || !session || !open->seq.is_set()) return {};
    return {*session, open->seq};
}

Names SessionAgent::waits_for(CallTag call) const {
    const auto* open = calls_.find(call);
    if (open == nullptr || !open->queued) return {};
    const auto* held = open->hold.is_set() ? holds_.find(open->hold) : nullptr;
    return held != nullptr ? held->names() : names_in(open->body);
}

OperationId SessionAgent::converted_by(OperationId request) const {
    if (session_.id() != request.session) return {};
    Seq hold;
    if (const auto* sent = window_.find(request.seq)) {
        const auto* downgrade = std::get_if<Downgrade>(&sent->body);
        hold = downgrade != nullptr ? downgrade->operation : sent->hold;
    } else if (const auto* call = calls_.find(calls_.queued_as(request.seq))) {
        hold = call->hold;
    } else {
        // The caller of an upgrade gave up, and the Cancel comes too late.
        const auto given_up = holds_.those(
            [&](const Held& held) { return held.conversions().unsettled == request.seq; });
        if (!given_up.empty()) hold = given_up.front();
    }
    return hold.is_set() ? OperationId{request.session, hold} : OperationId{};
}

namespace {

// The operation that this request ends or changes; not set if the request is an operation itself.
Seq target_of(const RequestBody& body) {
    return std::visit(Overloaded{[](const Release& one) { return one.operation; },
                                 [](const Cancel& one) { return one.operation; },
                                 [](const Downgrade& one) { return one.operation; },
                                 [](const Publish& one) { return one.operation; },
                                 [](const Quit& one) { return one.operation; },
                                 [](const auto&) { return Seq{}; }},
                      body);
}

}  // namespace

std::vector<Seq> SessionAgent::accounted_for() const {
    auto operations = holds_.all();
    std::ranges::copy(pending_losses_.all(), std::back_inserter(operations));
    for (std::size_t at = 0; at < endings_.size(); ++at)
        operations.push_back(target_of(endings_[at].body));
    window_.each([&](Seq seq, const AgentRequest& sent) {
        const auto target = target_of(sent.body);
        operations.push_back(target.is_set() ? target : seq);
    });
    calls_.each([&](CallTag, const AgentRequest& call) {
        if (call.queued) operations.push_back(call.seq);
    });
    std::ranges::sort(operations);
    return operations;
}

void SessionAgent::check_invariants() const {
    parked_.check_invariants();
    std::size_t open = endings_.size() + pending_losses_.size();
    std::size_t names = pending_losses_.names();
    for (std::size_t at = 0; at < endings_.size(); ++at)
        names += endings_[at].names;
    std::size_t in_window = 0;
    const auto check_upgrade = [&](const AgentRequest& call) {
        const auto* held = holds_.find(call.hold);
        if (call.hold.is_set())
            MORTISE_CHECK(held != nullptr && held->conversions().upgrade == call.tag);
    };
    window_.each([&](Seq seq, const AgentRequest& sent) {
        if (target_of(sent.body).is_set()) {
            ++open;
            names += sent.names;
        } else if (sent.tag.is_set()) {
            ++in_window;
            MORTISE_CHECK(calls_.sent_as(sent.tag) == seq && sent.seq == seq && !sent.queued);
            check_upgrade(sent);
        }
    });
    MORTISE_CHECK(open == endings_open_ && names == ending_names_);
    std::size_t elsewhere = 0;
    calls_.each([&](CallTag tag, const AgentRequest& call) {
        ++elsewhere;
        MORTISE_CHECK(call.tag == tag && call.queued == call.seq.is_set());
        if (call.queued) MORTISE_CHECK(calls_.queued_as(call.seq) == tag);
        check_upgrade(call);
    });
    MORTISE_CHECK(in_window + elsewhere == calls_.size());
}

}  // namespace mortise::core
