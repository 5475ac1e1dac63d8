// Another run of the node in the same process: after a full disk or a shortage of descriptors, and
// after its directory was superseded. The failed stores are closed and never used again. What was
// acknowledged is found by opening the directory, as at any start (storage/README.md).
#include <system_error>

#include "embed/runtime/core_loop.hpp"
#include "embed/runtime/node_runtime.hpp"
#include "storage/directory/data_directory.hpp"

namespace mortise::detail {

// --- on the core thread

// Without other members none could have detected this, and no other node has the data that would be
// moved aside.
void NodeRuntime::begin_anew() {
    const std::string why =
        "its data directory was rolled back, or is a copy of one that was used since";
    const bool has_peers = !config_.peers.empty() || !config_.peers_from.empty();
    if (!has_peers || config_.memory_only) {
        loop_->fail(why);
    } else {
        suspend({why}, disk_.incarnation());
    }
}

void NodeRuntime::suspend(const Suspension& cause, core::Incarnation superseded) {
    if (loop_->is_suspended() || readiness_.why_stopped()) return;
    disk_.end_run();
    loop_->suspend(cause);
    begin_reopening(superseded, Reopening::pause_min);
}

void NodeRuntime::begin_reopening(core::Incarnation superseded, std::chrono::milliseconds pause) {
    reopening_.begin(
        pause, {.prepare = [this] { disk_.close(); },
                .attempt = [this, superseded](auto waited) { return reopen(superseded, waited); },
                .failed =
                    [this](const std::string& broken) {
                        core_.post([this, broken] { loop().fail(broken); });
                    }});
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
        return begin_reopening({}, Reopening::after(pause));
    } catch (const std::exception& broken) {
        return loop_->fail(broken.what());
    }
    log_.warn("resumed", "takes part again");
    events_.publish({.kind = NodeEvent::Kind::resumed});
    loop_->begin(former->leave_calls());
    core_.post([former] {});  // only after the events that are still queued for it
}

// --- on a thread of its own

// False if another attempt may succeed.
bool NodeRuntime::reopen(core::Incarnation superseded, std::chrono::milliseconds pause) {
    // Another process on this directory ends the session at once (S10). By now the owners of its
    // holds were notified (S6).
    disk_.let_go();
    auto opened = std::make_shared<core::Result<storage::Opened>>(
        open_directory(config_, superseded, Missing::is_error));
    if (*opened) {
        core_.post([this, opened, pause] { resume(std::move(**opened), pause); });
        return true;
    }
    if (storage::may_pass(opened->error())) return false;
    core_.post([this, opened] { loop_->fail(opened->error().what); });
    return true;
}

}  // namespace mortise::detail
