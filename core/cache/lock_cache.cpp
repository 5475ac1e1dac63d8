#include "core/cache/lock_cache.hpp"

#include <algorithm>
#include <utility>

#include "core/base/check.hpp"

namespace mortise::core {

// --- acquiring ----------------------------------------------------------------------------------

bool LockCache::has_token_left(const Slot& slot) {
    return slot.mode != LockMode::exclusive || slot.token.next() < slot.end;
}

// Nothing in it throws once the slot has changed.
std::optional<LockCache::Use> LockCache::take(std::string_view name, LockMode mode, User user) {
    const auto [begin, end] = by_name_.equal_range(name);
    const auto found = std::find_if(begin, end, [&](const auto& one) {
        return !one.second->in_use && one.second->mode == mode && has_token_left(*one.second);
    });
    if (found == end) return std::nullopt;
    const auto place = found->second;
    auto& slot = *place;
    Use use{slot.grant, slot.token, {Predecessor::clean, std::move(slot.user.label), slot.token}};
    if (mode == LockMode::exclusive) use.token = slot.token = slot.token.next();
    slot.user = std::move(user);
    slot.in_use = true;
    used_.splice(used_.end(), idle_, place);
    return use;
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

// --- releasing ----------------------------------------------------------------------------------

std::optional<LockCache::GiveBack> LockCache::released(OperationId grant, Instant now) {
    const auto found = by_grant_.find(grant);
    if (found == by_grant_.end()) return GiveBack{grant, std::nullopt};
    const auto place = found->second;
    auto& slot = *place;
    MORTISE_CHECK(slot.in_use);
    const bool is_used_up = !has_token_left(slot);
    if (is_used_up) habits_.used_up(slot.name, now);
    if (is_used_up || slot.is_recalled) {
        habits_.released(slot.name, now);
        return give_back(place);
    }
    slot.in_use = false;
    slot.since = now;
    idle_.splice(idle_.end(), used_, place);
    return std::nullopt;
}

std::optional<LockCache::Publication> LockCache::make_ordinary(OperationId grant) {
    const auto found = by_grant_.find(grant);
    if (found == by_grant_.end()) return std::nullopt;
    const auto place = found->second;
    auto publication = publication_of(*place);
    erase(place);
    return publication;
}

// --- the cluster --------------------------------------------------------------------------------

std::optional<LockCache::GiveBack> LockCache::recalled(OperationId grant, Instant now) {
    const auto found = by_grant_.find(grant);
    if (found == by_grant_.end() || found->second->is_recalled) return std::nullopt;
    const auto place = found->second;
    habits_.recalled(place->name, now);
    if (!place->in_use) return give_back(place);
    place->is_recalled = true;
    place->since = now;
    recalled_.splice(recalled_.end(), used_, place);
    return std::nullopt;
}

LockCache::Lost LockCache::lost(OperationId grant) {
    const auto found = by_grant_.find(grant);
    if (found == by_grant_.end()) return {};
    const Lost lost{!found->second->in_use, found->second->token};
    erase(found->second);
    return lost;
}

// --- time ---------------------------------------------------------------------------------------

LockCache::Due LockCache::take_due(Instant now) {
    Due due;
    while (!idle_.empty() && (idle_.size() > options_.idle_grants_max ||
                              idle_.front().since + options_.idle_max <= now)) {
        habits_.dropped(idle_.front().name, now);
        due.give_back.push_back(give_back(idle_.begin()));
    }
    while (!recalled_.empty() && recalled_.front().since + options_.publish_after <= now) {
        auto& slot = recalled_.front();
        slot.is_published = true;
        due.publish.push_back(publication_of(slot));
        used_.splice(used_.end(), recalled_, recalled_.begin());
    }
    return due;
}

Instant LockCache::deadline() const {
    auto next = Instant::never();
    if (!idle_.empty()) next = idle_.front().since + options_.idle_max;
    if (idle_.size() > options_.idle_grants_max) next = idle_.front().since;
    if (!recalled_.empty()) next = std::min(next, recalled_.front().since + options_.publish_after);
    return next;
}

// --- slots --------------------------------------------------------------------------------------

bool LockCache::is_in_use(OperationId grant) const {
    const auto found = by_grant_.find(grant);
    return found != by_grant_.end() && found->second->in_use;
}

LockCache::Publication LockCache::publication_of(const Slot& slot) {
    return {slot.grant, slot.token, slot.user};
}

LockCache::GiveBack LockCache::give_back(Place place) {
    GiveBack back{place->grant, std::nullopt};
    if (place->token != place->first) {
        // Moved, since a release must not fail without memory. The user is no owner any more.
        back.last = Publication{place->grant, place->token, {{}, std::move(place->user.label)}};
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
    MORTISE_CHECK(by_grant_.size() == idle_.size() + used_.size() + recalled_.size());
    for (const auto& slot : idle_)
        MORTISE_CHECK(!slot.in_use && !slot.is_recalled && has_token_left(slot));
    for (const auto& slot : recalled_)
        MORTISE_CHECK(slot.in_use && slot.is_recalled && !slot.is_published);
    for (const auto& slot : used_)
        MORTISE_CHECK(slot.in_use && slot.is_recalled == slot.is_published);
}

}  // namespace mortise::core
