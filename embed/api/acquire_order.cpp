#include "embed/api/acquire_order.hpp"

#include <algorithm>
#include <functional>
#include <set>
#include <string>
#include <utility>

#include "embed/api/argument_errors.hpp"
#include "embed/runtime/translate.hpp"
#include <mortise/errc.hpp>

namespace mortise::detail {

namespace {

// A name that is listed twice counts once.
void collapse(SeveralNames& several) {
    std::set<std::string, std::less<>> known;
    std::erase_if(several.requests,
                  [&](const LockRequest& one) { return !known.insert(one.name).second; });
    if (several.all) std::ranges::sort(several.requests, {}, &LockRequest::name);
}

core::AcquireCall to_call(core::CallTag tag, const AcquireOrder& order, core::Instant deadline,
                          bool wait) {
    const auto& options = order.options;
    core::AcquireCall call{tag, to_request(options, wait), deadline};
    call.suspends = options.on_uncertain == OnUncertain::suspend;
    if (options.progress_timeout.is_set())
        call.progress_timeout = options.progress_timeout.to_nanoseconds();
    call.may_be_cached = order.may_be_cached;
    auto& request = call.request;
    if (order.permits) {
        request.permits = order.permits->count;
        request.limit = order.permits->limit;
    }
    if (!order.several) {
        request.names.push_back({order.name, to_core(options.mode)});
        return call;
    }
    if (order.several->all) request.which = core::Acquire::Which::all;
    for (const auto& [name, mode] : order.several->requests)
        request.names.push_back({name, to_core(mode)});
    return call;
}

}  // namespace

core::Instant to_instant(Deadline deadline) {
    return deadline == Deadline::max() ? core::Instant::never()
                                       : core::Instant{deadline.time_since_epoch().count()};
}

std::error_code check(AcquireOrder& order) {
    if (!unsound_arguments(order).empty()) return Errc::invalid_argument;
    if (order.several) collapse(*order.several);
    return {};
}

std::shared_ptr<Submitted> begin(CallGate& gate, const AcquireOrder& order) {
    const auto now = std::chrono::steady_clock::now();
    auto deadline = order.attempt == Attempt::wait ? now + order.options.wait_max : order.deadline;
    const bool once = order.attempt == Attempt::once || deadline <= now;
    if (once) deadline = now + Duration{gate.call_timeout()};
    return prepared(to_call(gate.next_tag(), order, to_instant(deadline), !once));
}

void interpret(Attempt attempt, CallOutcome& outcome) {
    if (attempt == Attempt::until && outcome.error == Errc::timed_out) outcome.error.clear();
    const bool is_busy = !outcome.error && !outcome.hold;
    if (attempt == Attempt::wait && is_busy) outcome.error = Errc::timed_out;
}

}  // namespace mortise::detail
