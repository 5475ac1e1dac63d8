#include "tests/spec/history.hpp"

#include <algorithm>
#include <cstdint>
#include <string_view>

#include "core/base/overloaded.hpp"
#include "tests/spec/words.hpp"

namespace mortise::spec {

using core::AnswerKind;
using core::LockMode;
using core::OperationId;
using core::QueuePolicy;

namespace {

// S26 once more, as pairs, so that an error in one of the tables is visible.
bool clash(LockMode a, LockMode b) {
    using enum LockMode;
    if (a > b) std::swap(a, b);
    if (b == exclusive) return true;
    if (a == intent_shared) return false;
    if (a == intent_exclusive) return b != intent_exclusive;
    return !(a == shared && (b == shared || b == update));
}

bool share_a_slot(const core::Slots& a, const core::Slots& b) {
    return std::any_of(a.begin(), a.end(), [&](std::uint32_t slot) {
        return std::find(b.begin(), b.end(), slot) != b.end();
    });
}

// Whether two holds of a name are in each other's way: of a semaphore those that have a slot both.
bool clash(const core::Grant& a, const core::Grant& b) {
    const bool of_semaphore = !a.slots.empty() && !b.slots.empty();
    return of_semaphore ? share_a_slot(a.slots, b.slots) : clash(a.mode, b.mode);
}

// Equal, except for what is not reported.
bool are_told_of(std::vector<core::Grant> listed, const std::vector<core::Grant>& told) {
    for (auto& one : listed) {
        one.terms = {};
        one.closures = {};
    }
    return listed == told;
}

}  // namespace

template <class Body>
const Body* History::body_of(OperationId operation) const {
    const auto found = requests_.find(operation);
    return found == requests_.end() ? nullptr : std::get_if<Body>(&found->second.body);
}

void History::step(core::LogIndex index, const std::vector<core::Command>& batch,
                   const core::Outcomes& outcomes, const std::vector<core::LockView>& listing,
                   bool is_swept) {
    index_ = index;
    for (const auto& command : batch) {
        if (const auto* opening = std::get_if<core::OpenSession>(&command)) {
            access_by_nonce_.emplace(opening->nonce, opening->access);
        } else if (const auto* request = std::get_if<core::Request>(&command)) {
            take(*request);
        } else if (const auto* raise = std::get_if<core::RaiseCeiling>(&command)) {
            ceiling_ = std::max(ceiling_, raise->to);
        } else if (const auto* acknowledge = std::get_if<core::Acknowledge>(&command)) {
            auto& received = sessions_[acknowledge->session].received;
            received = std::max(received, acknowledge->received);
        }
    }
    leaving_.clear();
    left_.clear();
    ending_.clear();
    for (const auto& command : batch) {
        const auto* request = std::get_if<core::Request>(&command);
        if (request == nullptr) continue;
        const auto* acquire = std::get_if<core::Acquire>(&request->body);
        const auto* resize = std::get_if<core::Resize>(&request->body);
        const auto& body = request->body;
        const bool is_of_latch = std::holds_alternative<core::CountDown>(body) ||
                                 std::holds_alternative<core::AwaitLatch>(body) ||
                                 std::holds_alternative<core::Arrive>(body);
        has_kinds_ = has_kinds_ || is_of_latch || resize || (acquire && acquire->permits != 0);
        if (resize == nullptr) continue;
        auto& limit = names_[resize->name].limit;
        limit = std::max(limit, resize->limit);
    }
    is_one_command_ = batch.size() == 1;
    for (const auto& outcome : outcomes) {
        if (const auto* ended = std::get_if<core::ClosureEnded>(&outcome)) note_ending(*ended);
        const auto* answered = std::get_if<core::Answered>(&outcome);
        if (answered == nullptr || answered->answer.kind != AnswerKind::released) continue;
        if (answers_.contains(answered->operation)) continue;
        const auto* release = body_of<core::Release>(answered->operation);
        leaving_[target_of(answered->operation)] = release != nullptr && release->lost;
    }
    const auto lives = [](const auto& one) {
        return one.second.nonce != 0 && !one.second.has_ended;
    };
    const bool had_sessions = std::any_of(sessions_.begin(), sessions_.end(), lives);
    for (const auto& outcome : outcomes) {
        std::visit([this](const auto& one) { on(one); }, outcome);
    }
    if (std::exchange(begins_era_, false)) {
        need(std::none_of(sessions_.begin(), sessions_.end(), lives), "a session outlives its era",
             "");
        need(!had_sessions || era_closure_.is_set(), "no time passes between eras", "");
        era_ceiling_ = ceiling_;
    }
    judge_answers(batch, outcomes);
    judge_listing(listing);
    if (is_swept) judge_waiting();
}

// S17: a request counts once, and only when none before it is missing.
void History::take(const core::Request& request) {
    auto& life = sessions_[request.session];
    if (request.seq != life.applied.next()) return;
    life.applied = request.seq;
    requests_.emplace(OperationId{request.session, request.seq}, request);
    const auto* cancel = std::get_if<core::Cancel>(&request.body);
    if (cancel != nullptr && cancel->operation < request.seq)
        cancels_.insert({request.session, cancel->operation});
}

void History::need(bool holds, const char* what, const std::string& more) {
    if (!holds && violation_.empty()) violation_ = std::string{what} + ": " + more;
}

// --- sessions -------------------------------------------------------------------------------

void History::on(const core::SessionOpened& opened) {
    need(!era_closure_.is_set(), "opened while leases of the era before may run", words(opened));
    auto& life = sessions_[opened.session];
    if (life.nonce != 0) {
        need(life.nonce == opened.nonce && !life.has_ended, "S1: a session id is used again",
             words(opened));
        return;
    }
    for (const auto& [id, other] : sessions_) {
        need(other.nonce == 0 || id <= opened.session, "S1: session ids do not rise",
             words(opened));
        need(other.nonce != opened.nonce || other.has_ended, "S17: opened twice", words(opened));
    }
    life = {};
    life.nonce = opened.nonce;
    life.access = access_by_nonce_[opened.nonce];
}

// --- rights: S50 ----------------------------------------------------------------------------

// A role gives a right on every name; rules restrict it to the names that they cover.
bool History::may(core::SessionId session, core::Right right, const std::string& name) {
    using core::AccessRole;
    const auto& access = sessions_[session].access;
    const auto gives = [&](AccessRole role) {
        if (role == AccessRole::voter || role == AccessRole::learner) return true;
        const bool acquires = right == core::Right::acquire;
        return role == (acquires ? AccessRole::client : AccessRole::admin);
    };
    const auto covers = [&](const core::AccessRule& rule) {
        return rule.right == right && name.compare(0, rule.prefix.size(), rule.prefix) == 0;
    };
    const auto& rules = access.rules;
    return std::any_of(access.roles.begin(), access.roles.end(), gives) &&
           (rules.empty() || std::any_of(rules.begin(), rules.end(), covers));
}

void History::on_denied(OperationId operation) {
    using core::Right;
    bool denied = false;
    for (const auto& one : wanted_by(operation))
        denied = denied || !may(operation.session, Right::acquire, one.name);
    if (const auto* asked = body_of<core::BreakLock>(operation))
        denied = !may(operation.session, Right::break_lock, asked->name);
    if (body_of<core::EvictSession>(operation) != nullptr)
        denied = !may(operation.session, Right::break_lock, "");
    if (const auto* asked = body_of<core::AskRelease>(operation))
        denied = !may(operation.session, Right::break_lock, asked->name) &&
                 !may(operation.session, Right::acquire, asked->name);
    if (const auto* asked = body_of<core::Resize>(operation))
        denied = !may(operation.session, Right::acquire, asked->name);
    if (const auto* asked = body_of<core::Remove>(operation))
        denied = !may(operation.session, Right::acquire, asked->name);
    if (const auto* asked = body_of<core::Arrive>(operation))
        denied = !may(operation.session, Right::acquire, asked->name);
    if (const auto* asked = body_of<core::CountDown>(operation))
        denied = !may(operation.session, Right::acquire, asked->name);
    need(denied, "S50: refused, but allowed", words(operation));
}

void History::on(const core::OpenRefused&) {}

void History::on(const core::SessionRenewed& renewed) {
    auto& life = sessions_[renewed.session];
    need(is_live(renewed.session) && renewed.number > life.renewal, "S2: renewed", words(renewed));
    life.renewal = renewed.number;
}

void History::on(const core::RenewalLost& lost) {
    need(!is_live(lost.session), "S3: the session lives", words(lost));
}

void History::on(const core::SessionEnded& ended) {
    need(is_live(ended.session), "S11: ended twice", words(ended));
    sessions_[ended.session].has_ended = true;
    const bool is_lost = ended.how != core::SessionEnd::closed;
    const auto is_its = [&](const auto& one) { return one.operation.session == ended.session; };
    for (auto& named : names_) {
        const auto& name = named.first;
        auto& state = named.second;
        std::erase_if(state.closed, [&](const auto& one) {
            const HoldOnName who{name, one.operation};
            return is_its(one) && !is_counted(who, {Kind::min_hold, Kind::lock_delay});
        });
        for (const auto& one : std::vector{state.holders}) {
            if (is_its(one)) depart(name, state, one, is_lost);
        }
        std::erase_if(state.queue,
                      [&](const auto& one) { return one.operation.session == ended.session; });
        if (state.upgrade && state.upgrade->operation.session == ended.session) {
            state.upgrade.reset();
        }
    }
}

// --- operations -----------------------------------------------------------------------------

void History::on(const core::Queued& queued) {
    const auto operation = queued.operation;
    need(is_live(operation.session), "S11: queued for a session that ended", words(operation));
    need(!answers_.contains(operation), "S17: queued after its answer", words(operation));
    if (is_queued(operation)) return;
    if (body_of<core::Upgrade>(operation) != nullptr) return queue_upgrade(operation);
    const auto wanted = wanted_by(operation);
    need(!wanted.empty() && (wanted.front().wait || recalls(operation, wanted)), "S16: queued",
         words(operation));
    for (const auto& one : wanted) {
        need(may(operation.session, core::Right::acquire, one.name), "S50: waits for it",
             words(operation));
        policies_.try_emplace(one.name, one.policy);
        auto& name = names_[one.name];
        const auto* wait = body_of<core::AwaitLatch>(operation);
        if (wait != nullptr && !name.remaining) name.remaining = wait->expected;
        if (const auto* arrival = body_of<core::Arrive>(operation)) on_arrived(operation, *arrival);
        if (one.priority > 0) name.has_priorities = true;
        const auto writers =
            std::count_if(name.queue.begin(), name.queue.end(),
                          [](const auto& it) { return is_writing(it.wanted.mode); });
        name.queue.push_back({operation, one, index_,
                              Overtaken{one.mode, static_cast<std::size_t>(writers)},
                              wants_all(operation)});
    }
}

// S43: only cached grants are in the way of a try, on one of its names or, if it wants all, on
// each.
bool History::recalls(OperationId operation, const std::vector<Wanted>& wanted) {
    const auto gives_way = [&](const Wanted& one) {
        const auto& name = names_[one.name];
        const auto cached = [&](const core::Grant& it) {
            return !clash(it.mode, one.mode) || it.is_cached();
        };
        const auto fits = [&](const core::Grant& it) { return !clash(it.mode, one.mode); };
        return name.queue.empty() && !name.upgrade &&
               std::all_of(name.holders.begin(), name.holders.end(), cached) &&
               std::all_of(name.closed.begin(), name.closed.end(), fits);
    };
    return wants_all(operation) ? std::all_of(wanted.begin(), wanted.end(), gives_way)
                                : std::any_of(wanted.begin(), wanted.end(), gives_way);
}

void History::on(const core::Answered& answered) {
    const auto operation = answered.operation;
    need(is_live(operation.session), "S11: an answer for a session that ended", words(answered));
    const auto given = answers_.find(operation);
    if (given != answers_.end()) {
        on_repeat(given->second, answered);
        return;
    }
    judge_order(operation);
    answers_[operation] = {index_, answered.answer};
    switch (answered.answer.kind) {
        case AnswerKind::granted: on_granted(operation, answered.answer); break;
        case AnswerKind::busy: on_busy(operation); break;
        case AnswerKind::released: on_released(operation); break;
        case AnswerKind::cancelled: on_cancelled(operation); break;
        case AnswerKind::not_held: on_not_held(operation); break;
        case AnswerKind::stale_request:
            need(false, "S17: stale, but never answered", words(answered));
            break;
        case AnswerKind::kind_mismatch: {
            const auto wanted = wanted_by(operation);
            const bool of_policy = !wanted.empty() && wanted.front().policy_given;
            const bool asks = !wanted.empty() || body_of<core::Resize>(operation) != nullptr ||
                              body_of<core::CountDown>(operation) != nullptr ||
                              body_of<core::Arrive>(operation) != nullptr;
            need(of_policy || (asks && has_kinds_), "S31, S34, S35: mismatch", words(answered));
            break;
        }
        case AnswerKind::converted: on_converted(operation, answered.answer.token); break;
        case AnswerKind::deadlock: on_deadlock(operation, answered.answer); break;
        case AnswerKind::invalid_argument: on_refused(operation, answered.answer.kind); break;
        case AnswerKind::resource_exhausted:
            need(!wanted_by(operation).empty() || body_of<core::Declined>(operation) != nullptr ||
                     body_of<core::Resize>(operation) != nullptr ||
                     body_of<core::CountDown>(operation) != nullptr ||
                     body_of<core::Arrive>(operation) != nullptr,
                 "P11: exhausted", words(answered));
            break;
        case AnswerKind::stored: on_stored(operation); break;
        case AnswerKind::asked:
        case AnswerKind::broken: break;  // reported by LockBroken
        case AnswerKind::lost: on_lost(operation); break;
        case AnswerKind::permission_denied: on_denied(operation); break;
        case AnswerKind::passed: on_passed(operation); break;
        case AnswerKind::barrier_broken: on_broken_barrier(operation); break;
    }
}

// A request that does not wait is answered when it is applied.
void History::judge_order(OperationId operation) {
    if (is_queued(operation)) return;
    auto& newest = sessions_[operation.session].answered;
    need(newest < operation.seq, "S17: answered before one with a smaller number",
         words(operation));
    newest = std::max(newest, operation.seq);
}

void History::on_repeat(const GivenAnswer& given, const core::Answered& answered) {
    const bool may_be_gone = given.at <= sessions_[answered.operation.session].received;
    if (answered.answer.kind == AnswerKind::stale_request) {
        need(may_be_gone, "S17: an answer was dropped too early", words(answered));
    } else {
        need(answered.answer == given.answer, "S17: two answers", words(answered));
    }
}

void History::on_granted(OperationId operation, const core::Answer& answer) {
    const auto wanted = wanted_by(operation);
    need(!wanted.empty() && body_of<core::AwaitLatch>(operation) == nullptr &&
             body_of<core::Arrive>(operation) == nullptr,
         "S16: granted what nobody asked for", words(operation));
    const bool several = wanted.size() > 1 || wants_all(operation) ||
                         (!wanted.empty() && wanted.front().permits != 0);
    need(answer.names.empty() != several, "S32: which names?", words(operation));
    if (!several && !wanted.empty()) {
        return grant_one(operation, wanted.front(), answer.token, answer.cached_tokens);
    }
    need(answer.cached_tokens == 0, "S43: several are cached", words(operation));
    need(answer.names.size() == (wants_all(operation) ? wanted.size() : 1), "S32: how many names",
         words(operation));
    for (const auto& given : answer.names) {
        const auto one = std::find_if(wanted.begin(), wanted.end(),
                                      [&](const auto& want) { return want.name == given.name; });
        need(one != wanted.end(), "S32: granted another name", words(operation));
        if (one != wanted.end()) grant_one(operation, *one, given.token, 0, given.slots);
    }
    remove_waiter(operation);  // of any names: from the other queues
}

void History::grant_one(OperationId operation, const Wanted& wanted, core::FencingToken token,
                        std::uint32_t cached, const core::Slots& slots) {
    need(may(operation.session, core::Right::acquire, wanted.name), "S50: has it",
         words(operation));
    policies_.try_emplace(wanted.name, wanted.policy);
    auto& name = names_[wanted.name];
    core::Grant grant{operation, wanted.mode, token, index_, wanted.label, wanted.locker};
    grant.cached_tokens = cached;
    grant.slots = slots;
    make_way(wanted.name, name, grant);
    judge_permits(name, grant, wanted);
    if (cached != 0) {
        const bool reads = wanted.mode == LockMode::shared;
        need(reads ? wanted.cached_tokens != 0 && cached == 1 : cached == wanted.cached_tokens,
             "S39: cached with other tokens than asked for", words(operation));
        grant.locker = {};
    }
    for (const auto& holder : name.holders) {
        need(!clash(holder, grant), "P2: two holders clash",
             words(operation) + " with " + words(holder.operation));
    }
    judge_closures(wanted.name, name, grant);
    need(!name.upgrade, "S28: somebody enters while an upgrade waits", words(operation));
    judge_token(name, grant);
    judge_overtaking(name, grant, wanted.priority);
    std::erase_if(name.queue, [&](const auto& one) { return one.operation == operation; });
    name.holders.push_back(grant);
}

void History::on_released(OperationId operation) {
    const auto target = target_of(operation);
    const auto* release = body_of<core::Release>(operation);
    const bool is_lost = release != nullptr && release->lost;
    need(wanted_by(operation).empty() && (left_.contains(target) || remove_holder(target, is_lost)),
         "S19: released what is not held", words(operation));
}

void History::on_cancelled(OperationId operation) {
    if (body_of<core::Quit>(operation) != nullptr) return;
    if (body_of<core::Arrive>(target_of(operation)) != nullptr) return;  // the barrier breaks
    const auto request = requests_.find(operation);
    const bool is_cancel =
        request != requests_.end() && std::holds_alternative<core::Cancel>(request->second.body);
    if (cancels_.contains(operation)) {
        remove_waiter(operation);
    } else if (is_cancel) {
        const auto target = answers_.find(target_of(operation));
        need(target != answers_.end() && target->second.answer.kind == AnswerKind::cancelled,
             "S18: cancelled, but its operation is not", words(operation));
    } else {
        const auto* upgrade = body_of<core::Upgrade>(operation);
        const OperationId hold{operation.session,
                               upgrade == nullptr ? core::Seq{} : upgrade->operation};
        need(upgrade != nullptr && (!is_held(hold) || ending_.contains(hold)),
             "S18: cancelled by nobody", words(operation));
        remove_waiter(operation);
    }
}

void History::on_not_held(OperationId operation) {
    if (body_of<core::Quit>(operation) != nullptr) return;  // it takes part in nothing there
    const auto target = target_of(operation);
    const auto request = requests_.find(operation);
    const bool is_cancel =
        request != requests_.end() && std::holds_alternative<core::Cancel>(request->second.body);
    need(!is_held(target) || unconfirmed_.contains(target), "S19: not_held, but it is held",
         words(operation));
    need(!is_cancel || !is_queued(target), "S18: not_held, but it waits", words(operation));
    need(!is_cancel || answers_.contains(target) || target.seq >= operation.seq,
         "S18: not_held, but it has no answer", words(operation));
}

void History::on_busy(OperationId operation) {
    if (const auto* upgrade = body_of<core::Upgrade>(operation)) {
        const auto* name = name_of_hold({operation.session, upgrade->operation});
        need(!upgrade->wait && name != nullptr && name->holders.size() + name->closed.size() > 1,
             "S27: busy, but alone", words(operation));
        return;
    }
    // Only the specification knows the version of a limit, and what a value is.
    if (body_of<core::Resize>(operation) || body_of<core::Remove>(operation)) return;
    const auto wanted = wanted_by(operation);
    need(!wanted.empty() && !wanted.front().wait, "S20: busy", words(operation));
    if (is_queued(operation)) {  // S43: it met cached grants, of which one is in use
        for (auto& [name, state] : names_)
            std::erase_if(state.queue, [&](const auto& it) { return it.operation == operation; });
        return;
    }
    bool all_free = true;
    for (const auto& one : wanted) {
        auto& name = names_[one.name];
        bool is_free = !name.upgrade;
        std::size_t taken = one.permits;
        for (const auto* holders : {&name.holders, &name.closed}) {
            for (const auto& holder : *holders) {
                taken += holder.slots.size();
                if (one.permits == 0 && clash(holder.mode, one.mode)) is_free = false;
            }
        }
        const bool is_known = name.limit != 0 || semaphores_.contains(one.name);
        const auto limit = is_known ? name.limit : one.limit;
        if (taken > limit || !is_one_command_) is_free = is_free && one.permits == 0;
        for (const auto& waiter : name.queue) {
            const bool passes_nothing = waiter.is_barrier || wants_all(operation);
            if (passes_nothing || clash(waiter.wanted.mode, one.mode)) is_free = false;
        }
        all_free = all_free && is_free;
        need(!is_free || wants_all(operation), "S20: busy, but free", words(operation));
    }
    need(wanted.empty() || !all_free, "S20: busy, but all free", words(operation));
}

// --- breaks: S24 ----------------------------------------------------------------------------

void History::on(const core::LockBroken& broken) {
    need(may(broken.by.session, core::Right::break_lock, broken.name), "S50: broke it",
         words(broken.by));
    auto& name = names_[broken.name];
    for (const auto hold : broken.holds) {
        const auto found = std::find_if(name.holders.begin(), name.holders.end(),
                                        [&](const auto& one) { return one.operation == hold; });
        need(found != name.holders.end() && found->has_token(broken.token),
             "S24: broken what is not held under that token", words(hold));
        if (found == name.holders.end()) return;
        if (!broken.immediate) {
            name.closed.push_back(*found);
            closing_.insert({broken.name, hold});
        }
        name.holders.erase(found);
        unconfirmed_.insert(hold);
    }
}

void History::on(const core::SessionEvicted& evicted) {
    need(may(evicted.by.session, core::Right::break_lock, ""), "S50: evicted it",
         words(evicted.by));
    // The check of renewals needs a greater number than this.
    sessions_[evicted.session].renewal = UINT64_MAX;
}

void History::on(const core::ReleaseAsked& asked) {
    const auto& name = names_[asked.name];
    const bool all =
        std::equal(name.holders.begin(), name.holders.end(), asked.holds.begin(), asked.holds.end(),
                   [](const auto& holder, auto hold) { return holder.operation == hold; });
    need(all && !asked.holds.empty(), "S24: others are asked than hold it", words(asked.by));
}

// --- quorum timers: S8, S9, S24 -------------------------------------------------------------

core::HoldTerms History::terms_of(OperationId operation) const {
    const auto* acquire = body_of<core::Acquire>(operation);
    return acquire == nullptr ? core::HoldTerms{} : acquire->terms;
}

bool History::is_counted(const HoldOnName& who, const std::set<Kind>& kinds) const {
    return std::any_of(closures_.begin(), closures_.end(), [&](const auto& one) {
        return one.second.who == who && kinds.contains(one.second.kind);
    });
}

void History::on(const core::ClosureBegun& begun) {
    const HoldOnName who{begun.name, begun.hold};
    const auto terms = terms_of(begun.hold);
    need(!closures_.contains(begun.closure) && !is_counted(who, {begun.kind}), "S8: counted twice",
         words(begun));
    closures_[begun.closure] = {begun.kind, who};
    switch (begun.kind) {
        case Kind::broken:
            need(closing_.erase(who) == 1, "S24: a closure of nothing", words(begun));
            break;
        case Kind::min_hold:
            need(begun.time_ms >= terms.min_hold_ms && terms.min_hold_ms != 0,
                 "S8: a short min_hold", words(begun));
            break;
        case Kind::max_hold: {
            const auto& holders = names_[begun.name].holders;
            const auto held = std::find_if(holders.begin(), holders.end(), [&](const auto& one) {
                return one.operation == begun.hold;
            });
            need(held != holders.end() && begun.time_ms >= terms.max_hold_ms &&
                     held->since <= sessions_[begun.hold.session].received,
                 "S8: a max_hold is counted that its node may not know of", words(begun));
            break;
        }
        case Kind::lock_delay:
            if (!delays_owed_.contains(who)) end_by_cluster(who);
            need(delays_owed_.erase(who) == 1 && begun.time_ms >= terms.lock_delay_ms,
                 "S9: a delay after no loss", words(begun));
            names_[begun.name].closed.push_back(departed_[who]);
            break;
        case Kind::era:
            need(begins_era_ && begun.time_ms != 0, "closed without an era", words(begun));
            era_closure_ = begun.closure;
            break;
    }
}

// A waiting upgrade ends before its hold, if that ends in the same entry.
void History::note_ending(const core::ClosureEnded& ended) {
    const auto closure = closures_.find(ended.closure);
    if (closure != closures_.end() && closure->second.kind == Kind::max_hold)
        ending_.insert(closure->second.who.second);
}

// A quorum has counted its max_hold to the end.
void History::end_by_cluster(const HoldOnName& who) {
    auto& name = names_[who.first];
    for (const auto& one : std::vector{name.holders}) {
        if (one.operation != who.second || !is_counted(who, {Kind::max_hold})) continue;
        depart(who.first, name, one, true);
        unconfirmed_.insert(who.second);
    }
}

// The former hold is not in the way any more: by the clocks of a quorum, by the confirmation of its
// node, or with its session.
void History::on(const core::ClosureEnded& ended) {
    const auto closure = closures_.find(ended.closure);
    need(closure != closures_.end(), "S24: a closure ended that was not there", words(ended));
    if (closure == closures_.end()) return;
    const auto [kind, who] = closure->second;
    if (kind == Kind::era) {
        era_closure_ = {};
        closures_.erase(closure);
        return;
    }
    if (kind == Kind::max_hold) end_by_cluster(who);
    closures_.erase(closure);
    if (is_counted(who, {Kind::broken, Kind::min_hold, Kind::lock_delay})) return;
    std::erase_if(names_[who.first].closed,
                  [&, hold = who.second](const auto& one) { return one.operation == hold; });
}

void History::depart(const std::string& name, Name& state, const core::Grant& grant, bool is_lost) {
    const HoldOnName who{name, grant.operation};
    const auto left = grant;  // a copy, because the original is erased
    departed_[who] = left;
    if (is_counted(who, {Kind::min_hold})) state.closed.push_back(left);
    if (is_lost && terms_of(left.operation).lock_delay_ms != 0) delays_owed_.insert(who);
    std::erase_if(state.holders, [&](const auto& one) { return one.operation == left.operation; });
}

void History::judge_closures(const std::string& called, const Name& name,
                             const core::Grant& grant) {
    const auto text = words(grant.operation);
    for (const auto& closed : name.closed) {
        need(!clash(closed, grant), "S24: granted while a former holder is in the way",
             text + " after " + words(closed.operation));
    }
    for (const auto& who : delays_owed_) {
        need(who.first != called || !clash(departed_[who], grant),
             "S9: granted before a delay began", text + " after " + words(who.second));
    }
    const bool has_min = terms_of(grant.operation).min_hold_ms != 0;
    need(has_min == is_counted({called, grant.operation}, {Kind::min_hold}),
         "S8: a min_hold that nobody counts", text);
}

void History::on_lost(OperationId operation) {
    need(unconfirmed_.erase(target_of(operation)) == 1, "S24: lost, but it was not broken",
         words(operation));
    const auto* release = body_of<core::Release>(operation);
    // The other names of a hold of several names.
    remove_holder(target_of(operation), release != nullptr && release->lost);
}

void History::on_stored(OperationId operation) {
    if (const auto* count = body_of<core::CountDown>(operation))
        return on_counted(operation, *count);
    if (const auto* removal = body_of<core::Remove>(operation))
        return forget_barrier(names_[removal->name]);
    if (const auto* arrival = body_of<core::Arrive>(operation))
        return on_arrived(operation, *arrival);
    if (body_of<core::Resize>(operation)) return;
    const auto hold = target_of(operation);
    need(is_held(hold) && !unconfirmed_.contains(hold), "S36: a value of who holds nothing",
         words(operation));
    const auto* as = body_of<core::Publish>(operation);
    auto* name = as == nullptr ? nullptr : name_of_hold(hold);
    if (name == nullptr) return;
    auto& grant = grant_on(*name, hold);
    need(grant.is_cached() && grant.has_token(as->token), "S45: published what is not cached",
         words(operation));
    grant.token = as->token;
    grant.label = as->label;
    grant.locker = as->locker;
    grant.cached_tokens = 0;
}

// --- latches: S35 ---------------------------------------------------------------------------

void History::on_counted(OperationId operation, const core::CountDown& request) {
    auto& name = names_[request.name];
    const auto before = name.remaining.value_or(request.expected);
    need(request.count <= before, "S35: counted below zero", words(operation));
    need(!name.remaining.has_value() || name.holders.empty(), "S35: a latch is held",
         words(operation));
    name.remaining = before - std::min(request.count, before);
}

// At once, or after it was queued.
void History::on_passed(OperationId operation) {
    if (const auto* arrival = body_of<core::Arrive>(operation)) {
        auto& name = names_[arrival->name];
        if (!is_queued(operation)) return on_arrived(operation, *arrival);
        need(name.to_pass.erase(operation) == 1, "S35: passed before all had arrived",
             words(operation));
        remove_waiter(operation);
        return;
    }
    const auto* wait = body_of<core::AwaitLatch>(operation);
    need(wait != nullptr, "S35: passed what is no latch", words(operation));
    if (wait == nullptr) return;
    auto& name = names_[wait->name];
    if (!name.remaining) name.remaining = wait->expected;
    need(*name.remaining == 0, "S35: passed above zero", words(operation));
    remove_waiter(operation);
}

// --- barriers: S35 --------------------------------------------------------------------------

// The last arrival of a phase is answered before those that it lets pass.
void History::on_arrived(OperationId operation, const core::Arrive& request) {
    auto& name = names_[request.name];
    if (!name.parties) name.parties = request.parties;
    need(!name.is_broken, "S35: arrived at a broken barrier", words(operation));
    name.arrived.insert(operation);
    if (request.drops) name.dropped.insert(operation);
    const bool waits = !answers_.contains(operation);
    const bool is_last = name.arrived.size() == *name.parties;
    need(request.drops || waits != is_last, "S35: passed before all had arrived, or not then",
         words(operation));
    if (!is_last) return;
    need(name.to_pass.empty(), "S35: a phase ends before all have passed", words(operation));
    for (const auto one : name.arrived) {
        if (one != operation && !name.dropped.contains(one)) name.to_pass.insert(one);
    }
    *name.parties -= static_cast<std::uint32_t>(name.dropped.size());
    name.arrived.clear();
    name.dropped.clear();
}

// Whether there was a reason, the specification decides.
void History::on_broken_barrier(OperationId operation) {
    const auto* arrival = body_of<core::Arrive>(operation);
    need(arrival != nullptr, "S35: this is no arrival", words(operation));
    if (arrival == nullptr) return;
    auto& name = names_[arrival->name];
    need(!name.to_pass.contains(operation), "S35: broken, but all have arrived", words(operation));
    if (is_queued(operation)) remove_waiter(operation);
    name.is_broken = true;
    name.arrived.clear();
    name.dropped.clear();
}

void History::forget_barrier(Name& name) {
    name.remaining.reset();
    name.parties.reset();
    name.arrived.clear();
    name.dropped.clear();
    name.is_broken = false;
}

// A barrier at which nobody waited breaks without an answer.
void History::judge_barrier(const core::LockView& view, const Name& name) {
    const auto text = words(view);
    const auto* barrier = view.as<core::Barrier>();
    need((barrier != nullptr) == name.parties.has_value(), "S35: a barrier or not", text);
    if (barrier == nullptr || !name.parties) return;
    need(name.to_pass.empty(), "S35: all have arrived, and one waits", text);
    auto& state = names_[view.name];
    if (barrier->is_broken) {
        state.is_broken = true;
        state.arrived.clear();
        state.dropped.clear();
        return need(name.queue.empty(), "S35: waits at a broken barrier", text);
    }
    need(!name.is_broken, "S35: a broken barrier is whole again", text);
    need(barrier->parties == *name.parties && barrier->arrived == name.arrived.size(),
         "S35: other parties than have arrived", text);
    for (const auto one : name.arrived)
        need(is_live(one.session) || name.dropped.contains(one), "S35: it should have broken",
             text);
}

// --- conversions ----------------------------------------------------------------------------

void History::queue_upgrade(OperationId operation) {
    const OperationId hold{operation.session, body_of<core::Upgrade>(operation)->operation};
    auto* name = name_of_hold(hold);
    need(name != nullptr && !name->upgrade && name->holders.size() + name->closed.size() > 1,
         "S27: an upgrade waits", words(operation));
    if (name != nullptr) {
        const bool recalls =
            name->closed.empty() &&
            std::all_of(name->holders.begin(), name->holders.end(), [&](const core::Grant& one) {
                return one.operation == hold || one.is_cached();
            });
        const bool may = grant_on(*name, hold).mode == LockMode::update || recalls;
        need(may && body_of<core::Upgrade>(operation)->wait, "S27, S43: an upgrade waits",
             words(operation));
    }
    if (name != nullptr) name->upgrade = Upgrading{operation, hold, index_};
}

void History::on_converted(OperationId operation, core::FencingToken token) {
    const auto hold = target_of(operation);
    auto* name = name_of_hold(hold);
    need(name != nullptr, "S27: converted what is not held", words(operation));
    if (name == nullptr) return;
    auto& grant = grant_on(*name, hold);
    grant.cached_tokens = 0;
    if (const auto* downgrade = body_of<core::Downgrade>(operation)) {
        need(token == grant.token, "S13: a downgrade changed the token", words(operation));
        for (const auto mode : core::all_lock_modes) {
            need(clash(grant.mode, mode) || !clash(downgrade->mode, mode),
                 "S27: a downgrade to more than was held", words(operation));
        }
        grant.mode = downgrade->mode;
        return;
    }
    need(body_of<core::Upgrade>(operation) != nullptr, "S27: converted", words(operation));
    on_upgraded(operation, hold, token);
}

void History::on_upgraded(OperationId operation, OperationId hold, core::FencingToken token) {
    auto* name = name_of_hold(hold);
    auto& grant = grant_on(*name, hold);
    need(name->holders.size() == 1 && name->closed.empty(), "P2: upgraded, but not alone",
         words(operation));
    need(!name->upgrade || name->upgrade->operation == operation, "S28: another upgrade was first",
         words(operation));
    name->upgrade.reset();
    grant.mode = LockMode::exclusive;
    grant.token = token;
    grant.cached_tokens = 0;
    judge_token(*name, grant);
}

// Only the specification knows whether there was a deadlock.
void History::on_deadlock(OperationId operation, const core::Answer& answer) {
    const auto& cycle = answer.cycle;
    if (cycle.empty()) {
        on_refused(operation, answer.kind);
        if (is_queued(operation)) remove_waiter(operation);  // S45: of a reader, by a publication
        return;
    }
    need(cycle.front().session == operation.session, "S33: the cycle of somebody else",
         words(operation));
    const auto is_lockers = [](const core::CycleStep& step) { return step.locker != 0; };
    need(std::any_of(cycle.begin(), cycle.end(), is_lockers), "S33: a cycle without a locker",
         words(operation));
    remove_waiter(operation);
}

void History::on_refused(OperationId operation, AnswerKind kind) {
    if (body_of<core::Acquire>(operation) != nullptr) return;   // out of order, or listed twice
    if (body_of<core::SetValue>(operation) != nullptr) return;  // of another name or mode
    if (body_of<core::MarkConsistent>(operation) != nullptr) return;
    if (body_of<core::Resize>(operation) != nullptr) return;  // above the largest limit
    if (body_of<core::Arrive>(operation) != nullptr) return;  // there are no more parties
    if (const auto* count = body_of<core::CountDown>(operation)) {
        const auto remaining = names_[count->name].remaining.value_or(count->expected);
        return need(count->count > remaining, "S35: not counted", words(operation));
    }
    if (const auto* as = body_of<core::Publish>(operation)) {
        const auto published = target_of(operation);
        auto* held = name_of_hold(published);
        const bool upgrades = held != nullptr && held->upgrade && held->upgrade->hold == published;
        const bool may = held != nullptr && !upgrades && grant_on(*held, published).is_cached() &&
                         grant_on(*held, published).has_token(as->token);
        return need(!may, "S45: not published", words(operation));
    }
    const auto hold = target_of(operation);
    if (wants_all(hold)) return;       // these stay together
    if (left_.contains(hold)) return;  // permits, which leave in the same entry
    auto* name = name_of_hold(hold);
    need(name != nullptr, "S27: refused, but it is not held", words(operation));
    if (name == nullptr) return;
    const auto held = grant_on(*name, hold).mode;
    const bool upgrading = name->upgrade && name->upgrade->hold == hold;
    if (const auto* downgrade = body_of<core::Downgrade>(operation)) {
        bool stronger = false;
        for (const auto mode : core::all_lock_modes) {
            if (!clash(held, mode) && clash(downgrade->mode, mode)) stronger = true;
        }
        const bool of_permits = !grant_on(*name, hold).slots.empty();
        need(kind == AnswerKind::invalid_argument && (stronger || upgrading || of_permits),
             "S27: a downgrade was refused", words(operation));
    } else if (kind == AnswerKind::deadlock) {
        need(held == LockMode::shared && name->holders.size() + name->closed.size() > 1,
             "S27: no deadlock", words(operation));
    } else {
        need(upgrading || (held != LockMode::shared && held != LockMode::update),
             "S27: an upgrade was refused", words(operation));
    }
}

// --- one grant ------------------------------------------------------------------------------

// Who leaves a semaphore in this entry may have made way whichever slots it had.
void History::make_way(const std::string& called, Name& name, const core::Grant& grant) {
    for (const auto& holder : std::vector{name.holders}) {
        const auto leaving = leaving_.find(holder.operation);
        if (leaving == leaving_.end() || !clash(holder.mode, grant.mode)) continue;
        left_.insert(holder.operation);
        depart(called, name, holder, leaving->second);
    }
}

void History::judge_permits(Name& name, const core::Grant& grant, const Wanted& wanted) {
    const auto text = words(grant.operation);
    need(grant.slots.size() == wanted.permits, "S34: other permits than asked for", text);
    if (wanted.permits == 0) return;
    // The request may have created it, perhaps after it was gone in the same entry.
    if (name.limit == 0 || !is_one_command_) name.limit = std::max(name.limit, wanted.limit);
    // A former holder may keep the name closed for more than one reason.
    std::set<std::uint32_t> taken(grant.slots.begin(), grant.slots.end());
    for (const auto* holders : {&name.holders, &name.closed}) {
        for (const auto& holder : *holders)
            taken.insert(holder.slots.begin(), holder.slots.end());
    }
    need(taken.size() <= name.limit, "S34: more permits than the limit", text);
    for (const auto slot : grant.slots) {
        auto& newest = name.newest_of_slot[slot];
        need(slot < name.limit && grant.token > newest, "S15: a slot and its token", text);
        newest = grant.token;
    }
}

// Who is first waits for more permits than are free.
void History::judge_permits(const std::string& called, const Name& name) {
    if (name.queue.empty()) return;
    std::size_t taken = 0;
    for (const auto& holder : name.holders)
        taken += holder.slots.size();
    const auto free = name.limit - std::min<std::size_t>(taken, name.limit);
    const bool waits = std::any_of(name.queue.begin(), name.queue.end(), [&](const auto& one) {
        return one.wanted.permits > free &&
               (name.has_priorities || one.operation == name.queue.front().operation);
    });
    need(waits, "S34: enough permits for who is first", called);
}

void History::judge_token(Name& name, const core::Grant& grant) {
    const auto text = words(grant.operation) + " token " + std::to_string(grant.token.raw());
    need(grant.token.is_set() && grant.token >= name.newest, "P1: smaller than one before", text);
    need(grant.token > era_ceiling_, "P1: not above what may be forgotten", text);
    for (const auto mode : core::all_lock_modes) {
        const auto earlier = name.newest_in_mode[static_cast<std::size_t>(mode)];
        need(!earlier.is_set() || !clash(mode, grant.mode) || grant.token > earlier,
             "P1: not above an earlier conflicting one", text);
    }
    const bool joins =
        !is_writing(grant.mode) && name.newest_mode == grant.mode &&
        std::any_of(name.holders.begin(), name.holders.end(), [&](const auto& holder) {
            return holder.mode == grant.mode && holder.token == name.newest;
        });
    if (joins) {
        need(grant.token == name.newest, "S13: does not join", text);
    } else {
        need(grant.token > newest_, "S12, S13: not a new one", text);
    }
    const auto more = grant.cached_tokens == 0 ? 0 : grant.cached_tokens - 1;
    const core::FencingToken last{grant.token.raw() + more};  // S39: all of them are used up
    name.newest = last;
    name.newest_mode = grant.mode;
    name.newest_in_mode[static_cast<std::size_t>(grant.mode)] = last;
    newest_ = std::max(newest_, last);
}

void History::judge_overtaking(Name& name, const core::Grant& grant, core::Priority priority) {
    if (priority > 0) name.has_priorities = true;
    for (auto& waiter : name.queue) {
        if (waiter.operation == grant.operation) return;  // later waiters are younger
        const bool is_barrier = waiter.is_barrier || wants_all(grant.operation);
        if (!is_barrier && !clash(waiter.wanted.mode, grant.mode)) continue;
        const auto text = words(grant.operation) + " passed " + words(waiter.operation);
        need(!is_barrier, "S32: a barrier was passed", text);
        const auto* wrong = waiter.overtaken.by(grant.mode, index_, policies_[waiter.wanted.name],
                                                name.has_priorities);
        if (wrong != nullptr) need(false, wrong, text);
    }
}

// --- after an entry -------------------------------------------------------------------------

void History::judge_answers(const std::vector<core::Command>& batch,
                            const core::Outcomes& outcomes) {
    std::set<OperationId> told;
    std::set<core::SessionId> ended;
    for (const auto& outcome : outcomes) {
        if (const auto* one = std::get_if<core::Answered>(&outcome)) told.insert(one->operation);
        if (const auto* one = std::get_if<core::Queued>(&outcome)) told.insert(one->operation);
        if (const auto* one = std::get_if<core::SessionEnded>(&outcome)) ended.insert(one->session);
        if (const auto* one = std::get_if<core::SessionOpened>(&outcome)) {
            ended.insert(one->session);  // or opened by a later command of the entry
        }
    }
    for (const auto& command : batch) {
        const auto* request = std::get_if<core::Request>(&command);
        if (request == nullptr || !is_live(request->session)) continue;
        const OperationId operation{request->session, request->seq};
        if (request->seq > sessions_[request->session].applied) {
            need(!told.contains(operation), "S17: one before it is missing", words(operation));
        } else {
            need(told.contains(operation) || ended.contains(request->session), "S17: no answer",
                 words(operation));
        }
    }
}

void History::judge_listing(const std::vector<core::LockView>& listing) {
    policies_.clear();
    semaphores_.clear();
    for (auto& [called, name] : names_)
        name.limit = 0;
    std::set<std::string_view> listed;
    for (const auto& view : listing) {
        listed.insert(view.name);
        policies_[view.name] = view.policy;
        auto& name = names_[view.name];
        const auto* semaphore = view.as<core::Semaphore>();
        name.limit = semaphore != nullptr ? semaphore->permits : 0;
        if (semaphore != nullptr) semaphores_.insert(view.name);
        judge_barrier(view, name);
        const auto* latch = view.as<core::Latch>();
        const auto remains = latch != nullptr ? std::optional{latch->remaining} : std::nullopt;
        need(remains == name.remaining, "S35: not what the counts come to", words(view));
        need(are_told_of(view.holders, name.holders), "P2: holders are not those told of",
             words(view));
        const auto& upgrade = name.upgrade;
        const auto locker =
            upgrade ? grant_on(names_[view.name], upgrade->hold).locker : core::LockerTag{};
        const bool leads = upgrade && !view.waiters.empty() &&
                           view.waiters.front() == core::LockView::Waiting{upgrade->operation,
                                                                           LockMode::exclusive,
                                                                           upgrade->since,
                                                                           {},
                                                                           0,
                                                                           upgrade->hold.seq,
                                                                           locker};
        need(leads == upgrade.has_value(), "S28: the upgrade does not lead", words(view));
        const bool equal = std::equal(
            view.waiters.begin() + (leads ? 1 : 0), view.waiters.end(), name.queue.begin(),
            name.queue.end(), [](const auto& seen, const auto& told) {
                return seen.operation == told.operation && seen.since == told.since &&
                       seen.mode == told.wanted.mode && seen.label == told.wanted.label &&
                       seen.permits == told.wanted.permits;
            });
        need(equal, "S16: waiters are not those told of", words(view));
        for (std::size_t i = 0; i < view.holders.size(); ++i) {
            for (std::size_t j = 0; j < i; ++j) {
                // Formatting is slow, and there are many pairs.
                if (!clash(view.holders[i], view.holders[j])) continue;
                need(false, "P2: two holders clash", words(view));
            }
        }
    }
    for (const auto& [name, state] : names_) {
        const bool is_nothing = state.holders.empty() && state.queue.empty() &&
                                state.closed.empty() && !state.remaining && !state.parties;
        need(listed.contains(name) || is_nothing, "S37: a name is gone", name);
    }
}

void History::judge_waiting() {
    for (const auto& [name, state] : names_) {
        if (!state.closed.empty()) continue;
        if (semaphores_.contains(name)) {
            judge_permits(name, state);
            continue;
        }
        if (state.parties) continue;  // judged with the listing
        if (state.remaining) {
            need(state.queue.empty() || *state.remaining > 0, "S35: waits although all is counted",
                 name);
            continue;
        }
        need(state.queue.empty() || !state.holders.empty() || state.queue.front().is_barrier,
             "S30: all wait for nobody", name);
        need(!state.upgrade || state.holders.size() > 1, "S28: an upgrade waits alone", name);
        if (state.upgrade) continue;
        for (std::size_t i = 0; i < state.queue.size(); ++i) {
            const auto mode = state.queue[i].wanted.mode;
            bool is_free = true;
            for (const auto& holder : state.holders) {
                if (clash(holder.mode, mode)) is_free = false;
            }
            // A later waiter may go before it: by priority, or because it is preferred.
            const auto policy = policies_[name];
            const bool as_they_came =
                policy == QueuePolicy::phase_fair || policy == QueuePolicy::fifo;
            if (state.queue[i].is_barrier) break;
            const bool all = state.has_priorities || !as_they_came;
            for (std::size_t j = 0; j < (all ? state.queue.size() : i); ++j) {
                if (j != i && clash(state.queue[j].wanted.mode, mode)) is_free = false;
            }
            need(!is_free, "S30: waits, but conflicts with nobody",
                 words(state.queue[i].operation) + " on " + name);
        }
    }
}

// --- queries --------------------------------------------------------------------------------

bool History::is_live(core::SessionId session) const {
    const auto found = sessions_.find(session);
    return found != sessions_.end() && found->second.nonce != 0 && !found->second.has_ended;
}

std::vector<History::Wanted> History::wanted_by(OperationId operation) const {
    std::vector<Wanted> wanted;
    if (const auto* arrival = body_of<core::Arrive>(operation); arrival && !arrival->drops) {
        Wanted barrier;
        barrier.name = arrival->name;
        barrier.label = arrival->label;
        return {barrier};
    }
    if (const auto* wait = body_of<core::AwaitLatch>(operation)) {
        Wanted latch;
        latch.name = wait->name;
        latch.label = wait->label;
        return {latch};
    }
    const auto* acquire = body_of<core::Acquire>(operation);
    if (acquire == nullptr) return wanted;
    for (const auto& [name, mode] : acquire->names) {
        wanted.push_back({name, mode, acquire->wait, acquire->policy_given, acquire->label,
                          wants_all(operation) ? core::Priority{0} : acquire->priority,
                          acquire->locker, acquire->cached_tokens, acquire->policy,
                          acquire->permits, acquire->limit});
    }
    return wanted;
}

bool History::wants_all(OperationId operation) const {
    const auto* acquire = body_of<core::Acquire>(operation);
    return acquire != nullptr && acquire->which == core::Acquire::Which::all;
}

OperationId History::target_of(OperationId operation) const {
    const auto found = requests_.find(operation);
    if (found == requests_.end()) return {};
    const auto target =
        std::visit(core::Overloaded{[](const core::Acquire&) { return core::Seq{}; },
                                    [](const core::BreakLock&) { return core::Seq{}; },
                                    [](const core::AskRelease&) { return core::Seq{}; },
                                    [](const core::EvictSession&) { return core::Seq{}; },
                                    [](const core::Declined&) { return core::Seq{}; },
                                    [](const core::Resize&) { return core::Seq{}; },
                                    [](const core::Remove&) { return core::Seq{}; },
                                    [](const core::CountDown&) { return core::Seq{}; },
                                    [](const core::AwaitLatch&) { return core::Seq{}; },
                                    [](const core::Arrive&) { return core::Seq{}; },
                                    [](const core::CloseSession&) { return core::Seq{}; },
                                    [](const auto& of_another) { return of_another.operation; }},
                   found->second.body);
    return {operation.session, target};
}

History::Name* History::name_of_hold(OperationId hold) {
    for (auto& [text, name] : names_) {
        for (const auto& holder : name.holders) {
            if (holder.operation == hold) return &name;
        }
    }
    return nullptr;
}

core::Grant& History::grant_on(Name& name, OperationId hold) {
    return *std::find_if(name.holders.begin(), name.holders.end(),
                         [&](const auto& one) { return one.operation == hold; });
}

bool History::is_held(OperationId operation) const {
    for (const auto& [name, state] : names_) {
        for (const auto& holder : state.holders) {
            if (holder.operation == operation) return true;
        }
    }
    return false;
}

bool History::is_queued(OperationId operation) const {
    for (const auto& [name, state] : names_) {
        if (state.upgrade && state.upgrade->operation == operation) return true;
        for (const auto& waiter : state.queue) {
            if (waiter.operation == operation) return true;
        }
    }
    return false;
}

bool History::remove_holder(OperationId operation, bool is_lost) {
    bool removed = false;
    for (auto& [name, state] : names_) {
        for (const auto& one : std::vector{state.holders}) {
            if (one.operation != operation) continue;
            depart(name, state, one, is_lost);
            removed = true;
        }
    }
    return removed;
}

bool History::remove_waiter(OperationId operation) {
    std::size_t removed = 0;
    for (auto& [name, state] : names_) {
        removed +=
            std::erase_if(state.queue, [&](const auto& one) { return one.operation == operation; });
        if (!state.upgrade || state.upgrade->operation != operation) continue;
        state.upgrade.reset();
        ++removed;
    }
    return removed == 1;
}

}  // namespace mortise::spec
