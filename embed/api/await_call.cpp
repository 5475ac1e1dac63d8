#include "embed/api/await_call.hpp"

#include <stop_token>
#include <utility>

#include "embed/threads/canceller.hpp"
#include <mortise/errc.hpp>

namespace mortise::detail {

Deadline deadline_of(Duration wait_max) {
    return wait_max.is_set() ? std::chrono::steady_clock::now() + wait_max : Deadline::max();
}

bool has_passed(std::error_code& ec) {
    const bool passed = !ec;
    if (ec == Errc::timed_out) ec.clear();
    return passed;
}

bool is_open_latch(CallOutcome& inspected, std::ptrdiff_t expected) {
    if (inspected.error) return false;
    const bool is_known = !inspected.locks.empty() && inspected.locks.front().is_used();
    if (!is_known) return expected == 0;
    const auto& latch = inspected.locks.front().latch;
    if (!latch) inspected.error = Errc::kind_mismatch;
    return latch && latch->remaining == 0;
}

Awaited await(const std::shared_ptr<NodeRuntime>& runtime, std::string_view unsound,
              core::RequestBody body, Deadline deadline, const WaitOptions& options) {
    if (!runtime) return {Errc::node_stopped, {}};
    if (runtime->is_forked()) return {Errc::forked, {}};
    if (!unsound.empty()) return {Errc::invalid_argument, std::string{unsound}};
    if (options.cancel.stop_requested()) return {Errc::cancelled, {}};
    // keeps the gate alive if the node is destroyed during the wait
    const auto gate = runtime->gate();
    auto waiting = std::make_shared<WaitingThread>();
    core::AwaitCall call{gate->next_tag(), std::move(body), to_instant(deadline)};
    Canceller canceller{gate, call.tag};
    if (const auto refused = gate->submit(std::move(call), waiting)) return {refused, {}};
    const std::stop_callback on_cancel{options.cancel, [&] { canceller.cancel(); }};
    const auto gives_up = deadline == Deadline::max() ? deadline : deadline + Duration{slack};
    auto outcome = waiting->wait_until(gives_up);
    if (!outcome) {
        canceller.cancel();
        return {Errc::no_quorum, {}};
    }
    return {outcome->error, std::move(outcome->reason)};
}

}  // namespace mortise::detail
