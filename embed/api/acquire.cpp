// Acquires and releases of threads and handlers: <mortise/detail/start.hpp>.
#include <functional>
#include <new>
#include <utility>

#include "embed/api/acquire_order.hpp"
#include "embed/api/argument_errors.hpp"
#include "embed/api/async_call.hpp"
#include "embed/api/node_calls.hpp"
#include "embed/api/why_refused.hpp"
#include "embed/holds/grant_cache.hpp"
#include "embed/holds/locker_acquire.hpp"
#include "embed/holds/may_be_cached.hpp"
#include "embed/holds/release.hpp"
#include "embed/runtime/node_runtime.hpp"
#include "embed/threads/canceller.hpp"
#include <mortise/detail/start.hpp>
#include <mortise/errc.hpp>
#include <mortise/info.hpp>
#include <mortise/lock_error.hpp>

namespace mortise::detail {

namespace {

HoldWishes take_wishes(AcquireOptions& options) {
    return {std::move(options.on_at_risk), std::move(options.on_suspended),
            std::move(options.on_contended)};
}

Hold watched(Hold hold, HoldWishes wishes) {
    if (hold && wishes) HoldRecord::watch(HoldRecord::of(hold), std::move(wishes));
    return hold;
}

// Completes a call for a handler.
class WatchedFinish final : public Finish {
public:
    WatchedFinish(HoldWishes wishes, std::unique_ptr<Finish> next)
        : wishes_{std::move(wishes)}, next_{std::move(next)} {}

