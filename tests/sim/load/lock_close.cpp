// Programs that close their node at inconvenient times, as Node::close() does: no calls from then
// on, all holds are released, leadership is transferred, and after a while the process ends,
// whatever the result. It is started again.
#include "tests/sim/load/lock_workload.hpp"

namespace mortise::sim {

namespace {

const char* probe_of(Fault fault) {
    if (fault == Fault::cut_isolate) return "closed as it was cut off";
    return fault == Fault::disk_stall ? "closed as its disk stalled" : "closing node fell asleep";
}

}  // namespace

bool LockWorkload::can_call(core::NodeId node) const {
    return cluster_.can_answer(node) && !closings_.is_closing(node);
}

void LockWorkload::close_later() {
    const auto pace = world_.swarm.workload.close_pace;
    if (pace == 0) return;
    world_.heap.after(prng_.between(1, 2 * pace), [this] {
        if (stopped_) return;
        close(draw_to_close());
        close_later();
    });
}

// Mostly a node that holds something.
core::NodeId LockWorkload::draw_to_close() {
    const auto holding = holder({});
    if (holding.is_set() && !prng_.one_in(3)) return holding;
    return cluster_.ids()[static_cast<std::size_t>(prng_.below(cluster_.size()))];
}

void LockWorkload::struck(core::NodeId node, Fault fault) {
    if (world_.swarm.workload.close_pace == 0 || !prng_.one_in(4)) return;
    // Mostly the leader, so that the others are without one.
    if (fault == Fault::crash) {
        close(draw_to_close());
    } else if (close(node)) {
        world_.tally.probe(probe_of(fault));
    }
}

bool LockWorkload::close(core::NodeId node) {
    if (!core_.empty() || !can_call(node) || cluster_.at(node).is_catching_up()) return false;
    std::set<core::OperationId> holds;
    for (const auto& [hold, held] : holds_) {
        if (held.node == node) holds.insert(hold);
    }
    probe_closing(node, holds);
    const core::CallTag tag{++newest_tag_};
    waiting_.emplace(node, tag);
    closings_.asked(node, tag, holds);
    core::CloseCall close{tag};
    listened_to_ = draw_listened_to(holds);
    close.to_notify.assign(listened_to_.begin(), listened_to_.end());
    call(node, std::move(close));
    closings_.after_call(node);
    const auto patience = prng_.between(1, 4 * world_.swarm.election_timeout.count());
    world_.heap.after(patience, [this, node, tag] { end_process(node, tag); });
    return true;
}

// Some programs have not asked to be notified of the loss of a hold.
std::set<core::OperationId> LockWorkload::draw_listened_to(std::set<core::OperationId> holds) {
    std::erase_if(holds, [&](core::OperationId) { return prng_.one_in(4); });
    return holds;
}

// A break that its node has not received.
void LockWorkload::probe_closing(core::NodeId node, const std::set<core::OperationId>& holds) {
    const auto& book = history_.book();
    if (!cluster_.leader().is_set()) world_.tally.probe("closed without a leader");
    if (history_.is_asking(node)) world_.tally.probe("closed while it waited");
    for (const auto hold : holds) {
        const bool lives = !book.ended_at(hold.session).is_set();
        if (lives && book.ended_at(hold).is_set()) world_.tally.probe("closed in midst of a break");
    }
}

void LockWorkload::closed(core::NodeId node, core::CallTag tag) {
    std::vector<core::CallTag> owed;
    for (auto who = waiting_.lower_bound({node, {}}); who != waiting_.end(); ++who) {
        if (who->first != node) break;
        owed.push_back(who->second);
    }
    closings_.closed(node, owed, history_.book());
    const auto soon = prng_.between(0, world_.swarm.election_timeout.count() / 10);
    world_.heap.after(soon, [this, node, tag] { hand_over(node, tag); });
}

// A suspended node ends when it is awake.
void LockWorkload::hand_over(core::NodeId node, core::CallTag tag) {
    if (!closings_.is_closing(node, tag) || !cluster_.can_answer(node)) return;
    const auto next = cluster_.ids()[static_cast<std::size_t>(prng_.below(cluster_.size()))];
    if (next == node || !cluster_.at(node).raft().is_leader()) return end_process(node, tag);
    world_.tally.probe("closed leader hands over");
    cluster_.call(node, core::TransferLeadership{next});
    const auto takes = prng_.between(0, world_.swarm.election_timeout.count());
    world_.heap.after(takes, [this, node, tag] { end_process(node, tag); });
}

void LockWorkload::end_process(core::NodeId node, core::CallTag tag) {
    if (!closings_.is_closing(node, tag)) return;
    if (!cluster_.can_answer(node)) {
        world_.heap.after(world_.swarm.election_timeout.count(),
                          [this, node, tag] { end_process(node, tag); });
        return;
    }
    if (!closings_.is_closed(node)) world_.tally.probe("closing took too long");
    if (core_.empty() || core_.contains(node)) {
        cluster_.restart(node);
    } else {
        cluster_.crash(node);
    }
}

}  // namespace mortise::sim
