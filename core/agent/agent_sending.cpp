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

SessionAgent::Sent SessionAgent::forget(Seq seq) {
    auto found = sent_.extract(seq);
    MORTISE_CHECK(!found.empty());
    auto& sent = found.mapped();
    release_order(sent);
    names_beyond_ -= sent.names.size() - 1;
    if (!sent.applied) --unapplied_;
    if (sent.unsure) --unsure_;
    return std::move(sent);
}

// With the session, that is.
void SessionAgent::forget_sent() {
    while (!sent_.empty())
        forget(sent_.begin()->first);
    for (const auto& ending : std::exchange(endings_, {}))
        names_beyond_ -= ending.names.size() - 1;
    under_way_.clear();
}

void SessionAgent::send_endings(BatchBuilder& urgent) {
    while (!endings_.empty() && urgent.count() < commands_per_send_max &&
           unapplied_ < operations_max) {
        auto ending = std::move(endings_.front());
        endings_.pop_front();
        auto* release = std::get_if<Release>(&ending.asked);
        // An older member knows no difference.
        if (release != nullptr && format_ < format_needed(ending.asked)) release->lost = false;
        auto request = next_request(ended_before(ending.names), ending.asked);
        urgent.add(request);
        auto names = ending.names;
        remember(std::move(request), std::move(names)).ending = std::move(ending);
    }
}

void SessionAgent::send_acquires(BatchBuilder& acquires) {
    if (!endings_.empty()) return;  // one of them may have to go before (S20)
    std::uint64_t from = 0;
    while (acquires.count() < commands_per_send_max && under_way_.size() < acquires_in_flight_max &&
           acquires.bytes() < batch_bytes_max / 4) {
        const auto next = unsent_.lower_bound(from);
        if (next == unsent_.end()) return;
        const auto [arrival, tag] = *next;
        from = arrival + 1;
        send_call(tag, waiting_.at(tag), acquires);
    }
}

// Unless it has to wait.
void SessionAgent::send_call(CallTag tag, Waiting& waiting, BatchBuilder& acquires) {
    auto before = sent_before(waiting.names);
    if (must_wait(waiting, before)) return keep_back(tag, waiting);
    auto* one = std::get_if<Acquire>(&waiting.asked);
    // Nobody looks for circles of waits before every member can (S33).
    if (one != nullptr && format_ < format_needed(waiting.asked)) one->locker = {};
    if (format_ < format_needed(waiting.asked)) return answer(tag, CallError::incompatible);
    auto request = request_behind(waiting.asked, std::move(before));
    waiting.seq = request.seq;
    acquires.add(request);
    remember(std::move(request), waiting.names).tag = tag;
    take_from_unsent(waiting);
}

void SessionAgent::begin_resending(bool everything) {
    if (resending_.due && !everything) return;  // it is on its way
    resending_ = {true, everything, {}, {}, resending_.round + 1};
}

// In the order of the numbers, which is the order in which they were sent first, and as far as the
// lanes go: acquires that are many are in the way of no ending. A leader that is new has had none
// of it, and gets the rest with the next steps. One that is slow may have it all, and gets no more
// of it than this.
void SessionAgent::resend(BatchBuilder& urgent, BatchBuilder& acquires) {
    const auto end = newest_seq_.next();
    resending_.endings = resend_into(urgent, true, resending_.endings, end);
    // The calls behind an ending may come after it.
    resending_.calls = resend_into(acquires, false, resending_.calls, resending_.endings);
    resending_.due = resending_.all && resending_.calls < end;
}

// Returns the first one for which the lane had no room, else `to`.
Seq SessionAgent::resend_into(BatchBuilder& lane, bool endings, Seq from, Seq to) {
    for (auto next = sent_.lower_bound(from); next != sent_.end() && next->first < to; ++next) {
        auto& [seq, sent] = *next;
        const bool has_gone = sent.applied || sent.round == resending_.round;
        if (has_gone || sent.ending.has_value() != endings) continue;
        if (lane.count() >= commands_per_send_max || lane.bytes() >= batch_bytes_max / 4)
            return seq;
        lane.add(sent.request);
        sent.round = resending_.round;
    }
    return to;
}

// More than fits into one step has no other occasion to go out.
bool SessionAgent::has_more_to_send() const {
    return leader_known_ && session_ &&
           (resending_.due || (!endings_.empty() && unapplied_ < operations_max));
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
            const bool sure = unsure_ == 0 || planted(Mutant::unseen_answers_acknowledged);
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
