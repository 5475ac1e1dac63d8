#include "embed/holds/grant_cache.hpp"

#include <new>
#include <tuple>
#include <utility>
#include <vector>

#include "embed/holds/hold_record.hpp"
#include "embed/holds/locker_state.hpp"
#include "embed/values/clocks.hpp"
#include "embed/values/lock_mode.hpp"

namespace mortise::detail {

namespace {

core::LockCache::User user_of(const AcquireOptions& options) {
    core::LockCache::User user;
    if (const auto locker = LockerState::of(options.locker)) user.locker = locker->tag();
    user.label = options.label;
    return user;
}

}  // namespace

bool GrantCache::may_have(const AcquireOrder& order) {
    const auto& options = order.options;
    const bool is_timed = options.max_hold.is_set() || options.min_hold != Duration::zero() ||
                          options.progress_timeout.is_set() ||
                          options.lock_delay != Duration::zero();
    return options.caching == Caching::adaptive && !order.several && !is_timed &&
           (options.mode == LockMode::exclusive || options.mode == LockMode::shared) &&
           options.on_uncertain == OnUncertain::lose && !options.on_contended &&
           !options.queue_policy;  // the cluster knows the policy of the name (S31)
}

// --- on the thread of a caller ------------------------------------------------------------------

// The lease is checked after the token was taken (S42). If it has ended, the hold goes back here.
Hold GrantCache::take(const AcquireOrder& order) {
    if (generation_.is_forked()) return {};
    auto user = user_of(order.options);
    Record grant;
    auto use = state_.with([&](State& state) {
        auto taken = state.cache.take(order.name, to_core(order.options.mode), std::move(user));
        if (taken) grant = state.grants.at(taken->grant);
        return taken;
    });
    if (!use) return {};
    Record hold;
    try {
        hold = std::make_shared<HoldRecord>(grant, std::move(*use), shared_from_this());
    } catch (const std::bad_alloc&) {
        stop_using(grant->operation(), {}, nullptr);
        throw;
    }
    grant->set_use(hold);
    if (!hold->is_valid()) {
        stop_using(grant->operation(), {}, nullptr);
        return {};
    }
    ++served_;
    return HoldRecord::hold_on(std::move(hold));
}

std::uint32_t GrantCache::tokens_to_reserve(std::string_view name) {
    if (generation_.is_forked()) return 0;
    return state_.with(
        [&](State& state) { return state.cache.tokens_to_reserve(name, steady_now()); });
}

GivenBack GrantCache::leave(HoldRecord& hold, core::CallTag tag,
                            std::shared_ptr<Completion> waiting) noexcept {
    if (generation_.is_forked()) return {};
    if (!hold.grant()) {
        note_release(hold.name());
        return send_release(hold, tag, std::move(waiting));
    }
    const auto given = stop_using(hold.operation(), tag, std::move(waiting));
    hold.set_given_back();
    return given;
}

GivenBack GrantCache::stop_using(core::OperationId grant, core::CallTag tag,
                                 std::shared_ptr<Completion> waiting) noexcept {
    const auto left = state_.with([&](State& state) -> std::optional<Leaving> {
        auto back = state.cache.released(grant, steady_now());
        if (!back) return std::nullopt;
        return leaving(state, std::move(*back));
    });
    return left ? send_back(*left, tag, std::move(waiting)) : GivenBack{};
}

// Without memory the next acquire of the name asks for an ordinary grant.
void GrantCache::note_release(std::string_view name) noexcept {
    try {
        state_.with([&](State& state) { state.cache.released_ordinary(name, steady_now()); });
    } catch (const std::bad_alloc&) {
    }
}

void GrantCache::make_ordinary(const HoldRecord& hold) {
    const auto user =
        state_.with([&](State& state) { return state.cache.make_ordinary(hold.operation()); });
    if (user) publish(hold, *user);
}

// --- on the core thread -------------------------------------------------------------------------

Hold GrantCache::granted(Hold grant, std::uint32_t tokens, core::LockCache::User user) {
    const auto record = HoldRecord::of(grant);
    const auto& part = record->parts().front();
    auto use = std::make_shared<HoldRecord>(
        record, core::LockCache::Use{record->operation(), part.token, part.previous},
        shared_from_this());
    state_.with([&](State& state) {
        state.grants.emplace(record->operation(), record);
        state.cache.granted(record->operation(), {part.name, part.mode}, part.token, tokens,
                            std::move(user));
    });
    record->set_use(use);
    HoldRecord::take(grant);
    return HoldRecord::hold_on(std::move(use));
}

void GrantCache::recalled(core::OperationId grant) noexcept {
    const auto left = state_.with([&](State& state) -> std::optional<Leaving> {
        auto back = state.cache.recalled(grant, steady_now());
        if (!back) return std::nullopt;
        return leaving(state, std::move(*back));
    });
    if (left) send_back(*left, {}, nullptr);
}

core::LockCache::Lost GrantCache::lost(core::OperationId grant) noexcept {
    return state_.with([&](State& state) {
        state.grants.erase(grant);
        return state.cache.lost(grant);
    });
}

void GrantCache::look(core::Instant now) {
    std::vector<std::pair<Record, core::LockCache::Publication>> publish_now;
    std::vector<Leaving> left;
    state_.with([&](State& state) {
        auto due = state.cache.take_due(now);
        for (auto& user : due.publish)
            publish_now.emplace_back(state.grants.at(user.grant), std::move(user));
        for (auto& back : due.give_back)
            left.push_back(leaving(state, std::move(back)));
    });
    for (const auto& [grant, user] : publish_now)
        publish(*grant, user);
    for (const auto& one : left)
        send_back(one, {}, nullptr);
}

core::Instant GrantCache::deadline() const {
    return state_.with([](const State& state) { return state.cache.deadline(); });
}

// --- to the cluster -----------------------------------------------------------------------------

// A grant whose hold was made an ordinary one is in the list until it is released or lost.
GrantCache::Leaving GrantCache::leaving(State& state, core::LockCache::GiveBack back) {
    const auto found = state.grants.extract(back.grant);
    return {found.empty() ? nullptr : std::move(found.mapped()), std::move(back.last)};
}

// A lost grant is not in the list any more, and there is nothing to send.
GivenBack GrantCache::send_back(const Leaving& leaving, core::CallTag tag,
                                std::shared_ptr<Completion> waiting) noexcept {
    if (!leaving.grant) return {};
    auto& grant = *leaving.grant;
    if (leaving.last) publish(grant, *leaving.last);
    if (!grant.mark_released()) return {false, grant.failure()};
    return send_release(grant, tag, std::move(waiting));
}

// Without memory, or if the node has stopped, the cluster does not learn of the user.
void GrantCache::publish(const HoldRecord& grant,
                         const core::LockCache::Publication& user) noexcept {
    try {
        std::ignore = grant.gate()->submit(
            core::PublishCall{{}, user.grant, user.token, user.user.locker, user.user.label},
            nullptr);
    } catch (const std::bad_alloc&) {
    }
}

}  // namespace mortise::detail
