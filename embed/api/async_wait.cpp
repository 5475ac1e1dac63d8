// Waits and counts of handlers: <mortise/async_wait.hpp>.
#include <utility>

#include "embed/api/argument_errors.hpp"
#include "embed/api/async_call.hpp"
#include "embed/api/await_call.hpp"
#include "embed/api/why_refused.hpp"
#include <mortise/barrier.hpp>
#include <mortise/latch.hpp>

namespace mortise::detail {

namespace {

using WaitKind = WaitOrder::Kind;

std::string_view unsound_part(const WaitOrder& order) {
    switch (order.kind) {
        case WaitKind::latch: return unsound_wait(order.name, order.options);
        case WaitKind::count: return unsound_count_down(order.name, order.count);
        case WaitKind::barrier: return unsound_arrival(order.name, order.has_time, order.options);
    }
    return {};
}

// A wait that is over at its start asks once.
bool only_looks(const WaitOrder& order) {
    return order.kind == WaitKind::latch && !order.has_time;
}

core::Call call_of(core::CallTag tag, const WaitOrder& order) {
    const auto size = static_cast<std::uint32_t>(order.size);
    const auto deadline = to_instant(order.deadline);
    if (order.kind == WaitKind::count) {
        const auto count = static_cast<std::uint32_t>(order.count);
        return core::WriteCall{tag, {}, core::CountDown{order.name, size, count}};
    }
    if (order.kind == WaitKind::barrier) {
        core::Arrive arrival{order.name, size, false, order.options.label};
        return core::AwaitCall{tag, std::move(arrival), deadline};
    }
    if (!only_looks(order)) {
        core::AwaitLatch wait{order.name, size, order.options.label};
        return core::AwaitCall{tag, std::move(wait), deadline};
    }
    core::InspectCall look;
    look.tag = tag;
    look.name = order.name;
    return look;
}

AsyncCall::Reading reading_of(const WaitOrder& order, const HandlerDetail& detail) {
    return [kind = order.kind, looks = only_looks(order), expected = order.size,
            detail](CallOutcome& outcome) {
        const bool is_open = !looks || is_open_latch(outcome, expected);
        if (!outcome.error && !is_open) outcome.error = Errc::timed_out;
        detail.add(outcome, why_refused(kind, outcome.error));
    };
}

}  // namespace

// Allocates everything before the call begins, so that a call that has begun always completes.
std::function<void()> start_wait(const std::shared_ptr<NodeRuntime>& node, const WaitOrder& order,
                                 std::unique_ptr<Finish> finish) {
    if (!node) {  // the object was moved from
        finish_elsewhere(std::move(finish), Errc::node_stopped);
        return [] {};
    }
    const auto& gate = node->gate();
    const auto tag = gate->next_tag();
    auto submitted = prepared(call_of(tag, order));
    const auto unsound = unsound_part(order);
    if (order.detail != nullptr) {
        order.detail->name = order.name;
        order.detail->reason = unsound;
    }
    auto call = std::make_shared<AsyncCall>(gate, tag, reading_of(order, {order.detail, node}),
                                            std::move(finish));
    std::function<void()> cancel = [call] { call->cancel(); };
    std::error_code bad;
    if (!unsound.empty()) bad = Errc::invalid_argument;
    // A call that is already cancelled is not begun.
    if (!bad && order.options.cancel.stop_requested()) bad = Errc::cancelled;
    submitted->answer_to(call);
    if (!bad) bad = gate->submit(submitted);
    if (bad) {
        call->complete({bad, {}, {}});
    } else {
        call->cancel_with(order.options.cancel);
    }
    return cancel;
}

const std::shared_ptr<NodeRuntime>& runtime_of(const Latch& latch) {
    return latch.node_;
}

WaitOrder order_of(const Latch& latch, WaitOptions options, Deadline deadline) {
    return {WaitKind::latch, latch.name_, latch.expected_, 0, std::move(options), deadline};
}

WaitOrder count_of(const Latch& latch, std::ptrdiff_t n) {
    return {WaitKind::count, latch.name_, latch.expected_, n, {}, Deadline::max()};
}

const std::shared_ptr<NodeRuntime>& runtime_of(const Barrier& barrier) {
    return barrier.node_;
}

WaitOrder order_of(const Barrier& barrier, WaitOptions options, Deadline deadline) {
    return {WaitKind::barrier, barrier.name_, barrier.parties_, 0, std::move(options), deadline};
}

}  // namespace mortise::detail
