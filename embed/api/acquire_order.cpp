#include "embed/api/acquire_order.hpp"

#include <algorithm>
#include <map>
#include <utility>

#include "core/locks/limits.hpp"
#include "embed/runtime/translate.hpp"
#include <mortise/errc.hpp>

namespace mortise::detail {

namespace {

// False if a name is requested in two modes (S32).
bool collapse(std::vector<LockRequest>& requests) {
    std::map<std::string, LockMode, std::less<>> modes;
    bool agree = true;
    std::erase_if(requests, [&](const LockRequest& one) {
        const auto [known, is_new] = modes.emplace(one.name, one.mode);
        agree = agree && known->second == one.mode;
        return !is_new;
    });
    return agree;
}

std::error_code check(SeveralNames& several, const AcquireOptions& options) {
    // no priority is possible for a request of all names
    const bool is_odd = several.all && options.priority != 0;
    const bool is_sound = !is_odd && collapse(several.requests) && !several.requests.empty() &&
                          several.requests.size() <= core::names_at_once_max;
    if (!is_sound) return Errc::invalid_argument;
    for (const auto& one : several.requests) {
        if (const auto bad = check_request(one.name, one.mode)) return bad;
    }
    if (several.all) std::ranges::sort(several.requests, {}, &LockRequest::name);
    return {};
}

// Any holder can let a waiter in, so a locker would not be told of a deadlock (S33, S34).
bool is_possible(const Permits& permits, const AcquireOptions& options) {
    return permits.count >= 1 && permits.count <= core::permits_max && permits.limit >= 1 &&
           permits.limit <= core::semaphore_limit_max && options.mode == LockMode::exclusive &&
           !options.queue_policy && options.locker == Locker{};
}

core::AcquireCall to_call(core::CallTag tag, AcquireOrder& order, core::Instant deadline,
                          bool wait) {
    const bool suspends = order.options.on_uncertain == OnUncertain::suspend;
    core::AcquireCall call{tag, to_request(order.options, wait), deadline, suspends};
    auto& request = call.request;
    if (order.permits) {
        request.permits = order.permits->count;
        request.limit = order.permits->limit;
    }
    if (!order.several) {
        request.names.push_back({order.name, to_core(order.options.mode)});
        return call;
    }
    if (order.several->all) request.which = core::Acquire::Which::all;
    for (auto& [name, mode] : order.several->requests)
        request.names.push_back({std::move(name), to_core(mode)});
    return call;
}

}  // namespace

core::Instant to_instant(Deadline deadline) {
    return deadline == Deadline::max() ? core::Instant::never()
                                       : core::Instant{deadline.time_since_epoch().count()};
}

std::error_code check(AcquireOrder& order) {
    // A single attempt does not wait, so a time limit for it is an error.
    if (order.attempt == Attempt::once && order.options.wait_max.is_set()) {
        return Errc::invalid_argument;
    }
    if (const auto bad = check_options(order.options)) return bad;
    if (order.permits && !is_possible(*order.permits, order.options)) return Errc::invalid_argument;
    return order.several ? check(*order.several, order.options)
                         : check_request(order.name, order.options.mode);
}

Submitted begin(CallGate& gate, AcquireOrder& order) {
    const auto now = std::chrono::steady_clock::now();
    if (order.attempt == Attempt::wait) order.deadline = now + order.options.wait_max;
    const bool once = order.attempt == Attempt::once || order.deadline <= now;
    if (once && order.attempt == Attempt::until) order.attempt = Attempt::once;
    const auto deadline = once ? now + Duration{gate.call_timeout()} : order.deadline;
    Submitted begun;
    begun.call = to_call(gate.next_tag(), order, to_instant(deadline), !once);
    const auto progress = order.options.progress_timeout;
    begun.call.set_terms(progress.is_set() ? progress.to_nanoseconds() : core::Nanoseconds{0},
                         order.may_be_cached);
    return begun;
}

Deadline gives_up(const Submitted& acquire) {
    const auto deadline = acquire.call.get<core::AcquireCall>().deadline;
    if (deadline == core::Instant::never()) return Deadline::max();
    return Deadline{core::Nanoseconds{deadline.ns}} + Duration{slack};
}

void interpret(Attempt attempt, CallOutcome& outcome) {
    if (attempt == Attempt::until && outcome.error == Errc::timed_out) outcome.error.clear();
    const bool is_busy = !outcome.error && !outcome.hold;
    if (attempt == Attempt::wait && is_busy) outcome.error = Errc::timed_out;
}

}  // namespace mortise::detail
