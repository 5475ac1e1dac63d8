// How the loop ends: by close(), or because the node failed.
#include <optional>
#include <utility>

#include <asio/post.hpp>

#include "core/raft/quorum.hpp"
#include "embed/runtime/core_loop.hpp"
#include "embed/runtime/network_side.hpp"
#include <mortise/errc.hpp>

namespace mortise::detail {

void LoopParts::say_stopped(const std::string& reason) const {
    log.error("stopped", "stopped: " + reason, {{"reason", reason}});
    events.publish({.kind = NodeEvent::Kind::stopped, .text = reason, .error = Errc::node_stopped});
}

void CoreLoop::begin_close(std::function<void()> done) {
    closing_.begin(std::move(done));
    if (driver_->is_stopped()) return closing_.finish();
    const auto tag = parts_.gate->next_tag();
    const bool has_calls = driver_->core().agent().outstanding() > 0;
    closing_.release(tag, !has_calls && !program_.holds().is_in_use());
    core::Calls calls;
    calls.calls.emplace_back(core::CloseCall{tag, program_.holds().close()});
    step(std::move(calls));
}

// Called after the releases, because after a transfer they would have to wait for the next leader.
void CoreLoop::hand_over_leadership() {
    const auto& raft = driver_->core().raft();
    std::optional<core::NodeId> best;
    core::LogIndex match;
    for (const auto& voter : raft.configuration().voters) {
        const auto* progress = raft.counted(voter.id);
        const bool reachable = voter.id != options_.self && is_connected(voter.id);
        if (!raft.is_leader() || !reachable || progress == nullptr) continue;
        if (best && progress->match <= match) continue;
        best = voter.id;
        match = progress->match;
    }
    closing_.hand_over();
    if (best) step(core::TransferLeadership{*best});
    watch_close();
}

// A transfer is waited for until the other node campaigns, which ends it here, or until it has
// failed.
void CoreLoop::watch_close() {
    if (!closing_.is_awaited()) return;
    const auto& raft = driver_->core().raft();
    const bool is_handed_over = closing_.is_handing_over() && !raft.is_transferring();
    if (is_handed_over || closing_.is_useless(reaches_majority())) closing_.finish();
}

bool CoreLoop::reaches_majority() const {
    return core::has_quorum(driver_->core().raft().configuration(), [this](core::NodeId voter) {
        return voter == options_.self || is_connected(voter);
    });
}

void CoreLoop::end() {
    ended_ = true;
    desk_.close();
    timer_.cancel();
    ages_.stop();
    unready_.ready();
    network_->stop();
    program_.lose_everything();
}

// Clients get no answer, because it would be written to a descriptor that may belong to the program
// now.
void CoreLoop::abandon(const std::string& reason) {
    ended_ = true;
    ready_ = false;
    driver_->halt();
    desk_.close();
    program_.abandon();
    closing_.finish();
    parts_.say_stopped(reason);
}

void CoreLoop::stopped(const std::string& reason) {
    parts_.readiness.stop(reason);
    ready_ = false;
    program_.lose_everything();
    // The rest allocates memory, which may fail.
    parts_.say_stopped(reason);
    // It must not be called from within one of the network's own calls.
    asio::post(parts_.io, [this] {
        if (ended_) return;
        end();
        closing_.finish();
    });
}

}  // namespace mortise::detail
