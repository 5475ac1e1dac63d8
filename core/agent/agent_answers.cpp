// Handles the answers of the cluster to the requests that this node sent.
#include <algorithm>
#include <chrono>
#include <string>
#include <utility>

#include "core/agent/session_agent.hpp"
#include "core/base/check.hpp"
#include "core/locks/needed_rights.hpp"

namespace mortise::core {

namespace {

bool is_refusal(AnswerKind kind) {
    return kind == AnswerKind::busy || kind == AnswerKind::kind_mismatch ||
           kind == AnswerKind::resource_exhausted || kind == AnswerKind::invalid_argument;
}

// The request names no hold of this session.
bool is_about_others(const RequestBody& body) {
    return std::holds_alternative<BreakLock>(body) || std::holds_alternative<EvictSession>(body) ||
           std::holds_alternative<AskRelease>(body) || std::holds_alternative<Remove>(body) ||
           (is_of_a_kind(body) && !waits_for_others(body));
}

bool is_write(const RequestBody& body) {
    return std::holds_alternative<SetValue>(body) || std::holds_alternative<MarkConsistent>(body) ||
           is_about_others(body);
}

bool ends_operation(const RequestBody& body) {
    return std::holds_alternative<Release>(body) || std::holds_alternative<Cancel>(body) ||
           std::holds_alternative<Downgrade>(body) || std::holds_alternative<Publish>(body) ||
           std::holds_alternative<Quit>(body);
}

// The grant of a lock to a request for one name does not repeat the name.
bool is_asked_for(const Answer& granted, const Acquire& asked) {
    if (granted.names.empty()) return asked.names.size() == 1 && asked.permits == 0;
    return std::ranges::all_of(granted.names, [&](const NamedGrant& one) {
        const bool is_named =
            std::ranges::find(asked.names, one.name, &NamedMode::name) != asked.names.end();
        return is_named && one.slots.size() == asked.permits;
    });
}

}  // namespace

// The cluster has queued the request, so the request is applied and leaves the send window.
void SessionAgent::on_queued(Seq seq, Now now) {
    if (!window_.is_next(seq)) return;  // a duplicate
    auto sent = window_.take_next(now);
    if (!sent.tag.is_set()) return;  // its caller gave up: a Cancel is on its way
    auto& call = calls_.queue(std::move(sent));
    // A try that recalls cached grants has no more time than any other try (S43, S48).
    const auto until = is_try(call) ? std::min(now.steady + options_.recall_timeout, call.gives_up)
                                    : Instant::never();
    watch(call, std::min(call.deadline, until));
}

// An immediate answer comes in the order of the sequence numbers; the answer to a queued request
// comes at any time. An answer that matches neither is a duplicate.
void SessionAgent::on_answered(Seq seq, const Answer& given, Now now) {
    if (window_.is_next(seq)) return take_answer(window_.take_next(now), given, now);
    const auto tag = calls_.queued_as(seq);
    if (tag.is_set()) take_answer(calls_.take(tag), given, now);
}

void SessionAgent::take_answer(AgentRequest sent, const Answer& given, Now now) {
    const auto seq = sent.seq;
    const bool is_granted = given.kind == AnswerKind::granted;
    if (ends_operation(sent.body)) {
        --endings_open_;
        ending_names_ -= sent.names;
        if (is_granted) end({Release{seq, false}, {}, {}});  // see is_answer_to()
        return on_ending_answered(sent, given);
    }
    if (!sent.tag.is_set()) return;  // its caller gave up: a Cancel is on its way
    if (is_answer_to(sent.body, given)) return on_call_answered(sent, given, now);
    if (is_granted) end({Release{seq, false}, {}, {}, sent.names});
    answer(sent, CallError::outcome_unknown);
}

// If false, another member used the sequence number of this request, in the name of this session,
// for a different request.
bool SessionAgent::is_answer_to(const RequestBody& asked, const Answer& given) const {
    if (given.kind == AnswerKind::permission_denied) return true;  // possible for any request
    const bool is_granted = given.kind == AnswerKind::granted;
    if (is_write(asked)) return !is_granted && given.cycle.empty();
    if (!given.cycle.empty()) return !waits_for_others(asked);
    if (const auto* upgrade = std::get_if<Upgrade>(&asked)) {
        if (given.kind == AnswerKind::converted) return holds_.contains(upgrade->operation);
        return given.kind == AnswerKind::busy || given.kind == AnswerKind::deadlock ||
               given.kind == AnswerKind::invalid_argument || given.kind == AnswerKind::not_held ||
               given.kind == AnswerKind::cancelled || given.kind == AnswerKind::resource_exhausted;
    }
    if (waits_for_others(asked)) return holds_nothing(given.kind) || is_refusal(given.kind);
    if (!is_granted) return is_refusal(given.kind);
    const auto& acquire = std::get<Acquire>(asked);
    const bool is_as_cached = given.cached_tokens <= acquire.cached_tokens;
    return is_as_cached && is_asked_for(given, acquire);
}

void SessionAgent::on_call_answered(AgentRequest& sent, const Answer& given, Now now) {
    if (!given.cycle.empty()) return answer(sent, Deadlocked{given.cycle});
    if (given.kind == AnswerKind::permission_denied) return on_denied(sent);
    if (std::holds_alternative<Upgrade>(sent.body)) return on_upgrade_answered(sent, given);
    if (given.kind == AnswerKind::granted) return on_granted(sent, given, now);
    if (is_write(sent.body)) return on_write_answered(sent, given.kind);
    if (waits_for_others(sent.body)) return on_await_answered(sent, given.kind);
    on_refused(sent, given.kind);
}

// --- acquires -----------------------------------------------------------------------------------

namespace {

// A request for any one of several names gets only the name that was granted.
ShortList<Acquired::Part> parts_of(Acquire& asked, const Answer& given) {
    ShortList<Acquired::Part> parts;
    if (given.names.empty()) {
        auto& [name, mode] = asked.names.front();
        parts.push_back({std::move(name), mode, given.token, given.previous, {}});
    }
    for (const auto& one : given.names) {
        const auto* named = std::ranges::find(asked.names, one.name, &NamedMode::name);
        parts.push_back({one.name, named->mode, one.token, one.previous, one.slots});
    }
    return parts;
}

Held held_of(const Acquired& acquired) {
    Names names;
    for (const auto& part : acquired.parts)
        names.push_back(part.name);
    return {std::move(names), acquired.parts.front().mode, acquired.suspends, acquired.ends};
}

}  // namespace

void SessionAgent::on_granted(AgentRequest& sent, const Answer& given, Now now) {
    const auto seq = sent.seq;
    auto& asked = std::get<Acquire>(sent.body);
    Acquired acquired{{*session_.id(), seq}, parts_of(asked, given), asked.which};
    if (!session_.is_valid(now)) {
        // The session may have expired already, so the program must not learn of this grant.
        end({Release{seq, false}, {}, {}, acquired.parts.size()});
        return answer(sent, CallError::session_expired);
    }
    acquired.suspends = sent.suspends;
    acquired.cached_tokens = given.cached_tokens;
    if (given.cached_tokens != 0) {
        acquired.locker = std::move(asked.locker);
        acquired.label = std::move(asked.label);
    }
    const std::chrono::milliseconds max_hold{asked.terms.max_hold_ms};
    if (max_hold.count() != 0) acquired.ends = now.boot + max_hold;
    holds_.add(seq, held_of(acquired));
    answer(sent, std::move(acquired));
}

// CallDesk lets only requests through that this node's certificate allows, so this is rare: the
// session was opened under another certificate than the node has now.
void SessionAgent::on_denied(const AgentRequest& sent) {
    const auto missing = missing_right(options_.access, sent.body);
    const auto who = options_.node.is_set() ? "node " + std::to_string(options_.node.raw())
                                            : std::string{"this client"};
    Denied denied{who +
                  " may not do that: its session was opened with a certificate that does "
                  "not allow it"};
    if (missing) denied = denial(who, options_.access, missing->right, missing->name);
    answer(sent, std::move(denied));
}

void SessionAgent::on_refused(const AgentRequest& sent, AnswerKind kind) {
    switch (kind) {
        case AnswerKind::busy: {
            Busy busy;
            busy.seen.name = std::get<Acquire>(sent.body).names.front().name;
            return answer(sent, std::move(busy));
        }
        case AnswerKind::kind_mismatch: return answer(sent, CallError::kind_mismatch);
        case AnswerKind::resource_exhausted: return answer(sent, CallError::resource_exhausted);
        default: return answer(sent, CallError::invalid_argument);
    }
}

// It holds nothing, so it makes no difference whether the lease has ended by now.
void SessionAgent::on_await_answered(const AgentRequest& sent, AnswerKind kind) {
    if (kind == AnswerKind::barrier_broken) return answer(sent, CallError::session_expired);
    if (kind != AnswerKind::passed) return on_refused(sent, kind);
    answer(sent, Passed{});
}

// --- conversions and writes ---------------------------------------------------------------------

void SessionAgent::on_upgrade_answered(const AgentRequest& sent, const Answer& given) {
    switch (given.kind) {
        case AnswerKind::converted: {
            auto& held = *holds_.find(sent.hold);
            held.conversions().converted_by = sent.seq;
            held.mode = LockMode::exclusive;
            held.wanted = LockMode::exclusive;
            return answer(sent, Converted{given.token});
        }
        case AnswerKind::busy: return answer(sent, Busy{});
        case AnswerKind::deadlock: return answer(sent, CallError::deadlock);
        case AnswerKind::resource_exhausted: return answer(sent, CallError::resource_exhausted);
        case AnswerKind::invalid_argument: return answer(sent, CallError::invalid_argument);
        default: return answer(sent, CallError::lock_lost);  // the cluster has ended the hold
    }
}

void SessionAgent::on_write_answered(const AgentRequest& sent, AnswerKind kind) {
    switch (kind) {
        case AnswerKind::stored:
        case AnswerKind::broken:
        case AnswerKind::asked: return answer(sent, Written{});
        case AnswerKind::busy: return answer(sent, Busy{});
        case AnswerKind::barrier_broken: return answer(sent, CallError::session_expired);
        case AnswerKind::kind_mismatch: return answer(sent, CallError::kind_mismatch);
        case AnswerKind::not_held:
            return answer(sent,
                          is_about_others(sent.body) ? CallError::not_held : CallError::lock_lost);
        case AnswerKind::resource_exhausted: return answer(sent, CallError::resource_exhausted);
        case AnswerKind::stale_request: return answer(sent, CallError::outcome_unknown);
        default: return answer(sent, CallError::invalid_argument);
    }
}

// --- releases, cancels and downgrades ------------------------------------------------------------

void SessionAgent::on_ending_answered(const AgentRequest& sent, const Answer& given) {
    const auto* downgrade = std::get_if<Downgrade>(&sent.body);
    if (sent.hold.is_set()) settle_upgrade(sent.hold, given.kind);
    if (downgrade != nullptr) on_downgrade_answered(*downgrade, sent.seq, given.kind);
    if (!enders_.take(sent.tag)) return;
    CallAnswer answer{sent.tag, downgrade ? CallError::lock_lost : CallError::not_held};
    if (given.kind == AnswerKind::released) answer.result = Released{};
    if (given.kind == AnswerKind::lost) answer.result = CallError::lock_lost;
    if (given.kind == AnswerKind::converted) answer.result = Converted{given.token};
    if (given.kind == AnswerKind::invalid_argument) answer.result = CallError::invalid_argument;
    out_.answers.push_back(std::move(answer));
}

// If a downgrade was refused, the hold keeps its mode, unless later downgrades are outstanding.
void SessionAgent::on_downgrade_answered(const Downgrade& asked, Seq seq, AnswerKind kind) {
    auto* held = holds_.find(asked.operation);
    if (held == nullptr) return;
    auto& its = held->conversions();
    --its.downgrades;
    if (kind == AnswerKind::converted && its.converted_by < seq) {
        held->mode = asked.mode;
        its.converted_by = seq;
    }
    if (kind != AnswerKind::converted && its.downgrades == 0) held->wanted = held->mode;
}

// The Cancel of an upgrade was answered. If it came too late, the upgrade was granted, and the hold
// is downgraded to the mode that its owner assumes. Such a downgrade is always legal.
void SessionAgent::settle_upgrade(Seq hold, AnswerKind kind) {
    auto* held = holds_.find(hold);
    if (held == nullptr) return;  // it was released, in whichever mode it had
    auto& its = held->conversions();
    its.unsettled = {};
    if (kind != AnswerKind::cancelled) {
        ++its.downgrades;
        end({Downgrade{hold, held->wanted}, {}, {}});
    }
    if (const auto next = std::exchange(its.held_back, {}); next.is_set()) calls_.send_first(next);
}

// --- a snapshot was installed -------------------------------------------------------------------

void SessionAgent::on_state_replaced(const SessionTable& sessions, Now now) {
    const auto* own = session_.id() ? sessions.find(*session_.id()) : nullptr;
    if (session_.id() && own == nullptr) lose_session(SessionEnd::expired, now);
    if (own != nullptr) {
        for (const auto operation : own->broken)
            lose_broken(operation);
        take_answers_from(*own, now);
        if (own->renewal_number == last_renewal) on_evicted();
    }
    if (session_.is_leader_known()) window_.send_again();
    on_progress(now);
}

// The snapshot holds all answers to this session that were not received here (S17).
void SessionAgent::take_answers_from(const Session& own, Now now) {
    while (window_.size() != 0 && window_.first() <= own.applied)
        answer_from(own, window_.first(), now);
    std::vector<Seq> queued;
    calls_.each([&](CallTag, const AgentRequest& call) {
        if (call.queued && own.answers.find(call.seq) != nullptr) queued.push_back(call.seq);
    });
    std::ranges::sort(queued);
    for (const auto seq : queued)
        answer_from(own, seq, now);
    own.answers.each([&](LogIndex at, Seq, const Answer&) { session_.on_answer(at); });
}

void SessionAgent::answer_from(const Session& own, Seq seq, Now now) {
    const auto* kept = own.answers.find(seq);
    if (kept != nullptr) return on_answered(seq, *kept, now);
    if (own.operations.waits(seq)) return on_queued(seq, now);
    // A correct member always leaves an answer or a queued operation, so another process has used
    // this sequence number.
    on_answered(seq, {AnswerKind::stale_request, {}, {}}, now);
}

}  // namespace mortise::core
