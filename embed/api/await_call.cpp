#include "embed/api/await_call.hpp"

#include <stop_token>
#include <utility>

#include "embed/threads/canceller.hpp"
#include <mortise/errc.hpp>

namespace mortise::detail {

namespace {

constexpr std::string_view broken =
    "the session of a party has ended, or a party gave up: the barrier is broken until it is "
    "removed";
constexpr std::string_view too_many = "all parties of the barrier are known, and this is another";
constexpr std::string_view too_few = "less than that remains to be counted";

}  // namespace

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

std::string_view why_refused(WaitOrder::Kind kind, std::error_code error) {
    const bool is_barrier = kind == WaitOrder::Kind::barrier;
    if (is_barrier && error == Errc::session_expired) return broken;
    if (is_barrier && error == Errc::invalid_argument) return too_many;
    const bool is_count = kind == WaitOrder::Kind::count && error == Errc::invalid_argument;
    return is_count ? too_few : std::string_view{};
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
    Canceller canceller{gate, call.tag, options.cancel.stop_possible()};
    if (const auto refused = gate->submit(std::move(call), waiting)) return {refused, {}};
    const std::stop_callback on_cancel{options.cancel, [&] { canceller.cancel(); }};
    auto outcome = waiting->answer_by(deadline, Errc::no_quorum);
    return {outcome.error, std::move(outcome.reason)};
}

}  // namespace mortise::detail
