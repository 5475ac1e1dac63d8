// What goes out, in which order, and when it goes out again.
#include <algorithm>
#include <utility>

#include "core/agent/session_agent.hpp"
#include "core/base/check.hpp"
#include "core/base/mutant.hpp"
#include "core/locks/limits.hpp"

namespace mortise::core {

namespace {

// Sent and not known to be applied; the rest waits here, where it can still be withdrawn for
// nothing.
constexpr std::size_t acquires_in_flight_max = 2'048;
constexpr std::size_t commands_per_send_max = 1'024;

}  // namespace

SessionAgent::Sent& SessionAgent::remember(Request request, std::string name, Now now) {
    const auto seq = request.seq;
    auto& sent = sent_[seq];
    newest_on_name_[name] = seq;
    sent.request = std::move(request);
    sent.name = std::move(name);
    sent.at = now.steady;
    ++unapplied_;
    return sent;
}

void SessionAgent::release_order(const std::string& name, Seq seq) {
    const auto newest = newest_on_name_.find(name);
    if (planted(Mutant::names_never_forgotten)) return;
    if (newest != newest_on_name_.end() && newest->second == seq) newest_on_name_.erase(newest);
}

SessionAgent::Sent SessionAgent::forget(Seq seq) {
    auto found = sent_.extract(seq);
    MORTISE_CHECK(!found.empty());
    auto& sent = found.mapped();
    release_order(sent.name, seq);
    if (!sent.applied) --unapplied_;
    if (sent.unsure) --unsure_;
    return std::move(sent);
}

void SessionAgent::send_endings(BatchBuilder& urgent, Now now) {
    while (!endings_.empty() && urgent.count() < commands_per_send_max &&
           unapplied_ < operations_max) {
        auto ending = std::move(endings_.front());
        endings_.pop_front();
        newest_seq_ = newest_seq_.next();
        Request request{*session_, newest_seq_, {}, Release{ending.target}};
        if (ending.cancel) request.body = Cancel{ending.target};
        urgent.add(request);
        auto name = ending.name;
        remember(std::move(request), std::move(name), now).ending = std::move(ending);
    }
}

void SessionAgent::send_acquires(BatchBuilder& acquires, Now now) {
    while (!unsent_.empty() && acquires.count() < commands_per_send_max &&
           newest_on_name_.size() < acquires_in_flight_max &&
           acquires.bytes() < batch_bytes_max / 4) {
        const auto tag = unsent_.begin()->second;
        unsent_.erase(unsent_.begin());
        auto& waiting = waiting_.at(tag);
        newest_seq_ = newest_seq_.next();
        waiting.seq = newest_seq_;
        const auto& name = waiting.call.request.name;
        const auto before = newest_on_name_.find(name);
        // Behind what we sent on this name before (S20): unlock(), then try_lock(), succeeds.
        const auto after = before == newest_on_name_.end() ? Seq{} : before->second;
        Request request{*session_, newest_seq_, after, waiting.call.request};
        acquires.add(request);
        remember(std::move(request), name, now).tag = tag;
    }
}

// In the order of the numbers, which is the order in which they were sent first.
void SessionAgent::resend(BatchBuilder& urgent, BatchBuilder& acquires, Now now) {
    for (auto& [seq, sent] : sent_) {
        if (sent.applied) continue;
        auto& lane = sent.ending ? urgent : acquires;
        if (lane.count() >= commands_per_send_max || lane.bytes() >= batch_bytes_max / 4) break;
        lane.add(sent.request);
        sent.at = now.steady;
    }
    resend_all_ = false;
}

// A name is remembered while something on it is under way, or it would be for ever.
void SessionAgent::check_invariants() const {
    MORTISE_CHECK(newest_on_name_.size() <= unapplied_ && unapplied_ <= sent_.size());
    for (const auto& [name, seq] : newest_on_name_) {
        const auto sent = sent_.find(seq);
        MORTISE_CHECK(sent != sent_.end() && !sent->second.applied && sent->second.name == name);
    }
}

AgentOutput SessionAgent::collect(Now now) {
    Outbound outbound;
    if (leader_known_) {
        BatchBuilder urgent;
        BatchBuilder acquires;
        if (stage_ == Stage::opening && now.steady >= open_again_at_) {
            if (!opening_sent_) opening_sent_ = now.boot;
            urgent.add(opening_);
            open_again_at_ = now.steady + options_.resend_after;
        }
        if (session_) {
            if (resend_all_) resend(urgent, acquires, now);
            send_endings(urgent, now);
            send_acquires(acquires, now);
            if (stage_ == Stage::closing && now.steady >= open_again_at_) {
                urgent.add(CloseSession{*session_});
                open_again_at_ = now.steady + options_.resend_after;
            }
            if (std::exchange(renewal_due_, false)) {
                outbound.renewal = Renewal{*session_, lease_.next_request(now.boot)};
            }
            const bool sends = !urgent.is_empty() || !acquires.is_empty() || outbound.renewal;
            const bool sure = unsure_ == 0 || planted(Mutant::unseen_answers_acknowledged);
            if (sends && acknowledged_ < received_ && sure) {
                acknowledged_ = received_;
                urgent.add(Acknowledge{*session_, received_});
            }
        }
        if (!urgent.is_empty()) outbound.urgent = urgent.take();
        if (!acquires.is_empty()) outbound.acquires = acquires.take();
    }
    if (unapplied_ != 0 && resend_at_ == Instant::never()) {
        resend_at_ = now.steady + options_.resend_after;
    }
    if (!outbound.is_empty()) out_.outbound = std::move(outbound);
    return std::exchange(out_, {});
}

}  // namespace mortise::core
