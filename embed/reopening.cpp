// Another life in the same process: after a full disk, when there is room again, after a shortage
// of descriptors, likewise, and after a directory that its cluster does not want any more. What
// failed is closed and never asked again; what was acknowledged is found by opening it like any
// start does (storage/README.md).
#include <algorithm>
#include <system_error>

#include "embed/node_runtime.hpp"
#include "embed/thread_start.hpp"

namespace mortise::detail {

namespace {

using namespace std::chrono_literals;

constexpr auto try_again_min = 100ms;
constexpr auto try_again_max = 5s;

}  // namespace

// --- on the core thread

void NodeRuntime::disk_failed(const DiskFailure& failure) {
    if (failure.may_pass && !config_.memory_only) {
        suspend(failure.why, {});
    } else {
        loop_->fail(failure.why);
    }
}

// Without others nobody could have found out, and nobody has what would be put aside.
void NodeRuntime::begin_anew() {
    const std::string why =
        "its data directory was rolled back, or is a copy of one that was used since";
    if (config_.peers.empty() || config_.memory_only) {
        loop_->fail(why);
    } else {
        suspend(why, incarnation_);
    }
}

void NodeRuntime::suspend(const std::string& why, core::Incarnation superseded) {
    if (is_suspended_ || readiness_.why_stopped()) return;
    is_suspended_ = true;
    ++life_;
    loop_->suspend(why);
    begin_reopening(superseded, try_again_min);
}

void NodeRuntime::begin_reopening(core::Incarnation superseded, std::chrono::milliseconds pause) {
    const std::scoped_lock lock{reopening_};
    if (reopening_stopped_) return;
    if (reopener_.joinable()) reopener_.join();  // the one before has said its last word
    reopener_ = start_thread_named("mortise-reopen", [this, superseded, pause] {
        run_or_fail([&] { reopen(superseded, pause); },
                    [&](const std::string& broken) {
                        asio::post(io_, [this, broken] { loop_->fail(broken); });
                    });
    });
}

// The program is still there, so this former life may not be over for all: its session ends by
// itself (S10).
void NodeRuntime::resume(storage::Opened opened, std::chrono::milliseconds pause) {
    if (readiness_.why_stopped()) return;
    opened.former_life_ended = false;
    std::shared_ptr<CoreLoop> former;
    try {
        former = begin_life(std::move(opened), loop_->estate());
    } catch (const std::system_error& wanting) {
        // Its port, which it had until then, or a thread: others need not have it for long.
        loop_->stay_suspended(wanting.what());
        return begin_reopening({}, std::min<std::chrono::milliseconds>(2 * pause, try_again_max));
    } catch (const std::exception& broken) {
        return loop_->fail(broken.what());
    }
    is_suspended_ = false;
    loop_->begin(former->leave_calls());
    asio::post(io_, [former] {});  // not before whatever it has still to hear
}

// --- on a thread of its own

void NodeRuntime::reopen(core::Incarnation superseded, std::chrono::milliseconds pause) {
    descriptors_.set_directory({});
    state_thread_.reset();
    log_thread_.reset();
    directory_lock_.reset();
    while (wait_to_try(pause)) {
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