    void operator()(std::error_code ec, Hold hold) override {
        try {
            hold = watched(std::move(hold), std::move(wishes_));
        } catch (const std::bad_alloc&) {
            ec = Errc::resource_exhausted;
            hold = {};
        }
        (*next_)(ec, std::move(hold));
    }

private:
    HoldWishes wishes_;
    const std::unique_ptr<Finish> next_;
};

AsyncCall::Reading reading_of(Attempt attempt) {
    return [attempt](CallOutcome& outcome) { interpret(attempt, outcome); };
}

// A handler that asked for no details costs no memory for them.
AsyncCall::Reading reading_of(const AcquireOrder& order, const std::shared_ptr<NodeRuntime>& node) {
    if (order.detail == nullptr) return reading_of(order.attempt);
    return [attempt = order.attempt,
            detail = HandlerDetail{order.detail, node}](CallOutcome& outcome) {
        interpret(attempt, outcome);
        detail.add(outcome);
    };
}

// What the end of a handler needs to know of an order before its names have moved on.
void note(const AcquireOrder& order) {
    if (order.detail == nullptr) return;
    order.detail->name = blamed_name(order);
    order.detail->reason = unsound_arguments(order);
}

// A hold from a cached grant, if there is one. An acquire that is already cancelled gets none.
Hold from_cache(GrantCache& cache, const AcquireOrder& order) {
    if (!order.may_be_cached || order.options.cancel.stop_requested()) return {};
    return cache.take(order);
}

struct Asked {
    const std::shared_ptr<CallGate> gate;  // stays alive if the node is destroyed during the wait
    const std::shared_ptr<GrantCache> cache;
};

Hold ask_cluster(const Asked& node, const AcquireOrder& order, std::error_code& ec,
                 LockInfo* busy) {
    const auto& gate = node.gate;
    if (auto cached = from_cache(*node.cache, order)) return cached;
    if (order.options.cancel.stop_requested()) ec = Errc::cancelled;
    if (ec) return {};
    auto begun = begin(*gate, order);
    auto waiting = std::make_shared<WaitingThread>();
    begun->answer_to(waiting);
    Canceller canceller{gate, begun->tag(), order.options.cancel.stop_possible()};
    const core::Nanoseconds deadline{begun->get<core::AcquireCall>().deadline.ns};
    ec = node.cache->submit(std::move(begun));
    if (ec) return {};
    const std::stop_callback on_cancel{order.options.cancel, [&] { canceller.cancel(); }};
    auto outcome = waiting->answer_by(Deadline{deadline}, Errc::no_quorum);
    interpret(order.attempt, outcome);
    ec = outcome.error;
    if (order.detail != nullptr) add_answer(outcome, *order.detail);
    if (busy != nullptr) *busy = outcome.locks.empty() ? LockInfo{} : outcome.locks.front();
    return std::move(outcome.hold);
}

// After add() another thread may end the wait through release_all(), and so may the cancellation.
Hold ask_for_several(const Asked& node, const AcquireOrder& order, HoldWishes wishes,
                     std::error_code& ec, LockInfo* busy) {
    const auto locker = LockerState::of(order.options.locker);
    ec = locker->gate() == node.gate ? std::error_code{} : Errc::invalid_argument;
    if (ec) return {};
    auto hold = watched(ask_cluster(node, order, ec, busy), std::move(wishes));
    if (hold) locker->add(hold);
    return hold;
}

// An acquire of several names without sharing, or of one name for a locker.
Hold ask_in_turn(const Asked& node, std::shared_ptr<LockerState> locker, const AcquireOrder& order,
                 std::error_code& ec, LockInfo* busy) {
    if (!locker) return ask_cluster(node, order, ec, busy);
    auto nesting = begin_acquire(*locker, *node.gate, order);
    ec = nesting.error;
    if (!nesting.asks()) return std::move(nesting.nested);
    LockerAcquire asking{std::move(locker), order.name};
    return asking.ended(ask_cluster(node, order, ec, busy));
}

// Afterwards the order still says what was asked for, but has no wishes.
Hold ask(const std::shared_ptr<NodeRuntime>& node, AcquireOrder& order, std::error_code& ec,
         LockInfo* busy) {
    ec = check(order);
    if (ec) return {};
    const Asked asked{node->gate(), node->cache()};
    order.may_be_cached = may_be_cached(order);
    auto wishes = take_wishes(order.options);
    auto locker = order.is_shared ? LockerState::of(order.options.locker) : nullptr;
    if (locker && order.several) {
        return ask_for_several(asked, order, std::move(wishes), ec, busy);
    }
    return watched(ask_in_turn(asked, std::move(locker), order, ec, busy), std::move(wishes));
}

}  // namespace

Hold acquire(const std::shared_ptr<NodeRuntime>& node, AcquireOrder order, std::error_code& ec,
             LockInfo* busy) {
    return ask(node, order, ec, busy);
}

Hold acquire_or_throw(const std::shared_ptr<NodeRuntime>& node, AcquireOrder order,
                      LockInfo* busy) {
    std::error_code ec;
    ErrorDetail detail;
    order.detail = &detail;
    auto hold = is_gone(node, ec) ? Hold{} : ask(node, order, ec, busy);
    if (ec) refuse(node, ec, order, std::move(detail));
    return hold;
}

// Allocates everything before the call begins, so that a call that has begun always completes.
std::function<void()> start_acquire(const std::shared_ptr<NodeRuntime>& node, AcquireOrder order,
                                    std::unique_ptr<Finish> finish) {
    if (!node) {  // the Node was moved from
        finish_elsewhere(std::move(finish), Errc::node_stopped);
        return [] {};
    }
    const auto& gate = node->gate();
    note(order);  // the check puts the names in order
    auto bad = check(order);
    order.may_be_cached = !bad && may_be_cached(order);
    auto locker = LockerState::of(order.options.locker);
    LockerFinish* of_locker = nullptr;
    // inside the next block, where the sharing hold is already watched
    if (locker && order.several) {
        if (locker->gate() != gate) bad = Errc::invalid_argument;
        finish = std::make_unique<JoiningFinish>(std::exchange(locker, nullptr), std::move(finish));
    }
    if (auto wishes = take_wishes(order.options)) {
        finish = std::make_unique<WatchedFinish>(std::move(wishes), std::move(finish));
    }
    if (locker) {
        auto outer = std::make_unique<LockerFinish>(order.name, std::move(finish));
        of_locker = outer.get();
        finish = std::move(outer);
    }
    auto begun = begin(*gate, order);
    auto call =
        std::make_shared<AsyncCall>(gate, begun->tag(), reading_of(order, node), std::move(finish));
    std::function<void()> cancel = [call] { call->cancel(); };
    if (locker && !bad) {
        auto nesting = begin_acquire(*locker, *gate, order);
        if (!nesting.asks()) {
            call->complete({nesting.error, std::move(nesting.nested), {}});
            return cancel;
        }
        of_locker->begin(std::move(locker));
    }
    if (auto cached = from_cache(*node->cache(), order)) {
        call->complete({{}, std::move(cached), {}});
        return cancel;
    }
    // A call that is already cancelled is not begun.
    if (!bad && order.options.cancel.stop_requested()) bad = Errc::cancelled;
    begun->answer_to(call);
    if (!bad) bad = node->cache()->submit(std::move(begun));
    if (bad) {
        call->complete({bad, {}, {}});
    } else {
        call->cancel_with(order.options.cancel);
    }
    return cancel;
}

void start_release(Hold hold, std::unique_ptr<Finish> finish) {
    const auto record = HoldRecord::of(hold);
    if (!record) return finish_elsewhere(std::move(finish), Errc::not_held);
    auto call = std::make_shared<AsyncCall>(record->gate(), core::CallTag{},
                                            reading_of(Attempt::once), std::move(finish));
    HoldRecord::take(hold);
    const auto given = give_back(record, record->gate()->next_tag(), call);
    if (!given.asked) call->complete({given.error, {}, {}});
}

const std::shared_ptr<NodeRuntime>& runtime_of(const Node& node) {
    return NodeRuntime::of(node);
}

ThreadOwners& thread_owners(NodeRuntime& node) {
    return node.owners();
}

Locker new_locker(NodeRuntime& node) {
    return LockerState::locker(std::make_shared<LockerState>(node.gate(), std::string{}));
}

bool is_removed(NodeRuntime& node) {
    return node.is_removed();
}

std::string cluster_id(NodeRuntime& node) {
    return node.status().cluster_id;
}

void report_not_held(NodeRuntime& node, std::string_view name) {
    node.events().publish(
        {.kind = NodeEvent::Kind::not_held, .name = std::string{name}, .error = Errc::not_held});
}

}  // namespace mortise::detail
