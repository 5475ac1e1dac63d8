// Abandons a node whose descriptors the program has closed, as daemons do that close all
// descriptors. The node stops at once and reports why. Whatever would use or close its descriptors
// is never touched again, because their numbers soon belong to files of the program
// (docs/decisions/0034).
#include <new>
#include <thread>

#include "embed/runtime/core_loop.hpp"
#include "embed/runtime/node_runtime.hpp"
#include "embed/threads/idle_poll.hpp"
#include "embed/values/clocks.hpp"

namespace mortise::detail {

namespace {

constexpr const char* why_abandoned = "the program closed descriptors of the node";

// Objects that must not be destroyed; a leak checker still finds them reachable here.
struct Abandoned {
    NodeRuntime* node = nullptr;
    Abandoned* next = nullptr;
};
std::atomic<Abandoned*> all_abandoned{nullptr};

void keep_for_ever(NodeRuntime* node) noexcept {
    auto* const kept = new (std::nothrow) Abandoned{node, all_abandoned.load()};
    while (kept != nullptr && !all_abandoned.compare_exchange_weak(kept->next, kept)) {
    }
}

}  // namespace

void NodeRuntime::destroy(NodeRuntime* node) noexcept {
    if (node->is_forked()) return;
    if (node->core_.is_started()) node->closing_.here();
    if (node->has_descriptors()) {
        delete node;
    } else {
        keep_for_ever(node);
    }
}

// Replaces io_context::run(), which neither sleeps nor ends once the program has closed the
// descriptors of the loop. If the program has opened an epoll of its own with the same number, this
// does not take its events.
void NodeRuntime::run_loop() {
    constexpr auto look_again = std::chrono::milliseconds{100};
    IdlePoll idle{config_.limits.polling};
    while (!core_.io().stopped()) {
        if (is_abandoned_ || (!descriptors_.has_loop() && !has_descriptors())) {
            snapshot();
            return loop().abandon(*readiness_.why_stopped());
        }
        if (core_.io().poll_one() == 0) {
            if (idle.looks_again(steady_now())) {
                std::this_thread::yield();
                idle.yielded(steady_now());
                continue;
            }
            core_.io().run_one_for(look_again);
        }
        idle.found_work(steady_now());
    }
}

// Checks the descriptors now. May be called on any thread.
bool NodeRuntime::has_descriptors() noexcept {
    if (!is_abandoned_ && !descriptors_.is_whole()) abandon();
    return !is_abandoned_;
}

// The core thread ends by itself. The stores are closed as usual, since their files know which
// descriptors are still their own.
void NodeRuntime::abandon() noexcept {
    // The reason comes first, because the loop reads it as soon as it sees is_abandoned_.
    readiness_.stop(why_abandoned);
    if (is_abandoned_.exchange(true)) return;
    try {
        lose_holds();
        refuse_calls();
        core_.questions().close();
        reopening_.refuse();
    } catch (const std::bad_alloc&) {  // the core thread repeats this
    }
}

// The owners are notified as when a lease ends, by the thread that detects the closed descriptors.
void NodeRuntime::lose_holds() {
    const auto lease = leases_.watched();
    if (!lease) return;
    for (auto* const each : {lease.get(), lease->lasting().get()}) {
        if (each == nullptr) continue;
        each->end();
        for (const auto& hold : each->holds()) {
            if (hold->mark_lost(LossReason::node_stopped)) threads_.losses().post(hold);
        }
    }
}

}  // namespace mortise::detail
