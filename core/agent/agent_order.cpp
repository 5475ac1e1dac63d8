// In which order the cluster takes what goes out (S20, decision 0003).
//
// Of a name the newest of what is under way are known: whoever comes after all of those comes after
// everything that was asked on it. A call comes after all of them. A release or a downgrade comes
// after the last such on its name, and after no call: an overloaded leader takes none of those. A
// Cancel stands for its call, so it has that one's place, and comes after what the call does. So
// some may be the newest side by side, and until they are done a call that has no room for so many
// is kept here (agent_unsent.cpp).
//
// Every request comes after such alone as were asked for before it, where a Cancel counts as asked
// for when its call was. So there is no circle: whatever is sent again for long enough is applied.
#include <algorithm>
#include <utility>

#include "core/agent/session_agent.hpp"
#include "core/base/check.hpp"
#include "core/locks/limits.hpp"

namespace mortise::core {

std::vector<Seq> SessionAgent::predecessors(const Request& request) {
    std::vector<Seq> before;
    const auto* several = std::get_if<AcquireSeveral>(&request.body);
    if (several != nullptr) before = several->also_after;
    if (request.after.is_set()) before.push_back(request.after);
    return before;
}

SessionAgent::Sent& SessionAgent::remember(Request request, Names names) {
    const auto seq = request.seq;
    const bool is_call = !ends_something(request.body);
    // What is on its way whatever becomes of calls is not held up by what is not.
    const bool chains =
        !is_call && !std::holds_alternative<Cancel>(request.body) && !is_early(request);
    for (const auto& name : names) {
        auto& under_way = under_way_[name];
        under_way.requests.insert(seq);
        if (is_call) {
            under_way.newest.clear();
        } else {
            under_way.newest.erase(request.after);
        }
        under_way.newest.insert(seq);
        // On one of several names it may follow nothing: that chain goes on without it.
        const bool follows = under_way.newest_ending == request.after;
        if (chains && (follows || !under_way.newest_ending.is_set())) under_way.newest_ending = seq;
    }
    auto& sent = sent_[seq];
    sent.request = std::move(request);
    sent.names = std::move(names);
    sent.round = resending_.round;
    ++unapplied_;
    return sent;
}

// Either it was applied, and then so was all that it came after, known or not. Or its Cancel takes
// its place.
void SessionAgent::leave_order(const Sent& sent) {
    const auto seq = sent.request.seq;
    for (const auto& name : sent.names) {
        const auto found = under_way_.find(name);
        if (found == under_way_.end()) continue;
        auto& [requests, newest, newest_ending] = found->second;
        requests.erase(seq);
        newest.erase(seq);
        for (const auto before : predecessors(sent.request))
            if (requests.contains(before)) newest.insert(before);
        if (newest_ending == seq) newest_ending = {};
        if (requests.empty()) under_way_.erase(found);
        let_go(name);
    }
}

// What a call for these names comes after, each once, rising: unlock(), then try_lock(), succeeds.
// Nothing when that is more than it can name.
std::optional<std::vector<Seq>> SessionAgent::sent_before(const Names& names) const {
    const auto named_max = names.size() == 1 ? 1 : names_at_once_max;
    std::vector<Seq> before;
    for (const auto& name : names) {
        const auto found = under_way_.find(name);
        if (found == under_way_.end()) continue;
        const auto& newest = found->second.newest;
        if (newest.size() > named_max) return std::nullopt;
        before.insert(before.end(), newest.begin(), newest.end());
    }
    std::ranges::sort(before);
    before.erase(std::unique(before.begin(), before.end()), before.end());
    if (before.size() > named_max) return std::nullopt;
    return before;
}

// What it comes after. Of one hold everything in the order in which it was asked for.
Seq SessionAgent::sent_before(const Ending& ending) const {
    if (std::holds_alternative<Cancel>(ending.asked)) return standing_for(ending.after);
    const auto of_hold = newest_of_hold_.find(hold_of(ending));
    if (of_hold != newest_of_hold_.end()) return of_hold->second;
    Seq newest;
    for (const auto& name : ending.names) {
        const auto found = under_way_.find(name);
        if (found != under_way_.end()) newest = std::max(newest, found->second.newest_ending);
    }
    return newest;
}

Request SessionAgent::next_request(Seq after, RequestBody body) {
    newest_seq_ = newest_seq_.next();
    return {*session_, newest_seq_, after, std::move(body)};
}

// Only a request for several can have more than one in front.
Request SessionAgent::request_behind(RequestBody body, std::vector<Seq> before) {
    auto request = next_request({}, std::move(body));
    if (before.empty()) return request;
    request.after = before.back();
    before.pop_back();
    auto* several = std::get_if<AcquireSeveral>(&request.body);
    MORTISE_CHECK(before.empty() || several != nullptr);
    if (several != nullptr) {
        several->also_after = std::move(before);
    }
    return request;
}

// A name is remembered while something on it is under way, or it would be for ever. And whatever is
// comes before one of its newest.
void SessionAgent::check_invariants() const {
    check_kept_back();
    check_given_up();
    MORTISE_CHECK(under_way_.size() <= unapplied_ + names_beyond_);
    MORTISE_CHECK(unapplied_ <= sent_.size());
    for (const auto& [name, under_way] : under_way_) {
        const auto& [requests, newest, ending] = under_way;
        MORTISE_CHECK(!requests.empty() && (!ending.is_set() || requests.contains(ending)));
        MORTISE_CHECK(std::ranges::includes(requests, newest));
        auto come_before = newest;
        for (const auto seq : requests) {
            const auto found = sent_.find(seq);
            MORTISE_CHECK(found != sent_.end() && !found->second.applied);
            const auto& names = found->second.names;
            MORTISE_CHECK(std::ranges::find(names, name) != names.end());
            const auto before = predecessors(found->second.request);
            come_before.insert(before.begin(), before.end());
        }
        MORTISE_CHECK(std::ranges::includes(come_before, requests));
    }
}

}  // namespace mortise::core
