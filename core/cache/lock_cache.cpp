#include "core/cache/lock_cache.hpp"

#include <algorithm>
#include <utility>

#include "core/base/check.hpp"

namespace mortise::core {

// --- acquiring ----------------------------------------------------------------------------------

bool LockCache::has_token_left(const Slot& slot) {
    return slot.mode != LockMode::exclusive || slot.token.next() < slot.end;
}

LockCache::Use LockCache::use_by(Slot& slot, User user) {
    Use use{slot.grant, slot.token, {Predecessor::clean, std::move(slot.user.label), slot.token}};
    if (slot.mode == LockMode::exclusive) {
        use.token = slot.token = slot.token.next();
        use.tokens_left = static_cast<std::uint32_t>(slot.end.raw() - slot.token.raw() - 1);
    }
    slot.user = std::move(user);
    ++slot.uses;
    return use;
}

// Nothing in it throws once the slot has changed.
std::optional<LockCache::Use> LockCache::take(std::string_view name, LockMode mode, User user) {
    end_loans(name);
    const auto [begin, end] = by_name_.equal_range(name);
    const auto found = std::find_if(begin, end, [&](const auto& one) {
        return !one.second->in_use && one.second->mode == mode && has_token_left(*one.second);
    });
    if (found == end) return std::nullopt;
    const auto place = found->second;
    place->in_use = true;
    used_.splice(used_.end(), idle_, place);
    return use_by(*place, std::move(user));
}

LockCache::Joined LockCache::join(std::string_view name, LockMode mode, Waiter caller,
                                  Instant now) {
    Joined joined;
    joined.use = take(name, mode, caller.user);
    if (joined.use) return joined;
    const bool is_writer = mode == LockMode::exclusive;
    if (is_writer && caller.deadline > now && may_wait_here(name, caller.user, now)) {
        caller.until = std::min(caller.deadline, now + options_.wait_here_max);
        queues_.add(name, std::move(caller));
        joined.waits = true;
        return joined;
    }
    joined.tokens = habits_.tokens(name, now);
    if (is_writer && joined.tokens != 0 && !queues_.asked_at(name))
        queues_.set_asker(name, caller.call, now);
    return joined;
}

// A locker that waits for itself asks the cluster, which finds the wait cycle. Behind a caller that
// waits for long, the others ask at once, for their places in the queue of the cluster: else they
// would be served here before it.
bool LockCache::may_wait_here(std::string_view name, const User& user, Instant now) const {
    if (queues_.size() >= options_.waiters_max) return false;
    const auto* const slot = used_exclusively(name);
    if (slot != nullptr && user.locker.is_set() && user.locker == slot->user.locker) return false;
    if (const auto asked_at = queues_.asked_at(name))
        return now < *asked_at + options_.wait_here_max;
    return slot != nullptr && may_hand_over(*slot, now);
}

const LockCache::Slot* LockCache::used_exclusively(std::string_view name) const {
    const auto [begin, end] = by_name_.equal_range(name);
    const auto found = std::find_if(begin, end, [](const auto& one) {
        const auto& slot = *one.second;
        return slot.in_use && slot.mode == LockMode::exclusive && !slot.is_published;
    });
    return found == end ? nullptr : &*found->second;
}

void LockCache::granted(OperationId grant, const NamedMode& what, FencingToken token,
                        std::uint32_t tokens, User user) {
    MORTISE_CHECK(tokens != 0 && !by_grant_.contains(grant));
    Slot slot;
    slot.name = what.name;
    slot.grant = grant;
    slot.mode = what.mode;
    slot.first = slot.token = token;
    slot.end = FencingToken{token.raw() + tokens};
    slot.user = std::move(user);
    used_.push_back(std::move(slot));
    const auto place = std::prev(used_.end());
    by_name_.emplace(place->name, place);
    by_grant_.emplace(grant, place);
}

LockCache::Asking LockCache::answered(std::string_view name, CallTag call, Instant now) {
    if (!queues_.forget_asker(name, call)) return {};
    end_loans(name);
    if (used_exclusively(name) != nullptr) return {};
    return next_asker(name, now);
}

// --- releasing ----------------------------------------------------------------------------------

LockCache::Released LockCache::released(OperationId grant, Instant now) {
    Released after;
    const auto found = find(grant);
    if (!found) {
        after.back = GiveBack{grant, std::nullopt};
        return after;
    }
    const auto place = *found;
    auto& slot = *place;
    MORTISE_CHECK(slot.in_use);
    if (may_hand_over(slot, now)) {
        if (const auto next = next_in_time(slot.name, now, after.timed_out)) {
            after.next = hand_over(place, *next, now);
            return after;
        }
    }
    if (slot.is_recalled || !has_token_left(slot)) {
        note_end(slot, now);
        after.asking = next_asker(slot.name, now);
        after.back = give_back(place);
        return after;
    }
    slot.in_use = false;
    slot.since = now;
    idle_.splice(idle_.end(), used_, place);
    return after;
}

std::optional<CallTag> LockCache::next_in_time(std::string_view name, Instant now,
                                               Waiters& timed_out) {
    const auto* first = queues_.first(name);
    for (; first != nullptr && first->deadline <= now; first = queues_.first(name))
        timed_out.splice(timed_out.end(), queues_.take(first->call));
    return first == nullptr ? std::nullopt : std::optional{first->call};
}

bool LockCache::may_hand_over(const Slot& slot, Instant now) const {
    if (slot.mode != LockMode::exclusive || slot.is_published || !has_token_left(slot))
        return false;
    return !slot.is_recalled || (slot.hand_overs < options_.hand_overs_max &&
                                 now < slot.recalled_at + options_.hand_over_for);
}

LockCache::HandOver LockCache::hand_over(Place place, CallTag next, Instant now) {
    auto caller = queues_.take(next);
    HandOver handed{next, use_by(*place, std::move(caller.front().user))};
    if (!place->is_recalled) return handed;
    ++place->hand_overs;
    place->since = now;
    recalled_.splice(recalled_.end(), recalled_, place);
    return handed;
}

LockCache::Asking LockCache::next_asker(std::string_view name, Instant now) {
    const auto* const first = queues_.first(name);
    if (first == nullptr || queues_.asked_at(name)) return {};
    const auto tokens = habits_.tokens(name, now);
    if (tokens == 0) return {queues_.take_all(name), 0};
    const auto next = first->call;
    queues_.change_asker(name, next, now);
    return {queues_.take(next), tokens};
}

// A name that was recalled although its node used it often is still worth it.
void LockCache::note_end(const Slot& slot, Instant now) noexcept {
    if (!has_token_left(slot)) habits_.used_up(slot.name, now);
    if (slot.is_recalled && slot.uses < options_.uses_worth) habits_.recalled(slot.name, now);
    habits_.released(slot.name, now);
}

// --- the grant ends, or becomes an ordinary one -------------------------------------------------

LockCache::Ordinary LockCache::make_ordinary(OperationId grant, FencingToken token, Instant now) {
    Ordinary ordinary;
    const auto found = find(grant);
    if (!found) return ordinary;
    const auto place = *found;
    if (!place->in_use || place->token != token) return ordinary;
    ordinary.user = publication_of(*place);
    ordinary.asking = next_asker(place->name, now);
    erase(place);
    return ordinary;
}

std::optional<LockCache::GiveBack> LockCache::recalled(OperationId grant, Instant now) {
    const auto found = find(grant);
    if (!found || (*found)->is_recalled) return std::nullopt;
    const auto place = *found;
    if (!place->in_use) {
        if (place->uses < options_.uses_worth) habits_.recalled(place->name, now);
        return give_back(place);
    }
    place->is_recalled = true;
    place->recalled_at = place->since = now;
    recalled_.splice(recalled_.end(), used_, place);
    return std::nullopt;
}

LockCache::Lost LockCache::lost(OperationId grant, Instant now) {
    const auto found = find(grant);
    if (!found) return {};
    const auto place = *found;
    Lost lost{!place->in_use, place->token, {}};
    if (place->in_use) lost.asking = next_asker(place->name, now);
    erase(place);
    return lost;
}

// --- time ---------------------------------------------------------------------------------------

LockCache::Due LockCache::take_due(Instant now) {
    Due due;
    give_back_due(now, due);
    while (!recalled_.empty() && recalled_.front().since + options_.publish_after <= now) {
        auto& slot = recalled_.front();
        due.publish.push_back(publication_of(slot));
        slot.is_published = true;
        used_.splice(used_.end(), recalled_, recalled_.begin());
        due.asking.push_back(next_asker(slot.name, now));
    }
    take_due_waiters(now, due);
    return due;
}

// Nobody knows when in its loan a grant was released last.
void LockCache::give_back_due(Instant now, Due& due) {
    while (!lent_.empty() && lent_.front().since + options_.loan_max <= now) {
        const auto place = lent_.begin();
        if (end_loan(place)) place->since = now;
    }
    for (;;) {
        const bool too_many = idle_.size() + lent_.size() > options_.idle_grants_max;
        if (too_many && idle_.empty()) {
            end_loan(lent_.begin());
            continue;
        }
        if (idle_.empty()) return;
        if (!too_many && idle_.front().since + options_.idle_max > now) return;
        habits_.dropped(idle_.front().name, now);
        due.give_back.push_back(give_back(idle_.begin()));
    }
}

// The rest is due at once, after events that came meanwhile (P10). A caller that asks has waited
// since it came, and others do not wait behind it here.
void LockCache::take_due_waiters(Instant now, Due& due) {
    for (std::size_t count = 0; count < options_.waiters_due_max; ++count) {
        const auto next = queues_.due(now);
        if (!next) return;
        const std::string name = queues_.name_of(*next);
        auto caller = queues_.take(*next);
        if (caller.front().deadline <= now) {
            due.timed_out.splice(due.timed_out.end(), caller);
            continue;
        }
        const auto tokens = habits_.tokens(name, now);
        const auto came = caller.front().until - options_.wait_here_max;
        if (tokens != 0 && !queues_.asked_at(name)) queues_.set_asker(name, *next, came);
        due.asking.push_back({std::move(caller), tokens});
    }
}

Instant LockCache::deadline() const {
    auto next = queues_.deadline();
    if (!lent_.empty()) next = std::min(next, lent_.front().since + options_.loan_max);
    if (!idle_.empty()) next = std::min(next, idle_.front().since + options_.idle_max);
    if (idle_.size() + lent_.size() > options_.idle_grants_max) next = Instant{};
    if (!recalled_.empty()) next = std::min(next, recalled_.front().since + options_.publish_after);
    return next;
}

// --- slots --------------------------------------------------------------------------------------

// Its users are known here again, until the next loan.
bool LockCache::end_loan(Place place) noexcept {
    auto* const loan = std::exchange(place->loan, nullptr);
    if (loan == nullptr) return false;
    const auto state = loan->end();
    const auto uses = state.token.raw() - place->token.raw();
    taken_again_ += uses;
    place->uses += static_cast<std::uint32_t>(uses);
    place->token = state.token;
    place->in_use = state.in_use;
    auto& list = state.in_use ? used_ : idle_;
    list.splice(list.end(), lent_, place);
    return uses != 0;
}

void LockCache::end_loans(std::string_view name) noexcept {
    const auto [begin, end] = by_name_.equal_range(name);
    std::for_each(begin, end, [this](const auto& one) { end_loan(one.second); });
}

std::optional<LockCache::Place> LockCache::find(OperationId grant) noexcept {
    const auto found = by_grant_.find(grant);
    if (found == by_grant_.end()) return std::nullopt;
    end_loan(found->second);
    return found->second;
}

bool LockCache::lend(OperationId grant, Loan& loan) noexcept {
    const auto found = find(grant);
    if (!found || (*found)->mode != LockMode::exclusive) return false;
    MORTISE_CHECK(!(*found)->in_use && has_token_left(**found));
    (*found)->loan = &loan;
    lent_.splice(lent_.end(), idle_, *found);
    return true;
}

void LockCache::end_all_loans() noexcept {
    while (!lent_.empty())
        end_loan(lent_.begin());
}

std::uint64_t LockCache::taken_again() const {
    auto all = taken_again_;
    for (const auto& slot : lent_)
        all += slot.loan->state().token.raw() - slot.token.raw();
    return all;
}

bool LockCache::is_in_use(OperationId grant) const {
    const auto found = by_grant_.find(grant);
    if (found == by_grant_.end()) return false;
    const auto& slot = *found->second;
    return slot.loan != nullptr ? slot.loan->state().in_use : slot.in_use;
}

LockCache::Publication LockCache::publication_of(const Slot& slot) {
    return {slot.grant, slot.token, slot.user};
}

LockCache::GiveBack LockCache::give_back(Place place) {
    GiveBack back{place->grant, std::nullopt};
    if (place->token != place->first) {
        // Moved, since a release must not fail without memory. The user is no owner any more.
        back.last =
            Publication{place->grant, place->token, {{}, std::move(place->user.label)}, true};
    }
    erase(place);
    return back;
}

void LockCache::erase(Place place) {
    const auto [begin, end] = by_name_.equal_range(place->name);
    by_name_.erase(std::find_if(begin, end, [&](const auto& one) { return one.second == place; }));
    by_grant_.erase(place->grant);
    const bool waits = place->is_recalled && !place->is_published;
    auto& list = !place->in_use ? idle_ : waits ? recalled_ : used_;
    list.erase(place);
}

void LockCache::check_invariants() const {
    MORTISE_CHECK(by_grant_.size() == by_name_.size());
    MORTISE_CHECK(by_grant_.size() ==
                  idle_.size() + lent_.size() + used_.size() + recalled_.size());
    for (const auto& slot : idle_)
        MORTISE_CHECK(!slot.in_use && !slot.is_recalled && has_token_left(slot) && !slot.loan);
    for (const auto& slot : lent_)
        MORTISE_CHECK(!slot.in_use && !slot.is_recalled && has_token_left(slot) && slot.loan);
    for (const auto& slot : recalled_)
        MORTISE_CHECK(slot.in_use && slot.is_recalled && !slot.is_published && !slot.loan);
    for (const auto& slot : used_)
        MORTISE_CHECK(slot.in_use && slot.is_recalled == slot.is_published && !slot.loan);
    queues_.for_each_name([this](std::string_view name) {
        MORTISE_CHECK(queues_.asked_at(name) || used_exclusively(name) != nullptr);
    });
}

}  // namespace mortise::core
