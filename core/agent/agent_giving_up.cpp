// Calls that are given up: by their caller, by their time, or refused by a leader without room. Who
// waits is answered at once; what was sent is the reaper's from then on (S18).
//
// A Cancel that is applied before its call stands for it: what the call came after may not be there
// yet. So a call that another one comes after is sent on, with nobody waiting for it, until it is
// there itself, and cancelled then (S20). What comes after it may be given up too before that; and
// then it needs no more than its Cancel.
#include <algorithm>

#include "core/agent/session_agent.hpp"
#include "core/base/mutant.hpp"

namespace mortise::core {

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
    if (seq.is_set()) reap_unfollowed(seq);
}

bool SessionAgent::is_given_up(const Sent& sent) {
    return !sent.ending && !sent.tag.is_set();
}

// And then what it came after, if that was only kept for its sake.
void SessionAgent::reap_unfollowed(Seq seq) {
    std::vector<Seq> candidates{seq};
    while (!candidates.empty()) {
        const auto found = sent_.find(candidates.back());
        candidates.pop_back();
        if (found == sent_.end() || !is_given_up(found->second)) continue;
        if (is_followed(found->second) && !planted(Mutant::early_cancel_of_whom_others_follow))
            continue;
        const auto before = predecessors(found->second.request);
        candidates.insert(candidates.end(), before.begin(), before.end());
        reap(found->first);
    }
}

// An earlier copy may be in the log all the same.
void SessionAgent::reap(Seq seq) {
    auto sent = forget(seq);
    Ending cancel{{}, Cancel{seq}, std::move(sent.names)};
    const auto* upgrade = std::get_if<Upgrade>(&sent.request.body);
    if (upgrade != nullptr) cancel.hold = upgrade->operation;
    if (!planted(Mutant::timeout_without_cancel)) end_operation(std::move(cancel));
}

// The newest first: then none of them is followed any more.
void SessionAgent::on_too_busy(SessionId session, Seq first, Seq last) {
    if (session_ != session) return;
    std::vector<CallTag> refused;
    for (auto sent = sent_.lower_bound(first); sent != sent_.end() && sent->first <= last; ++sent) {
        const auto& [seq, one] = *sent;
        // What the cluster has is only attached to again, and keeps its place (S48).
        const bool begins = one.tag.is_set() && !one.applied && !waiting_.at(one.tag).queued;
        if (begins) refused.push_back(one.tag);
    }
    for (auto tag = refused.rbegin(); tag != refused.rend(); ++tag)
        abandon(*tag, CallError::resource_exhausted);
}

void SessionAgent::give_up_overdue(Now now) {
    while (!by_deadline_.empty() && by_deadline_.begin()->first <= now.steady) {
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
            refuse(tag, CallError::no_quorum);
            continue;
        }
        // Empty-handed only if the cluster said so (S48).
        abandon(tag, waiting_.at(tag).queued ? CallError::timed_out : CallError::no_quorum);
    }
}

}  // namespace mortise::core
