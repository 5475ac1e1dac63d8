// In which order the cluster takes what goes out (S20, decision 0003).
//
// Of a name the newest of what is under way are known: whoever comes after all of those comes after
// everything that was asked on it. A call comes after all of them. What ends something comes after
// the last that ended something there, and after no call: an overloaded leader takes none of those,
// and a call that is given up may never be taken at all. So both may be the newest side by side,
// and until one of them is done a call for that name alone, which has room for one of them, is kept
// here (agent_unsent.cpp).
#include <algorithm>
#include <utility>

#include "core/agent/session_agent.hpp"
#include "core/base/check.hpp"
#include "core/base/mutant.hpp"
#include "core/locks/limits.hpp"

namespace mortise::core {

namespace {

bool is_ending(const RequestBody& asked) {
    return std::holds_alternative<Release>(asked) || std::holds_alternative<Cancel>(asked) ||
           std::holds_alternative<Downgrade>(asked);
}

}  // namespace

std::vector<Seq> SessionAgent::predecessors(const Request& request) {
    std::vector<Seq> before;
    const auto* several = std::get_if<AcquireSeveral>(&request.body);
    if (several != nullptr) before = several->also_after;
    if (request.after.is_set()) before.push_back(request.after);
    return before;
}

SessionAgent::Sent& SessionAgent::remember(Request request, Names names) {
    const auto seq = request.seq;
    const bool ends = is_ending(request.body) && !planted(Mutant::endings_overtake_each_other);
    for (const auto& name : names) {
        auto& under_way = under_way_[name];
        under_way.requests.insert(seq);
        if (ends) {
            under_way.newest.erase(request.after);
        } else {
            under_way.newest.clear();
        }
        under_way.newest.insert(seq);
        // On one of several names it may follow nothing: that chain goes on without it.
        const bool follows = under_way.newest_ending == request.after;
        if (is_ending(request.body) && (follows || !under_way.newest_ending.is_set()))
            under_way.newest_ending = seq;
    }
    auto& sent = sent_[seq];
    sent.request = std::move(request);
    sent.names = std::move(names);
    sent.round = resending_.round;
    ++unapplied_;
    return sent;
}

// It was applied, and then so was all that it came after. Or it is given up: what it came after
// counts again.
void SessionAgent::release_order(const Sent& sent) {
    if (planted(Mutant::names_never_forgotten)) return;
    const auto before = predecessors(sent.request);
    for (const auto& name : sent.names) {
        const auto found = under_way_.find(name);
        if (found == under_way_.end()) continue;
        auto& [requests, newest, newest_ending] = found->second;
        requests.erase(sent.request.seq);
        newest.erase(sent.request.seq);
        for (const auto seq : before) {
            if (requests.contains(seq)) newest.insert(seq);
        }
        if (newest_ending == sent.request.seq) newest_ending = {};
        if (requests.empty()) under_way_.erase(found);
        let_go(name);
    }
}

// It is under way, and something else that is comes after it.
bool SessionAgent::is_followed(const Sent& sent) const {
    return std::ranges::any_of(sent.names, [&](const std::string& name) {
        const auto found = under_way_.find(name);
        if (found == under_way_.end()) return false;
        const auto& under_way = found->second;
        const auto seq = sent.request.seq;
        return under_way.requests.contains(seq) && !under_way.newest.contains(seq);
    });
}

// What a call for these names comes after, each once, rising: unlock(), then try_lock(), succeeds.
std::vector<Seq> SessionAgent::sent_before(const Names& names) const {
    std::vector<Seq> before;
    for (const auto& name : names) {
        const auto found = under_way_.find(name);
        if (found == under_way_.end()) continue;
        const auto& newest = found->second.newest;
        before.insert(before.end(), newest.begin(), newest.end());
    }
    std::ranges::sort(before);
    before.erase(std::unique(before.begin(), before.end()), before.end());
    return before;
}

Seq SessionAgent::ended_before(const Names& names) const {
    Seq newest;
    for (const auto& name : names) {
        const auto found = under_way_.find(name);
        if (found != under_way_.end()) newest = std::max(newest, found->second.newest_ending);
    }
    return planted(Mutant::endings_overtake_each_other) ? Seq{} : newest;
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
    if (several != nullptr && !planted(Mutant::several_follow_one_name)) {
        several->also_after = std::move(before);
    }
    return request;
}

// A name is remembered while something on it is under way, or it would be for ever.
void SessionAgent::check_invariants() const {
    check_kept_back();
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
