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

SessionAgent::Sent& SessionAgent::remember(Request request, Names names, Now now) {
    const auto seq = request.seq;
    auto& sent = sent_[seq];
    for (const auto& name : names) {
        auto& under_way = under_way_[name];
        under_way.requests.insert(seq);
        if (!is_ordered(request.body)) under_way.newest_ending = seq;
    }
    sent.request = std::move(request);
    sent.names = std::move(names);
    sent.at = now.steady;
    ++unapplied_;
    return sent;
}

void SessionAgent::release_order(const Sent& sent) {
    if (planted(Mutant::names_never_forgotten)) return;
    for (const auto& name : sent.names) {
        const auto found = under_way_.find(name);
        if (found == under_way_.end()) continue;
        auto& under_way = found->second;
        under_way.requests.erase(sent.request.seq);
        if (under_way.newest_ending == sent.request.seq) under_way.newest_ending = {};
        if (under_way.requests.empty()) under_way_.erase(found);
    }
}

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

// What went out before on any of these names and may not be there yet, each once, rising (S20):
// unlock(), then try_lock(), succeeds.
std::vector<Seq> SessionAgent::sent_before(const Names& names) const {
    std::vector<Seq> before;
    for (const auto& name : names) {
        const auto found = under_way_.find(name);
        if (found != under_way_.end()) before.push_back(*found->second.requests.rbegin());
    }
    std::ranges::sort(before);
    before.erase(std::unique(before.begin(), before.end()), before.end());
    return before;
}

// The endings of a name follow each other, so that who follows the newest follows them all. They
// follow no acquire: an overloaded leader takes none of those.
Seq SessionAgent::ended_before(const Names& names) const {
    Seq newest;
    for (const auto& name : names) {
        const auto found = under_way_.find(name);
        if (found != under_way_.end()) newest = std::max(newest, found->second.newest_ending);
    }
    return planted(Mutant::endings_overtake_each_other) ? Seq{} : newest;
}

// A release or cancel names what it ends. A downgrade changes what the next request may ask for.
bool SessionAgent::is_ordered(const RequestBody& asked) {
    return !std::holds_alternative<Release>(asked) && !std::holds_alternative<Cancel>(asked);
}

Request SessionAgent::next_request(Seq after, RequestBody body) {
    newest_seq_ = newest_seq_.next();
    return {*session_, newest_seq_, after, std::move(body)};
}

// Behind what we sent on its names before. Only a request for several can have more than one of
// that in front.
Request SessionAgent::request_behind(RequestBody body, const Names& names) {
    auto before = sent_before(names);
    auto request = next_request({}, std::move(body));
    if (before.empty()) return request;
    request.after = before.back();
    before.pop_back();
    auto* several = std::get_if<AcquireSeveral>(&request.body);
    MORTISE_CHECK(before.empty() || several != nullptr);
    if (several != nullptr && !planted(Mutant::several_follow_one_name)) {
        several->also_after = std::move(before);
    }
    return request;
}

void SessionAgent::send_endings(BatchBuilder& urgent, Now now) {
    while (!endings_.empty() && urgent.count() < commands_per_send_max &&
           unapplied_ < operations_max) {
        auto ending = std::move(endings_.front());
        endings_.pop_front();
        auto* release = std::get_if<Release>(&ending.asked);
        // An older member knows no difference.
        if (release != nullptr && format_ < format_needed(ending.asked)) release->lost = false;
        auto request = is_ordered(ending.asked)
                           ? request_behind(ending.asked, ending.names)
                           : next_request(ended_before(ending.names), ending.asked);
        urgent.add(request);
        auto names = ending.names;
        remember(std::move(request), std::move(names), now).ending = std::move(ending);
    }
}

void SessionAgent::send_acquires(BatchBuilder& acquires, Now now) {
    if (!endings_.empty()) return;  // one of them may have to go before (S20)
    std::set<std::string> kept_back;
    for (auto next = unsent_.begin();
         next != unsent_.end() && acquires.count() < commands_per_send_max &&
         under_way_.size() < acquires_in_flight_max && acquires.bytes() < batch_bytes_max / 4;) {
        const auto [arrival, tag] = *next++;
        auto& waiting = waiting_.at(tag);
        if (must_wait(waiting.names, kept_back)) continue;
        auto* one = std::get_if<Acquire>(&waiting.asked);
        // Nobody looks for circles of waits before every member can (S33).
        if (one != nullptr && format_ < format_needed(waiting.asked)) one->locker = {};
        if (format_ < format_needed(waiting.asked)) {
            answer(tag, CallError::incompatible);
            continue;
        }
        unsent_.erase(arrival);
        auto request = request_behind(waiting.asked, waiting.names);
        waiting.seq = request.seq;
        acquires.add(request);
        remember(std::move(request), waiting.names, now).tag = tag;
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
    MORTISE_CHECK(under_way_.size() <= unapplied_ + names_beyond_);
    MORTISE_CHECK(unapplied_ <= sent_.size());
    for (const auto& [name, under_way] : under_way_) {
        const auto& [requests, ending] = under_way;
        MORTISE_CHECK(!requests.empty() && (!ending.is_set() || requests.contains(ending)));
        for (const auto seq : requests) {
            const auto found = sent_.find(seq);
            MORTISE_CHECK(found != sent_.end() && !found->second.applied);
            const auto& names = found->second.names;
            MORTISE_CHECK(std::ranges::find(names, name) != names.end());
        }
    }
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
            if (resend_all_) resend(urgent, acquires, now);
            send_endings(urgent, now);
            send_acquires(acquires, now);
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
