// Calls that are given up: by their caller, by their time, or refused by a leader without room. Who
// waits is answered at once; what was sent is the reaper's from then on (S18).
//
// A Cancel that is applied before its call stands for it, and what the call came after may not be
// there yet. So it comes after the same (S20), of which it can name one. A call for several names
// that comes after more than that is sent on, with nobody waiting for it, until one of those is
// left, or it is there itself.
#include <algorithm>

#include "core/agent/session_agent.hpp"
#include "core/base/check.hpp"

namespace mortise::core {

namespace {

// No step of a node takes long because many calls end at once (P10).
constexpr std::size_t calls_per_step_max = 1'024;

}  // namespace

void SessionAgent::abandon(CallTag tag, CallError error) {
    const auto& waiting = waiting_.at(tag);
    const auto seq = waiting.seq;
    if (seq.is_set()) {
        if (is_write(waiting.asked)) error = CallError::outcome_unknown;  // P6
        if (const auto* upgrade = std::get_if<Upgrade>(&waiting.asked)) {
            const auto held = holds_.find(upgrade->operation);
            if (held != holds_.end()) held->second.unsettled = seq;
        }
        sent_.at(seq).tag = {};
    }
    answer(tag, error);
    if (seq.is_set()) reap_if_ready(seq);
}

bool SessionAgent::is_given_up(const Sent& sent) {
    return !sent.ending && !sent.tag.is_set();
}

void SessionAgent::reap_if_ready(Seq seq) {
    const auto& sent = sent_.at(seq);
    if (sent.applied) return reap(seq, {});
    const auto behind = unsettled_before(sent.request);
    if (behind.empty()) return reap(seq, {});
    if (behind.size() == 1) return reap(seq, behind.front());
    for (const auto one : behind)
        sent_on_.emplace(one, seq);
}

// An earlier copy may be in the log all the same.
void SessionAgent::reap(Seq seq, Seq after) {
    auto sent = forget(seq);
    Ending cancel{{}, Cancel{seq}, std::move(sent.names)};
    cancel.after = after;
    const auto* upgrade = std::get_if<Upgrade>(&sent.request.body);
    if (upgrade != nullptr) cancel.hold = upgrade->operation;
    cancelling_.emplace(seq, Seq{});
    end_operation(std::move(cancel));
}

// Of what a request comes after: what is not known to be there, nor its Cancel.
std::vector<Seq> SessionAgent::unsettled_before(const Request& request) const {
    auto before = predecessors(request);
    std::erase_if(before, [&](Seq seq) { return !standing_for(seq).is_set(); });
    return before;
}

// Its Cancel, once that was sent. Not set when it is there.
Seq SessionAgent::standing_for(Seq seq) const {
    const auto cancelled = cancelling_.find(seq);
    if (cancelled != cancelling_.end()) return cancelled->second.is_set() ? cancelled->second : seq;
    const auto sent = sent_.find(seq);
    return sent != sent_.end() && !sent->second.applied ? seq : Seq{};
}

// A Cancel stands where its call does.
Seq SessionAgent::place_of(const Request& request) {
    const auto* cancel = std::get_if<Cancel>(&request.body);
    return cancel != nullptr ? cancel->operation : request.seq;
}

// A Cancel that comes after a call that may not be there yet; whatever comes after such. If it goes
// ahead of calls it may pass that one, and has no effect.
bool SessionAgent::is_early(const Request& ending) const {
    const auto before = sent_.find(ending.after);
    if (before == sent_.end()) return cancelling_.contains(ending.after);
    const auto& sent = before->second;
    return !sent.applied && (!sent.ending || sent.is_early);
}

// So it is sent again with the calls, in its place.
void SessionAgent::note_if_early(Sent& ending) {
    ending.is_early = is_early(ending.request);
    if (ending.is_early) early_endings_.emplace(place_of(ending.request), ending.request.seq);
}

void SessionAgent::review_early_endings() {
    for (auto one = early_endings_.begin(); one != early_endings_.end();) {
        auto& ending = sent_.at(one->second);
        ending.is_early = is_early(ending.request);
        one = ending.is_early ? std::next(one) : early_endings_.erase(one);
    }
}

// That call is there: if its Cancel was passed over it may come now.
void SessionAgent::send_early_again(Seq call) {
    const auto early = early_endings_.find(call);
    if (early != early_endings_.end()) again_.push_back(early->second);
}

void SessionAgent::took_effect(const Sent& sent) {
    const auto place = place_of(sent.request);
    cancelling_.erase(place);
    early_endings_.erase(place);
    settle(place);
    if (place != sent.request.seq) settle(sent.request.seq);
}

// What was asked as `place` is there, or its Cancel is.
void SessionAgent::settle(Seq place) {
    auto next = sent_on_.lower_bound({place, Seq{}});
    while (next != sent_on_.end() && next->first == place) {
        const auto behind = next->second;
        next = sent_on_.erase(next);
        if (sent_.contains(behind)) reap_if_ready(behind);
    }
}

// In the order in which they were sent: then each Cancel comes after the one before, if after any.
void SessionAgent::on_too_busy(SessionId session, Seq first, Seq last) {
    if (session_ != session) return;
    heard_at_ = now_.steady;
    std::vector<CallTag> refused;
    for (auto sent = sent_.lower_bound(first); sent != sent_.end() && sent->first <= last; ++sent) {
        const auto& [seq, one] = *sent;
        // What the cluster has is only attached to again, and keeps its place (S48).
        const bool begins = one.tag.is_set() && !one.applied && !waiting_.at(one.tag).queued;
        if (begins) refused.push_back(one.tag);
    }
    for (const auto tag : refused)
        abandon(tag, CallError::resource_exhausted);
}

// Where a leader decides things all the time, or says that it is busy, there is a majority: what it
// had no time for was too much.
CallError SessionAgent::why_not_taken(Now now) const {
    const bool is_led = leader_known_ && now.steady <= heard_at_ + 2 * options_.resend_after;
    return is_led ? CallError::resource_exhausted : CallError::no_quorum;
}

// The rest with the next step, which is due at once.
void SessionAgent::give_up_overdue(Now now) {
    for (std::size_t count = 0; count < calls_per_step_max; ++count) {
        if (by_deadline_.empty() || by_deadline_.begin()->first > now.steady) return;
        const auto tag = by_deadline_.begin()->second;
        const auto ender = enders_.find(tag);
        if (ender != enders_.end()) {
            // It goes on being done. Whether it was released nobody can tell yet (P6); in its
            // former mode it is not used any more, whenever the cluster hears of it.
            refuse(tag, ender->second.releases ? CallError::outcome_unknown : CallError::no_quorum);
            by_deadline_.erase(by_deadline_.begin());
            enders_.erase(ender);
            continue;
        }
        if (confirming_.contains(tag)) {
            forget_confirm(tag);
            refuse(tag, why_not_taken(now));
            continue;
        }
        // Empty-handed only if the cluster said so (S48).
        abandon(tag, waiting_.at(tag).queued ? CallError::timed_out : why_not_taken(now));
    }
}

// Each that is sent on waits for something, and each Cancel is on its way.
void SessionAgent::check_given_up() const {
    std::size_t on_their_way = endings_.size();
    for (const auto& [cancelled, cancel] : cancelling_) {
        const auto sent = sent_.find(cancel);
        MORTISE_CHECK(cancel.is_set() ? sent != sent_.end() : on_their_way-- > 0);
        MORTISE_CHECK(!sent_.contains(cancelled));
    }
    const auto waits = [&](const Request& request) {
        return std::ranges::any_of(unsettled_before(request), [&](Seq before) {
            return sent_on_.contains({before, request.seq});
        });
    };
    for (const auto& [seq, sent] : sent_)
        MORTISE_CHECK(stage_ != Stage::open || !is_given_up(sent) || waits(sent.request));
}

}  // namespace mortise::core
