// A node whose descriptors the program closed, as daemons do it that close all they find. It stops
// at once and says so; and what would use its descriptors, or close them, is left alone for ever:
// their numbers are soon those of files of the program (docs/decisions/0034).
#include <new>

#include "embed/core_loop.hpp"
#include "embed/node_runtime.hpp"

namespace mortise::detail {

namespace {

constexpr const char* why_abandoned = "the program closed descriptors of the node";

// What must not be destroyed, kept where a search for leaks finds it.
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
    if (node->core_thread_.joinable()) node->close_here();
    if (node->has_descriptors()) {
        delete node;
    } else {
        keep_for_ever(node);
    }
}

// In place of io_.run(), which neither sleeps nor ends once the program has closed the descriptors
// of the loop. If the program opened an epoll of its own under that number, its events are not
// taken.
void NodeRuntime::run_loop() {
    constexpr auto look_again = std::chrono::milliseconds{100};
    while (!io_.stopped()) {
        if (is_abandoned_ || (!descriptors_.has_loop() && !has_descriptors())) {
            snapshot();
            return loop_->abandon(*readiness_.why_stopped());
        }
        io_.run_one_for(look_again);
    }
}

// On any thread. Looks at them now.
bool NodeRuntime::has_descriptors() noexcept {
    if (!is_abandoned_ && !descriptors_.is_whole()) abandon();
    return !is_abandoned_;
}

// The core thread ends by itself; the stores are closed like others, since their files know what is
// theirs.
void NodeRuntime::abandon() noexcept {
    if (is_abandoned_.exchange(true)) return;
    readiness_.stop(why_abandoned);
    try {
        lose_holds();
        refuse_calls();
        questions_.close();
        refuse_reopening();
    } catch (const std::bad_alloc&) {  // the core thread does it all again
    }
}

// Their owners are told as when a lease runs out, by whoever finds out.
void NodeRuntime::lose_holds() {
    const auto lease = leases_.watched();
    if (!lease) return;
    for (auto* const each : {lease.get(), lease->lasting().get()}) {
        if (each == nullptr) continue;
        each->end();
        for (const auto& hold : each->take_holds()) {
            hold->mark_lost(LossReason::node_stopped);
            losses_.post(hold);
        }
    }
}

}  // namespace mortise::detail
