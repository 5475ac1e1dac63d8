#include "embed/holds/grant_cache.hpp"

#include <algorithm>
#include <new>
#include <string>
#include <tuple>
#include <utility>
#include <vector>

#include "embed/holds/asking_call.hpp"
#include "embed/holds/hold_record.hpp"
#include "embed/holds/locker_state.hpp"
#include "embed/holds/may_be_cached.hpp"
#include "embed/values/clocks.hpp"
#include "embed/values/lock_mode.hpp"
#include <mortise/errc.hpp>

namespace mortise::detail {

namespace {

core::LockCache::User user_of(const AcquireOptions& options) {
    core::LockCache::User user;
    if (const auto locker = LockerState::of(options.locker)) user.locker = locker->tag();
    user.label = options.label;
    return user;
}

// How long the caller may wait in a local queue. A try does not wait, and a priority counts in the
// queue of the cluster only.
core::Instant waits_until(const core::AcquireCall& acquire) {
    const bool waits = acquire.request.wait && acquire.request.priority == 0;
    return waits ? acquire.deadline : core::Instant{};
}

}  // namespace

// --- on the thread of a caller ------------------------------------------------------------------

Hold GrantCache::take(const AcquireOrder& order) {
    if (generation_.is_forked()) return {};
    UsedBy its{user_of(order.options)};
    auto user = its.user;
    Record grant;
    Record again;
    const bool is_taken = state_.with([&](State& state) {
        auto taken = state.cache.take(order.name, to_core(order.options.mode), std::move(user));
        if (!taken) return false;
        its.use = *std::move(taken);
        again = use_again(state, its);
        if (!again) grant = state.grants.at(its.use.grant).record;
        return true;
    });
    return is_taken ? use_of(grant, std::move(again), std::move(its)) : Hold{};
}

// The record of the last use, if it can be the record of this one, so that no memory is needed. The
// copy of the pointer comes behind the count, and so behind what the former owner did.
GrantCache::Record GrantCache::use_again(const State& state, UsedBy& its) {
    const auto& last = state.grants.at(its.use.grant).use;
    if (last.use_count() != 1) return nullptr;
    auto again = last;
    if (!again->may_be_used_again()) return nullptr;
    again->as_use()->begin_anew(std::move(its.use), std::move(its.user));
    return again;
}

GrantCache::Record GrantCache::new_use(const Record& grant, UsedBy its) {
    try {
        auto hold = std::make_shared<HoldRecord>(
            grant, std::make_unique<GrantUse>(std::move(its.use), std::move(its.user)),
            shared_from_this());
        remember(grant, hold);
        return hold;
    } catch (const std::bad_alloc&) {
        remember(grant, nullptr);
        stop_using(grant->operation(), {}, nullptr);
        throw;
    }
}

// The lease is checked after the token was taken (S42). If it has ended, the hold goes back here.
Hold GrantCache::use_of(const Record& grant, Record again, UsedBy use) {
    auto hold = again ? std::move(again) : new_use(grant, std::move(use));
    if (!hold->is_valid()) {
        drop(*hold);
        return {};
    }
    ++served_;
    return HoldRecord::hold_on(std::move(hold));
}

bool GrantCache::take_again(HoldRecord& use) {
    if (generation_.is_forked() || !use.take_lent()) return false;
    if (use.is_valid()) return true;
    drop_lent(use);
    return false;
}

// The cache and this thread have the record, so nobody has a Hold with it. The label is compared
// after the token was taken: until then another thread may give the record to another user.
Hold GrantCache::take_again(std::string_view name, const AcquireOptions& options) {
    if (!may_be_taken_again(options) || generation_.is_forked()) return {};
    auto use = lent_.find(name);
    if (!use || use.use_count() != 2 || !take_again(*use)) return {};
    if (use->as_use()->is_of(options.label)) return HoldRecord::hold_on(std::move(use));
    drop_lent(*use);
    return {};
}

// Nobody was told of the use, so the next one is not told of it either.
void GrantCache::drop_lent(HoldRecord& use) noexcept {
    if (use.as_use()->word().put_back_unused()) return;
    --served_;  // it was counted with its token
    drop(use);
}

void GrantCache::drop(HoldRecord& use) noexcept {
    std::ignore = use.as_use()->word().release();
    stop_using(use.operation(), {}, nullptr);
    use.set_given_back();
}

// The owner of the use is notified of the loss of the grant. Null: there is no record of the use.
void GrantCache::remember(const Record& grant, const Record& use) {
    Record former;  // destroyed without the lock
    if (use) grant->set_use(use);
    state_.with([&](State& state) {
        const auto known = state.grants.find(grant->operation());
        if (known != state.grants.end()) former = std::exchange(known->second.use, use);
    });
}

std::error_code GrantCache::submit(std::shared_ptr<Submitted> acquire) {
    auto& call = acquire->get<core::AcquireCall>();
    if (!call.may_be_cached || generation_.is_forked()) return gate_->submit(acquire);
    const auto tag = call.tag;
    const auto name = call.request.names.front().name;
    UsedBy its{{call.request.locker, call.request.label}};
    core::LockCache::Waiter caller{tag, its.user, waits_until(call)};
    call.began = steady_now();
    acquire->answer_to(
        std::make_shared<AskingCall>(shared_from_this(), name, tag, acquire->take_completion()));
    auto joined = join(acquire, std::move(caller), its);
    if (joined.wakes) gate_->wake_up();
    if (joined.how.waits) return {};
    if (joined.grant) {
        if (auto hold = use_of(joined.grant, std::move(joined.again), std::move(its))) {
            AskingCall::caller_of(*acquire).complete({{}, std::move(hold), {}});
            return {};
        }
    }
    call.request.cached_tokens = joined.how.tokens;
    const auto refused = gate_->submit(acquire);
    if (refused) answered(name, tag);
    return refused;
}

GrantCache::Joined GrantCache::join(std::shared_ptr<Submitted>& acquire,
                                    core::LockCache::Waiter caller, UsedBy& its) {
    const auto tag = caller.call;
    const auto wanted = acquire->get<core::AcquireCall>().request.names.front();
    return state_.with([&](State& state) {
        Joined joined;
        if (state.is_closed) return joined;
        joined.how = state.cache.join(wanted.name, wanted.mode, std::move(caller), steady_now());
        if (joined.how.use) {
            its.use = *std::move(joined.how.use);
            joined.grant = state.grants.at(its.use.grant).record;
            joined.again = use_again(state, its);
        }
        if (!joined.how.waits) return joined;
        try {
            state.calls.add(acquire);
        } catch (const std::bad_alloc&) {
            std::ignore = state.cache.withdraw(tag);
            throw;
        }
        const auto due = state.cache.deadline();
        joined.wakes = due < state.looks_at;
        state.looks_at = std::min(state.looks_at, due);
        return joined;
    });
}

// --- releasing ----------------------------------------------------------------------------------

GivenBack GrantCache::leave(const Record& hold, core::CallTag tag,
                            std::shared_ptr<Completion> waiting) noexcept {
    if (generation_.is_forked()) return {};
    if (!hold->grant()) {
        note_release(hold->name());
        return send_release(hold, tag, std::move(waiting));
    }
    const auto given = stop_using(hold->operation(), tag, std::move(waiting));
    hold->set_given_back();
    return given;
}

// A caller that cannot have the lock now asks the cluster, and the one behind it is the next.
GivenBack GrantCache::stop_using(core::OperationId grant, core::CallTag tag,
                                 std::shared_ptr<Completion> waiting) noexcept {
    for (;;) {
        auto after = state_.with([&](State& state) { return after_release(state, grant); });
        note_lent(after.lent);
        if (after.is_over()) return {};
        end(after.timed_out, Errc::timed_out);
        if (after.use) {
            if (hand_over(after)) return {};
            continue;
        }
        GivenBack given;
        if (after.back) given = send_back(*after.back, tag, std::move(waiting));
        send(std::move(after.asking));  // behind the release
        return given;
    }
}

GrantCache::AfterRelease GrantCache::after_release(State& state, core::OperationId grant) {
    AfterRelease after;
    after.began = steady_now();
    auto released = state.cache.released(grant, after.began);
    if (released.back) after.back = leaving(state, std::move(*released.back));
    after.asking = state.calls.leave(released.asking);
    after.timed_out = state.calls.leave({std::move(released.timed_out)});
    if (!released.back && !released.next) lend(state, grant, after.lent);
    if (!released.next) return after;
    after.next = state.calls.leave(released.next->call);
    after.use = std::move(released.next->use);
    after.grant = state.grants.at(after.use->grant).record;
    return after;
}

// The grant stays here, unused.
void GrantCache::lend(State& state, core::OperationId grant, Record& lent) noexcept {
    const auto& last = state.grants.at(grant).use;
    if (state.is_closed || !last || !last->may_be_used_again()) return;
    if (!state.cache.lend(grant, *last->as_use())) return;
    last->as_use()->word().lend();
    lent = last;
}

void GrantCache::note_lent(const Record& use) noexcept {
    if (use && !use->as_use()->has_locker()) lent_.put(use->name(), use);
}

// False if there is no memory, or the lease has ended (S42): then the caller is sent to the
// cluster, and the grant is still to be released.
bool GrantCache::hand_over(AfterRelease& after) noexcept {
    Record hold;
    try {
        const auto& request = after.next->get<core::AcquireCall>().request;
        hold = std::make_shared<HoldRecord>(
            after.grant,
            std::make_unique<GrantUse>(*std::move(after.use),
                                       core::LockCache::User{request.locker, request.label}),
            shared_from_this());
    } catch (const std::bad_alloc&) {
    }
    if (hold) remember(after.grant, hold);
    if (!hold || !hold->is_valid()) {
        remember(after.grant, nullptr);  // the last user was not the owner of the last record
        send(SubmittedCalls{std::move(after.next)});
        return false;
    }
    ++served_;
    auto& next = *after.next;
    std::ignore = forget(next.tag());
    const auto now = steady_now();
    acquire_time_.count(now - next.get<core::AcquireCall>().began);
    hand_over_time_.count(now - after.began);
    AskingCall::caller_of(next).complete({{}, HoldRecord::hold_on(std::move(hold)), {}});
    return true;
}

// If one is refused, the next in its local queue asks.
void GrantCache::send(SubmittedCalls acquires) noexcept {
    while (!acquires.empty()) {
        auto one = acquires.pop_front();
        const auto refused = gate_->submit(one);
        if (!refused) continue;
        std::ignore = forget(one->tag());
        AskingCall::caller_of(*one).complete({refused, {}, {}});
        acquires.append(leave_after(*one));
    }
}

// They are not sent anywhere.
void GrantCache::end(const SubmittedCalls& acquires, Errc why) noexcept {
    if (why == Errc::timed_out) timed_out_ += acquires.size();
    if (why == Errc::cancelled) cancelled_ += acquires.size();
    for (const auto& one : acquires) {
        std::ignore = forget(one.tag());
        AskingCall::caller_of(one).complete({why, {}, {}});
    }
}

std::shared_ptr<Submitted> GrantCache::forget(core::CallTag call) noexcept {
    return state_.with([&](State& state) { return state.calls.forget(call); });
}

SubmittedCalls GrantCache::leave_after(const Submitted& refused) noexcept {
    const auto* const call = refused.get_if<core::AcquireCall>();
    if (call == nullptr) return {};
    return state_.with([&](State& state) {
        const auto& name = call->request.names.front().name;
        return state.calls.leave(state.cache.answered(name, call->tag, steady_now()));
    });
}

void GrantCache::answered(std::string_view name, core::CallTag call) noexcept {
    send(state_.with([&](State& state) {
        return state.calls.leave(state.cache.answered(name, call, steady_now()));
    }));
}

// Without memory the next acquire of the name asks for an ordinary grant.
void GrantCache::note_release(std::string_view name) noexcept {
    try {
        state_.with([&](State& state) { state.cache.released_ordinary(name, steady_now()); });
    } catch (const std::bad_alloc&) {
    }
}

void GrantCache::make_ordinary(const HoldRecord& hold) {
    SubmittedCalls asking;
    const auto user = state_.with([&](State& state) {
        const core::FencingToken token{static_cast<std::uint64_t>(hold.token().raw())};
        auto ordinary = state.cache.make_ordinary(hold.operation(), token, steady_now());
        asking = state.calls.leave(ordinary.asking);
        return std::move(ordinary.user);
    });
    if (user) publish(hold, *user);
    send(std::move(asking));
}

// --- on the core thread -------------------------------------------------------------------------

Hold GrantCache::granted(Hold grant, std::uint32_t tokens, core::LockCache::User user) {
    const auto record = HoldRecord::of(grant);
    const core::FencingToken token{static_cast<std::uint64_t>(record->token().raw())};
    const bool is_reader = record->mode() == LockMode::shared;
    auto use = std::make_shared<HoldRecord>(
        record,
        std::make_unique<GrantUse>(
            core::LockCache::Use{record->operation(), token, record->former_holder(),
                                 is_reader ? 0 : tokens - 1},
            user),
        shared_from_this());
    state_.with([&](State& state) {
        state.grants.emplace(record->operation(), Grant{record, use});
        state.cache.granted(record->operation(),
                            {std::string{record->name()}, to_core(record->mode())}, token, tokens,
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

GrantCache::Lost GrantCache::lost(core::OperationId grant) noexcept {
    SubmittedCalls asking;
    const auto lost = state_.with([&](State& state) {
        const auto its = state.cache.lost(grant, steady_now());
        state.grants.erase(grant);  // behind the end of its loan
        asking = state.calls.leave(its.asking);
        return Lost{its.was_unused, its.token};
    });
    send(std::move(asking));
    return lost;
}

void GrantCache::cancel(core::CallTag call) noexcept {
    auto cancelled = state_.with([&](State& state) -> std::shared_ptr<Submitted> {
        if (state.cache.withdraw(call)) return state.calls.leave(call);
        state.calls.cancel(call);
        return nullptr;
    });
    end(SubmittedCalls{std::move(cancelled)}, Errc::cancelled);
}

void GrantCache::pass(SubmittedCalls& calls) noexcept {
    SubmittedCalls passed;
    while (!calls.empty()) {
        auto one = calls.pop_front();
        if (one->is<core::CancelCall>()) cancel(one->tag());
        const auto* acquire = one->get_if<core::AcquireCall>();
        const bool may_wait = acquire != nullptr && acquire->may_be_cached;
        SubmittedCalls cancellation{may_wait ? forget(one->tag()) : nullptr};
        passed.push_back(std::move(one));
        passed.append(std::move(cancellation));
    }
    calls = std::move(passed);
}

// Callers leave only when nothing can fail any more, because those that have left must be answered.
void GrantCache::look(core::Instant now) {
    std::vector<std::pair<Record, core::LockCache::Publication>> publish_now;
    std::vector<Leaving> left;
    SubmittedCalls asking;
    SubmittedCalls timed_out;
    state_.with([&](State& state) {
        auto due = state.cache.take_due(now);
        publish_now.reserve(due.publish.size());
        left.reserve(due.give_back.size());
        for (auto& user : due.publish)
            publish_now.emplace_back(state.grants.at(user.grant).record, std::move(user));
        for (auto& back : due.give_back)
            left.push_back(leaving(state, std::move(back)));
        for (const auto& some : due.asking)
            asking.append(state.calls.leave(some));
        timed_out = state.calls.leave({std::move(due.timed_out)});
    });
    for (const auto& [grant, user] : publish_now)
        publish(*grant, user);
    for (const auto& one : left)
        send_back(one, {}, nullptr);
    send(std::move(asking));
    end(timed_out, Errc::timed_out);
}

core::Instant GrantCache::deadline() {
    return state_.with([](State& state) { return state.looks_at = state.cache.deadline(); });
}

void GrantCache::send_all() noexcept {
    send(state_.with([](State& state) {
        state.cache.clear_queues();
        state.looks_at = core::Instant::never();
        return state.calls.leave_all();
    }));
}

void GrantCache::close() noexcept {
    const auto refused = state_.with([](State& state) {
        state.is_closed = true;
        state.cache.end_all_loans();
        state.cache.clear_queues();
        auto all = state.calls.leave_all();
        state.calls.clear();
        return all;
    });
    end(refused, Errc::node_stopped);
}

// --- to the cluster -----------------------------------------------------------------------------

// A grant whose hold was made an ordinary one is in the list until it is released or lost.
GrantCache::Leaving GrantCache::leaving(State& state, core::LockCache::GiveBack back) {
    const auto found = state.grants.extract(back.grant);
    return {found.empty() ? nullptr : std::move(found.mapped().record), std::move(back.last)};
}

// A lost grant is not in the list any more, and there is nothing to send.
GivenBack GrantCache::send_back(const Leaving& leaving, core::CallTag tag,
                                std::shared_ptr<Completion> waiting) noexcept {
    if (!leaving.grant) return {};
    const auto& grant = leaving.grant;
    if (leaving.last) publish(*grant, *leaving.last);
    if (!grant->mark_released()) return {false, grant->failure()};
    return send_release(grant, tag, std::move(waiting));
}

// Without memory, or if the node has stopped, the cluster does not learn of the user.
void GrantCache::publish(const HoldRecord& grant,
                         const core::LockCache::Publication& user) noexcept {
    try {
        std::ignore = grant.gate()->submit(
            core::PublishCall{
                {}, user.grant, user.token, user.user.locker, user.user.label, user.ended},
            nullptr);
    } catch (const std::bad_alloc&) {
    }
}

}  // namespace mortise::detail
