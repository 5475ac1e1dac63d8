// Suspends a node whose directory cannot be used for now, or not as it is: it leaves the cluster to
// the others until the same process has opened the directory again, as another run (restart.cpp).
#include <utility>

#include <asio/post.hpp>

#include "embed/runtime/core_loop.hpp"
#include "embed/runtime/network_side.hpp"
#include "embed/runtime/translate.hpp"
#include "embed/values/clocks.hpp"
#include <mortise/errc.hpp>

namespace mortise::detail {

// Called for a member that remembers more than this directory. It must not run within the step.
void CoreLoop::superseded() {
    driver_->halt();
    asio::post(parts_.io, [begin_anew = parts_.begin_anew] { begin_anew(); });
}

// Another node uses a copy of this directory. This node must not restart with an empty directory
// either, because it would replace the other node. It must not run within the step.
void CoreLoop::copied() {
    asio::post(parts_.io, [this] {
        if (ended_) return;
        fail(
            "other members are connected with a node that uses a copy of this data directory: "
            "stop that one, or remove this directory");
    });
}

void CoreLoop::suspend(const Suspension& cause) {
    driver_->halt();
    suspended_ = Suspended{cause.why, network_->listening_at()};
    ended_ = true;
    desk_.close();
    timer_.cancel();
    ages_.stop();
    network_->stop();
    network_->forget_connections();
    if (leader_ == options_.self) parts_.events.publish({.kind = NodeEvent::Kind::lost_leadership});
    leader_.reset();
    parts_.log.error("suspended", "takes no part for now: " + cause.why, {{"reason", cause.why}});
    parts_.events.publish(
        {.kind = NodeEvent::Kind::suspended, .text = cause.why, .error = cause.code});
    // The session is not renewed any more, and the next run has another one.
    program_.holds().lose_everything(LossReason::expired);
    program_.fail_pending(core::CallError::no_quorum, core::CallError::outcome_unknown);
    watch_ready();
    if (closing_.is_awaited()) return closing_.finish();
    let_calls_wait();
}

void CoreLoop::stay_suspended(const std::string& why) {
    suspended_->why = why;
    parts_.log.warn("still_suspended", "takes no part yet: " + why, {{"reason", why}});
}

void CoreLoop::let_calls_wait() {
    const auto now = steady_now();
    parts_.cache->send_all();
    auto taken = parts_.gate->take();
    parts_.cache->pass(taken);
    program_.waiting().add(std::move(taken), now, parts_.gate->call_timeout());
    program_.waiting().give_up(now);
    timer_.set_anew(program_.waiting().deadline(), [this](core::Instant /*due*/) {
        if (suspended_) let_calls_wait();
    });
}

SubmittedCalls CoreLoop::leave_calls() {
    suspended_.reset();
    timer_.cancel();
    return program_.waiting().take_all();
}

}  // namespace mortise::detail
