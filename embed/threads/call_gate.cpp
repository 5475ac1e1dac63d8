#include "embed/threads/call_gate.hpp"

#include <exception>
#include <utility>

#include "embed/threads/stage_trace.hpp"
#include "embed/values/clocks.hpp"
#include <mortise/errc.hpp>

namespace mortise::detail {

namespace {

bool is_acquiring(const Submitted& call) {
    return call.is<core::AcquireCall>() || call.is<core::UpgradeCall>() ||
           call.is<core::InspectCall>() || call.is<core::ChangeCall>() ||
           call.is<core::WriteCall>() || call.is<core::AwaitCall>();
}

}  // namespace

std::error_code CallGate::submit(core::Call call, std::shared_ptr<Completion> completion) {
    auto one = prepared(std::move(call));
    one->answer_to(std::move(completion));
    return submit(one);
}

// Counts an acquiring call; false if there are too many. A caller that waited in a local queue of
// this node began earlier.
bool CallGate::admit(Submitted& one) noexcept {
    if (!is_acquiring(one)) return true;
    auto* const acquire = one.get_if<core::AcquireCall>();
    if (acquire != nullptr && acquire->began == core::Instant{}) acquire->began = steady_now();
    const bool is_full = under_way_++ >= calls_max_;
    CallPlace place{&under_way_};
    if (is_full) {
        ++refused_;
        if (acquire != nullptr) ++refused_acquires_;
    } else {
        one.as_call()->place = std::move(place);
    }
    return !is_full;
}

std::error_code CallGate::submit(std::shared_ptr<Submitted>& prepared) noexcept {
    return submit(prepared, false);
}

std::error_code CallGate::submit_first(std::shared_ptr<Submitted>& prepared) noexcept {
    return submit(prepared, true);
}

std::error_code CallGate::submit(std::shared_ptr<Submitted>& prepared, bool first) noexcept {
    if (generation_.is_forked()) return Errc::forked;
    stage(Stage::submitted);
    return state_.with([&](State& state) -> std::error_code {
        if (!prepared && state.open == Open::to_all) return {};
        if (!prepared || !state.accepts(*prepared)) return Errc::node_stopped;
        if (!admit(*prepared)) return Errc::resource_exhausted;
        auto& queue = state.queue;
        first ? queue.push_front(std::move(prepared)) : queue.push_back(std::move(prepared));
        wake(state);
        return {};
    });
}

void CallGate::wake_up() noexcept {
    if (generation_.is_forked()) return;
    state_.with([](State& state) {
        if (state.open != Open::to_none) wake(state);
    });
}

void CallGate::wake(State& state) noexcept {
    if (state.is_awake) return;
    try {
        state.wake();
        state.is_awake = true;
        // no memory: the core thread checks the queue by itself at intervals
    } catch (const std::exception&) {
    }
}

SubmittedCalls CallGate::take(std::size_t max) {
    return state_.with([max](State& state) {
        state.is_awake = false;
        auto taken = state.queue.take(max);
        if (!state.queue.empty()) wake(state);
        return taken;
    });
}

SubmittedCalls CallGate::refuse_calls() {
    return state_.with([](State& state) {
        if (state.open == Open::to_all) state.open = Open::to_told;
        return state.queue.take_if([&](const Submitted& one) { return !state.accepts(one); });
    });
}

SubmittedCalls CallGate::close() {
    return state_.with([](State& state) {
        state.open = Open::to_none;
        state.wake = {};
        return std::move(state.queue);
    });
}

}  // namespace mortise::detail
