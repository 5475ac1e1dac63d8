#include "tests/sim/load/call_drawing.hpp"

#include <algorithm>

#include "core/locks/limits.hpp"

namespace mortise::sim {

std::string CallDrawing::name() {
    return "name" + std::to_string(prng_.below(swarm_.workload.names));
}

core::LockMode CallDrawing::any_mode() {
    return core::all_lock_modes[prng_.below(core::lock_modes)];
}

core::LockMode CallDrawing::mode() {
    const auto kind = prng_.below(100);
    if (kind < 30) return core::LockMode::shared;
    if (kind < 40) return any_mode();
    const bool converts = kind < 60 && swarm_.workload.conversion_percent != 0;
    return converts ? core::LockMode::update : core::LockMode::exclusive;
}

core::Instant CallDrawing::deadline(core::Instant now, std::int64_t timeouts_max) {
    if (prng_.one_in(3)) return core::Instant::never();
    const auto most = timeouts_max * swarm_.election_timeout.count();
    return now + core::Nanoseconds{prng_.between(0, most)};
}

void CallDrawing::dress(core::Acquire& request) {
    request.wait = !prng_.one_in(3);
    if (prng_.one_in(4)) request.label = "worker " + std::to_string(prng_.below(10));
    request.policy = swarm_.workload.policy;
    request.policy_given = prng_.one_in(8);
    // Sometimes a request has another policy.
    if (prng_.one_in(20)) {
        request.policy = queue_policies[prng_.below(queue_policies.size())];
    }
    if (prng_.below(100) < swarm_.workload.priority_percent) {
        request.priority = static_cast<core::Priority>(prng_.below(core::priority_max + 1));
    }
    if (percent(swarm_.workload.locker_percent)) request.locker = locker();
    if (percent(swarm_.workload.terms_percent)) request.terms = terms();
}

bool CallDrawing::percent(std::uint64_t chance) {
    return chance != 0 && prng_.below(100) < chance;
}

// A program has a few lockers, and labels most of them.
core::LockerTag CallDrawing::locker() {
    const auto number = 1 + prng_.below(3);
    if (number == 3) return {number, {}};
    return {number, "locker " + std::to_string(number)};
}

// A max_hold may end long before its lease, or never matter; names stay closed for less than a
// session.
core::HoldTerms CallDrawing::terms() {
    const auto up_to = [&](std::uint32_t most) {
        return static_cast<std::uint32_t>(1 + prng_.below(most));
    };
    const auto ttl = swarm_.session_ttl_ms;
    core::HoldTerms terms;
    if (prng_.one_in(2)) terms.max_hold_ms = up_to(prng_.one_in(2) ? ttl / 2 : 2 * ttl);
    if (prng_.one_in(4)) terms.min_hold_ms = up_to(ttl / 4);
    if (prng_.one_in(3)) terms.lock_delay_ms = up_to(ttl / 4);
    return terms;
}

core::AcquireCall CallDrawing::acquire(core::Instant now) {
    core::AcquireCall call;
    call.request.names.push_back({name(), mode()});
    dress(call.request);
    call.deadline = deadline(now, 8);
    call.suspends = percent(swarm_.workload.suspend_percent);
    return call;
}

core::AcquireCall CallDrawing::acquire_several(core::Instant now) {
    constexpr std::uint64_t most = 4;
    core::AcquireCall call;
    const auto all = prng_.one_in(2);
    call.request.which = all ? core::Acquire::Which::all : core::Acquire::Which::any;
    auto& names = call.request.names;
    for (auto left = 1 + prng_.below(std::min(swarm_.workload.names, most)); left > 0; --left) {
        const core::NamedMode wanted{name(), mode()};
        const auto same = std::ranges::find(names, wanted.name, &core::NamedMode::name);
        if (same == names.end()) names.push_back(wanted);
    }
    // Requests for all names must be in ascending order, or they are refused.
    if (all && !prng_.one_in(40)) std::ranges::sort(names, {}, &core::NamedMode::name);
    dress(call.request);
    call.deadline = deadline(now, 8);
    call.suspends = percent(swarm_.workload.suspend_percent);
    return call;
}

// Names of their own, so that locks and semaphores meet only now and then.
std::string CallDrawing::pool() {
    return "pool" + std::to_string(prng_.below(2));
}

core::AcquireCall CallDrawing::acquire_permits(core::Instant now) {
    core::AcquireCall call;
    auto& request = call.request;
    dress(request);
    request.names.push_back({prng_.one_in(30) ? name() : pool()});
    request.permits = 1 + static_cast<std::uint32_t>(prng_.below(prng_.one_in(6) ? 6 : 3));
    request.limit = prng_.one_in(8) ? 1 + static_cast<std::uint32_t>(prng_.below(6)) : 3;
    if (prng_.one_in(20)) request.permits = request.limit = 0;
    if (!prng_.one_in(30)) {  // these are not for permits
        request.policy = {};
        request.policy_given = false;
        request.locker = {};
    }
    call.deadline = deadline(now, 8);
    call.suspends = percent(swarm_.workload.suspend_percent);
    return call;
}

core::WriteCall CallDrawing::resize_or_remove(core::CallTag tag) {
    if (prng_.one_in(3)) return {tag, {}, core::Remove{prng_.one_in(8) ? name() : pool()}};
    core::Resize resize{pool(), static_cast<std::uint32_t>(prng_.below(7)), 0};
    if (prng_.one_in(2)) resize.expected_version = 1 + prng_.below(6);
    return {tag, {}, std::move(resize)};
}

// Names of their own: a latch stays until it is removed, and a lock of that name could never be
// had. Semaphores meet them now and then.
std::string CallDrawing::latch() {
    return prng_.one_in(30) ? pool() : "latch" + std::to_string(prng_.below(2));
}

core::AwaitCall CallDrawing::await_latch(core::Instant now, core::CallTag tag) {
    const auto expected = static_cast<std::uint32_t>(prng_.below(6));
    const auto most = 8 * swarm_.election_timeout.count();
    return {tag, core::AwaitLatch{latch(), expected, "wait " + std::to_string(tag.raw())},
            now + core::Nanoseconds{prng_.between(0, most)}};
}

core::WriteCall CallDrawing::count_or_remove(core::CallTag tag) {
    if (prng_.one_in(6)) return {tag, {}, core::Remove{latch()}};
    const auto expected = static_cast<std::uint32_t>(prng_.below(6));
    return {
        tag, {}, core::CountDown{latch(), expected, static_cast<std::uint32_t>(prng_.below(3))}};
}

std::string CallDrawing::barrier() {
    return prng_.one_in(30) ? latch() : "barrier" + std::to_string(prng_.below(2));
}

core::AwaitCall CallDrawing::arrive(core::Instant now, core::CallTag tag) {
    const auto parties = static_cast<std::uint32_t>(2 + prng_.below(2));
    const auto most = 8 * swarm_.election_timeout.count();
    return {tag, core::Arrive{barrier(), parties, false, "arrival " + std::to_string(tag.raw())},
            now + core::Nanoseconds{prng_.between(0, most)}};
}

// A barrier breaks often here, and is of no use until it is removed.
core::WriteCall CallDrawing::drop_or_remove(core::CallTag tag) {
    if (!prng_.one_in(3)) return {tag, {}, core::Remove{barrier()}};
    const auto parties = static_cast<std::uint32_t>(2 + prng_.below(2));
    return {tag, {}, core::Arrive{barrier(), parties, true}};
}

core::Call CallDrawing::conversion(core::OperationId hold, core::LockMode held, core::Instant now) {
    using enum core::LockMode;
    const bool may = held == update || held == shared;
    if (may ? prng_.below(4) != 0 : prng_.one_in(8)) {
        return core::UpgradeCall{{}, hold, !prng_.one_in(3), deadline(now, 4)};
    }
    auto mode = any_mode();
    for (auto tries = 0; !core::covers(held, mode) && tries < 4; ++tries)
        mode = any_mode();
    return core::DowngradeCall{{}, hold, mode};
}

core::InspectCall CallDrawing::inspect() {
    core::InspectCall inspect;
    inspect.is_prefix = prng_.one_in(3);
    inspect.name = inspect.is_prefix ? "name" : name();
    if (percent(swarm_.workload.semaphore_percent)) inspect.name = inspect.is_prefix ? "" : pool();
    inspect.limit = 10;
    return inspect;
}

// No confirm waits without a limit.
core::ConfirmCall CallDrawing::confirm(core::OperationId hold, core::Instant now) {
    const auto most = 8 * swarm_.election_timeout.count();
    return {{}, hold, now + core::Nanoseconds{prng_.between(0, most)}};
}

// Most calls write; some declare the value consistent, whether or not it is dirty.
core::WriteCall CallDrawing::write(core::OperationId hold, const std::string& name,
                                   core::CallTag tag) {
    if (prng_.one_in(4)) return {tag, hold, core::MarkConsistent{hold.seq, name}};
    if (prng_.one_in(6)) return {tag, hold, core::SetValue{hold.seq, name, {}}};
    const auto bytes = "written by call " + std::to_string(tag.raw());
    return {tag, hold, core::SetValue{hold.seq, name, bytes}};
}

core::WriteCall CallDrawing::ask_for(const std::string& name, core::CallTag tag) {
    return {tag, {}, core::AskRelease{name, "call " + std::to_string(tag.raw())}};
}

core::WriteCall CallDrawing::evict(core::SessionId session, core::CallTag tag) {
    return {tag, {}, core::EvictSession{session, "call " + std::to_string(tag.raw())}};
}

// Sometimes with the token of another holder, or without patience.
core::WriteCall CallDrawing::take_away(const std::string& name, core::FencingToken token,
                                       core::CallTag tag) {
    core::BreakLock request{name, token, "call " + std::to_string(tag.raw()), prng_.one_in(6)};
    if (prng_.one_in(12)) request.expected = token.next();
    return {tag, {}, std::move(request)};
}

}  // namespace mortise::sim
