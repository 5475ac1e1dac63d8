// How the loop ends: by close(), or because the node failed.
#include <optional>
#include <utility>

#include <asio/post.hpp>

#include "embed/runtime/core_loop.hpp"
#include <mortise/errc.hpp>

namespace mortise::detail {

void CoreLoop::begin_close(std::function<void()> done) {
    closed_ = std::move(done);
    if (driver_->is_stopped()) return closed();
    close_tag_ = parts_.gate->next_tag();
    core::Calls calls;
    calls.calls.emplace_back(core::CloseCall{close_tag_, program_.holds().close()});
    step(std::move(calls));
}

// Called after the releases, because after a transfer they would have to wait for the next leader.
void CoreLoop::hand_over_leadership() {
    const auto& raft = driver_->core().raft();
    std::optional<core::NodeId> best;
    core::LogIndex match;
    for (const auto& voter : raft.configuration().voters) {
        const auto* progress = raft.progress_of(voter.id);
        const bool reachable = voter.id != options_.self && connected_.contains(voter.id);
        if (!raft.is_leader() || !reachable || progress == nullptr) continue;
        if (best && progress->match <= match) continue;
        best = voter.id;
        match = progress->match;
    }
    handing_over_ = true;
    if (best) step(core::TransferLeadership{*best});
    watch_hand_over();
}

// Waits until the other node campaigns, which ends the transfer here, or until the transfer has
// failed.
void CoreLoop::watch_hand_over() {
    if (handing_over_ && !driver_->core().raft().is_transferring()) closed();
}

// Everything that needs the network is done.
void CoreLoop::closed() {
    handing_over_ = false;
    if (closed_) std::exchange(closed_, {})();
}

void CoreLoop::end() {
    ended_ = true;
    desk_.close();
    timer_.cancel();
    insecurity_.cancel();
    ages_.stop();
    stop_network();
    program_.lose_everything();
}

void CoreLoop::stop_network() {
    for (const int door : std::exchange(doors_, {}))
        parts_.descriptors.remove(door);
    if (network_) network_->stop();
}

// Clients get no answer, because it would be written to a descriptor that may belong to the program
// now.
void CoreLoop::abandon(const std::string& reason) {
    ended_ = true;
    ready_ = false;
    driver_->halt();
    desk_.close();
    program_.abandon();
    closed();
    parts_.log.error("stopped", "stopped: " + reason, {{"reason", reason}});
    parts_.events.publish(
        {.kind = NodeEvent::Kind::stopped, .text = reason, .error = Errc::node_stopped});
}

void CoreLoop::stopped(const std::string& reason) {
    parts_.readiness.stop(reason);
    ready_ = false;
    program_.lose_everything();
    // The rest allocates memory, which may fail.
    parts_.log.error("stopped", "stopped: " + reason, {{"reason", reason}});
    parts_.events.publish(
        {.kind = NodeEvent::Kind::stopped, .text = reason, .error = Errc::node_stopped});
    // It must not be called from within one of the network's own calls.
    asio::post(parts_.io, [this] {
        if (ended_) return;
        end();
        closed();
    });
}

}  // namespace mortise::detail
