#include "embed/threads/call_gate.hpp"

#include <exception>
#include <iterator>
#include <utility>

#include "embed/threads/stage_trace.hpp"
#include "embed/values/clocks.hpp"
#include <mortise/errc.hpp>

namespace mortise::detail {

namespace {

bool is_acquiring(const SubmittedCall& call) {
    return call.is<core::AcquireCall>() || call.is<core::UpgradeCall>() ||
           call.is<core::InspectCall>() || call.is<core::ChangeCall>() ||
           call.is<core::WriteCall>() || call.is<core::AwaitCall>();
}

}  // namespace

std::error_code CallGate::submit(SubmittedCall call, std::shared_ptr<Completion> completion) {
    return submit(Submitted{std::move(call), std::move(completion)});
}

std::error_code CallGate::submit(Submitted one) {
    if (generation_.is_forked()) return Errc::forked;
    stage(Stage::submitted);
    return state_.with([&](State& state) -> std::error_code {
        if (!state.accepts(one.call)) return Errc::node_stopped;
        if (!admit(one)) return Errc::resource_exhausted;
        state.queue.push_back(std::move(one));
        wake(state);
        return {};
    });
}

// Counts an acquiring call; false if there are too many. A caller that waited in a local queue of
// this node began earlier.
bool CallGate::admit(Submitted& one) noexcept {
    if (!is_acquiring(one.call)) return true;
    auto* const acquire = one.call.get_if<core::AcquireCall>();
    if (acquire != nullptr && acquire->began == core::Instant{}) acquire->began = steady_now();
    const bool is_full = under_way_++ >= calls_max_;
    CallPlace place{&under_way_};
    if (is_full) {
        ++refused_;
        if (acquire != nullptr) ++refused_acquires_;
    } else {
        one.call.block()->place = std::move(place);
    }
    return !is_full;
}

std::error_code CallGate::submit(SubmittedCalls& prepared) noexcept {
    return submit(prepared, false);
}

std::error_code CallGate::submit_first(SubmittedCalls& prepared) noexcept {
    return submit(prepared, true);
}

std::error_code CallGate::submit(SubmittedCalls& prepared, bool first) noexcept {
    if (generation_.is_forked()) return Errc::forked;
    stage(Stage::submitted);
    return state_.with([&](State& state) -> std::error_code {
        if (prepared.empty() && state.open == Open::to_all) return {};
        if (prepared.empty() || !state.accepts(prepared.front().call)) return Errc::node_stopped;
        if (!admit(prepared.front())) return Errc::resource_exhausted;
        auto& queue = state.queue;
        queue.splice(first ? queue.begin() : queue.end(), prepared);
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
        auto& queue = state.queue;
        SubmittedCalls taken;
        if (queue.size() <= max) {
            taken.swap(queue);
        } else {
            const auto end = std::next(queue.begin(), static_cast<std::ptrdiff_t>(max));
            taken.splice(taken.begin(), queue, queue.begin(), end);
            wake(state);
        }
        return taken;
    });
}

SubmittedCalls CallGate::refuse_calls() {
    return state_.with([](State& state) {
        if (state.open == Open::to_all) state.open = Open::to_told;
        SubmittedCalls refused;
        auto& queue = state.queue;
        for (auto next = queue.begin(); next != queue.end();) {
            const auto one = next++;
            if (!state.accepts(one->call)) refused.splice(refused.end(), queue, one);
        }
        return refused;
    });
}

SubmittedCalls CallGate::close() {
    return state_.with([](State& state) {
        state.open = Open::to_none;
        state.wake = {};
        return std::exchange(state.queue, {});
    });
}

}  // namespace mortise::detail
