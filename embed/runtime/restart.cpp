// Another run of the node in the same process: after a full disk or a shortage of descriptors, and
// after its directory was superseded. The failed stores are closed and never used again. What was
// acknowledged is found by opening the directory, as at any start (storage/README.md).
#include <algorithm>
#include <system_error>

#include "embed/runtime/core_loop.hpp"
#include "embed/runtime/log_thread.hpp"
#include "embed/runtime/node_runtime.hpp"
#include "embed/runtime/state_thread.hpp"
#include "embed/threads/thread_start.hpp"
#include "storage/directory/data_directory.hpp"

namespace mortise::detail {

namespace {

using namespace std::chrono_literals;

constexpr auto try_again_min = 100ms;
constexpr auto try_again_max = 5s;

}  // namespace

// --- on the core thread

// Without other members none could have detected this, and no other node has the data that would be
// moved aside.
void NodeRuntime::begin_anew() {
    const std::string why =
        "its data directory was rolled back, or is a copy of one that was used since";
    if (config_.peers.empty() || config_.memory_only) {
        loop_->fail(why);
    } else {
        suspend({why}, incarnation_);
    }
}

void NodeRuntime::suspend(const Suspension& cause, core::Incarnation superseded) {
    if (is_suspended_ || readiness_.why_stopped()) return;
    is_suspended_ = true;
    ++life_;
    loop_->suspend(cause);
    begin_reopening(superseded, try_again_min);
}

void NodeRuntime::begin_reopening(core::Incarnation superseded, std::chrono::milliseconds pause) {
    const std::scoped_lock lock{reopening_};
    if (reopening_stopped_) return;
    if (reopener_.joinable()) reopener_.join();  // the previous thread has finished its work
    reopener_ = start_thread_named("mortise-reopen", [this, superseded, pause] {
        run_or_fail([&] { reopen(superseded, pause); },
                    [&](const std::string& broken) {
                        asio::post(io_, [this, broken] { loop().fail(broken); });
                    });
    });
}

// The program still runs, so the holds of the former run may still be in use: its session expires
// by itself (S10).
void NodeRuntime::resume(storage::Opened opened, std::chrono::milliseconds pause) {
    if (readiness_.why_stopped()) return;
    opened.former_life_ended = false;
    std::shared_ptr<CoreLoop> former;
    try {
        former = begin_life(std::move(opened), loop_->passed_on());
    } catch (const std::system_error& wanting) {
        // Its port or a thread is missing, which another program may use for a while.
        loop_->stay_suspended(wanting.what());
        return begin_reopening({}, std::min<std::chrono::milliseconds>(2 * pause, try_again_max));
    } catch (const std::exception& broken) {
        return loop_->fail(broken.what());
    }
    is_suspended_ = false;
    log_.warn("resumed", "takes part again");
    events_.publish({.kind = NodeEvent::Kind::resumed});
    loop_->begin(former->leave_calls());
    asio::post(io_, [former] {});  // only after the events that are still queued for it
}

// --- on a thread of its own

void NodeRuntime::reopen(core::Incarnation superseded, std::chrono::milliseconds pause) {
    descriptors_.set_directory({});
    state_thread_.reset();
    log_thread_.reset();
    while (wait_to_try(pause)) {
        // Another process on this directory ends the session at once (S10). By now the owners of
        // its holds were notified (S6).
        directory_lock_.reset();
        auto opened = std::make_shared<core::Result<storage::Opened>>(
            open_directory(config_, superseded, Missing::is_error));
        if (*opened) {
            asio::post(io_, [this, opened, pause] { resume(std::move(**opened), pause); });
            return;
        }
        if (!storage::may_pass(opened->error())) {
            asio::post(io_, [this, opened] { loop_->fail(opened->error().what); });
            return;
        }
        pause = std::min<std::chrono::milliseconds>(2 * pause, try_again_max);
    }
}

bool NodeRuntime::wait_to_try(std::chrono::milliseconds time) {
    std::unique_lock lock{reopening_};
    return !reopening_changed_.wait_for(lock, time, [this] { return reopening_stopped_; });
}

void NodeRuntime::refuse_reopening() {
    {
        const std::scoped_lock lock{reopening_};
        reopening_stopped_ = true;
    }
    reopening_changed_.notify_all();
}

// Requires refuse_reopening().
void NodeRuntime::await_reopening() {
    if (reopener_.joinable()) reopener_.join();
}

}  // namespace mortise::detail
