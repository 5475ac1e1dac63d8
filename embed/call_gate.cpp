#include "embed/call_gate.hpp"

#include <utility>

#include <mortise/errc.hpp>

namespace mortise::detail {

namespace {

bool begins_something(const core::Call& call) {
    return std::holds_alternative<core::AcquireCall>(call) ||
           std::holds_alternative<core::InspectCall>(call) ||
           std::holds_alternative<core::ChangeCall>(call);
}

}  // namespace

std::error_code CallGate::submit(core::Call call, std::shared_ptr<Completion> completion) {
    if (generation_.is_forked()) return Errc::forked;
    return state_.with([&](State& state) -> std::error_code {
        if (!state.open) return Errc::node_stopped;
        CallPlace place;
        if (begins_something(call)) {
            const bool is_full = under_way_++ >= calls_max_;
            place.reset(&under_way_);
            refused_ += is_full;
            if (is_full) return Errc::resource_exhausted;
        }
        state.queue.push_back({std::move(call), std::move(completion), std::move(place)});
        if (state.queue.size() == 1) state.wake();
        return {};
    });
}

std::vector<Submitted> CallGate::take() {
    return state_.with([](State& state) { return std::exchange(state.queue, {}); });
}

std::vector<Submitted> CallGate::close() {
    return state_.with([](State& state) {
        state.open = false;
        state.wake = {};
        return std::exchange(state.queue, {});
    });
}

}  // namespace mortise::detail
