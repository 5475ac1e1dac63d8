// What goes out, in which order, and when it goes out again.
#include <algorithm>
#include <limits>
#include <utility>

#include "core/agent/session_agent.hpp"
#include "core/base/check.hpp"
#include "core/locks/limits.hpp"

namespace mortise::core {

namespace {

// Sent and not known to be applied; the rest waits here, where it can still be withdrawn for
// nothing.
constexpr std::size_t acquires_in_flight_max = 2'048;
// A lane carries requests for so many names; opening, closing and acknowledging come on top.
constexpr std::size_t names_per_send_max = entry_commands_max - 4;
// Sent again to a leader that may only be slow.
constexpr std::size_t resent_max = 1'024;

bool has_room(const BatchBuilder& lane) {
    return lane.names() < names_per_send_max && lane.bytes() < batch_bytes_max / 4;
}

}  // namespace

SessionAgent::Sent SessionAgent::forget(Seq seq) {
    auto found = sent_.extract(seq);
    MORTISE_CHECK(!found.empty());
    auto& sent = found.mapped();
    leave_order(sent);
    const auto newest_of_hold = newest_of_hold_.find(sent.ending ? hold_of(*sent.ending) : Seq{});
    if (newest_of_hold != newest_of_hold_.end() && newest_of_hold->second == seq)
        newest_of_hold_.erase(newest_of_hold);
    names_beyond_ -= sent.names.size() - 1;
    if (!sent.applied) --unapplied_;
    if (sent.unsure) --unsure_;
    return std::move(sent);
}

// With the session, that is.
void SessionAgent::forget_sent() {
    while (!sent_.empty())
        forget(sent_.begin()->first);
    while (!endings_.empty())
        names_beyond_ -= next_ending().names.size() - 1;
    under_way_.clear();
    cancelling_.clear();
    sent_on_.clear();
    early_endings_.clear();
    again_.clear();
}

void SessionAgent::send_again(BatchBuilder& urgent) {
    std::size_t done = 0;
    for (; done < again_.size() && has_room(urgent); ++done) {
        const auto found = sent_.find(again_[done]);
        if (found != sent_.end() && !found->second.applied)
            urgent.add(found->second.request, found->second.names.size());
    }
    again_.erase(again_.begin(), again_.begin() + static_cast<std::ptrdiff_t>(done));
}

void SessionAgent::send_endings(BatchBuilder& urgent) {
    while (!endings_.empty() && has_room(urgent) && unapplied_ < operations_max) {
        auto ending = next_ending();
        auto* release = std::get_if<Release>(&ending.asked);
        // An older member knows no difference.
        if (release != nullptr && format_ < format_needed(ending.asked)) release->lost = false;
        auto request = next_request(sent_before(ending), ending.asked);
        urgent.add(request, ending.names.size());
        if (const auto hold = hold_of(ending); hold.is_set()) newest_of_hold_[hold] = request.seq;
        const auto* cancel = std::get_if<Cancel>(&ending.asked);
        if (cancel != nullptr) cancelling_.at(cancel->operation) = request.seq;
        auto& sent = remember(std::move(request), ending.names);
        sent.ending = std::move(ending);
        note_if_early(sent);
    }
}

// One of those that are not sent yet may have to go before (S20).
bool SessionAgent::may_send_acquires() const {
    return endings_.empty() && unapplied_ < acquires_in_flight_max;
}

void SessionAgent::send_acquires(BatchBuilder& acquires) {
    std::uint64_t from = 0;
    for (std::size_t count = 0; count < names_per_send_max; ++count) {
        const auto next = unsent_.lower_bound(from);
        if (next == unsent_.end() || !may_send_acquires() || !has_room(acquires)) return;
        const auto [arrival, tag] = *next;
        from = arrival + 1;
        send_call(tag, waiting_.at(tag), acquires);
    }
}

// Unless it has to wait.
void SessionAgent::send_call(CallTag tag, Waiting& waiting, BatchBuilder& acquires) {
    if (is_behind_others(waiting)) return keep_back(tag, waiting);
    auto before = sent_before(waiting.names);
    if (!before) return keep_back(tag, waiting);
    auto* one = std::get_if<Acquire>(&waiting.asked);
    // Nobody looks for circles of waits before every member can (S33).
    if (one != nullptr && format_ < format_needed(waiting.asked)) one->locker = {};
    if (format_ < format_needed(waiting.asked)) return answer(tag, CallError::incompatible);
    auto request = request_behind(waiting.asked, std::move(*before));
    waiting.seq = request.seq;
    acquires.add(request, waiting.names.size());
    remember(std::move(request), waiting.names).tag = tag;
    take_from_unsent(waiting);
}

void SessionAgent::begin_resending(bool everything) {
    if (resending_.due && !everything) return;  // it is on its way
    const auto left = everything ? std::numeric_limits<std::size_t>::max() : resent_max;
    resending_ = {true, left, {}, {}, resending_.round + 1};
    review_early_endings();
}

// In the order of the numbers, which is the order in which they were sent first, and as far as the
// lanes go: acquires that are many are in the way of no ending. A leader that is new has had none
// of it, and gets the rest with the next steps. One that is slow may have it all, and gets no more
// of it than this.
void SessionAgent::resend(BatchBuilder& urgent, BatchBuilder& acquires) {
    const auto end = newest_seq_.next();
    resending_.endings = resend_endings(urgent, resending_.endings, end);
    // The calls behind an ending may come after it.
    resending_.calls = resend_calls(acquires, resending_.calls, resending_.endings);
    resending_.due = resending_.left != 0 && resending_.calls < end;
}

// Both return the first one for which the lane had no room, else `to`.
Seq SessionAgent::resend_endings(BatchBuilder& urgent, Seq from, Seq to) {
    for (auto next = sent_.lower_bound(from); next != sent_.end() && next->first < to; ++next) {
        auto& sent = next->second;
        const bool goes_ahead = sent.ending && !sent.is_early;
        if (goes_ahead && !resend_one(urgent, sent)) return next->first;
    }
    return to;
}

// And what comes after calls, each in its place.
Seq SessionAgent::resend_calls(BatchBuilder& acquires, Seq from, Seq to) {
    auto call = sent_.lower_bound(from);
    auto early = early_endings_.lower_bound(from);
    while (true) {
        while (call != sent_.end() && call->second.ending)
            ++call;
        const auto next_call = call == sent_.end() ? to : call->first;
        const auto next_early = early == early_endings_.end() ? to : early->first;
        const auto next = std::min(next_call, next_early);
        if (next >= to) return to;
        auto& sent = next == next_early ? sent_.at((early++)->second) : (call++)->second;
        if (!resend_one(acquires, sent)) return next;
    }
}

// False when the lane has no room for it.
bool SessionAgent::resend_one(BatchBuilder& lane, Sent& sent) {
    if (sent.applied || sent.round == resending_.round) return true;
    if (!has_room(lane) || resending_.left == 0) return false;
    --resending_.left;
    lane.add(sent.request, sent.names.size());
    sent.round = resending_.round;
    return true;
}

// More than fits into one step has no other occasion to go out.
bool SessionAgent::has_more_to_send() const {
    return leader_known_ && session_ &&
           (resending_.due || !again_.empty() ||
            (!endings_.empty() && unapplied_ < operations_max) ||
            (!unsent_.empty() && may_send_acquires()));
}

// What was lost before does not end in an orderly way with the session (S23): the cluster hears of
// that first.
bool SessionAgent::may_close() const {
    if (stage_ != Stage::closing) return false;
    const auto tells_of_loss = [](const Ending& ending) {
        const auto* release = std::get_if<Release>(&ending.asked);
        return release != nullptr && release->lost;
    };
    return untold_.empty() && std::ranges::none_of(endings_, tells_of_loss) &&
           std::ranges::none_of(sent_, [&](const auto& entry) {
               const auto& sent = entry.second;
               return !sent.applied && sent.ending && tells_of_loss(*sent.ending);
           });
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
            if (resending_.due) resend(urgent, acquires);
            send_again(urgent);
            send_endings(urgent);
            send_acquires(acquires);
            if (may_close() && now.steady >= open_again_at_) {
                urgent.add(CloseSession{*session_});
                open_again_at_ = now.steady + options_.resend_after;
            }
            if (std::exchange(renewal_due_, false)) {
                outbound.renewal = Renewal{*session_, lease_.next_request(now.boot)};
            }
            const bool sends = !urgent.is_empty() || !acquires.is_empty() || outbound.renewal;
            const bool sure = unsure_ == 0;
            // With each renewal again, as long as it may have got lost what is counted from it
            // (S8).
            const bool again = outbound.renewal && !uncounted_.empty();
            if (sends && (acknowledged_ < received_ || again) && sure) {
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
    tell_confirmed();
    return std::exchange(out_, {});
}

}  // namespace mortise::core
