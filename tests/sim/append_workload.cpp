#include "tests/sim/append_workload.hpp"

#include <algorithm>

#include "tests/sim/in_words.hpp"

namespace mortise::sim {

AppendWorkload::AppendWorkload(World& world, Cluster& cluster)
    : world_{world},
      cluster_{cluster},
      prng_{world.prng.next()},
      proposals_(1),
      waiting_(cluster.size()) {}

void AppendWorkload::start() {
    call_later();
}

void AppendWorkload::call_later() {
    const auto often = world_.swarm.heartbeat.count() / 2;
    const auto pace = in_liveness_ ? often : prng_.between(1, 2 * world_.swarm.workload.pace);
    world_.heap.after(pace, [this] {
        if (stopped_) return;
        if (in_liveness_) {
            ask_what_is_owed();
        } else {
            call_something();
        }
        call_later();
    });
}

core::NodeId AppendWorkload::draw_target() {
    const auto leader = cluster_.leader();
    const bool strays = prng_.below(100) < world_.swarm.workload.stray_percent;
    if (leader.is_set() && !strays) return leader;
    return cluster_.ids()[static_cast<std::size_t>(prng_.below(cluster_.size()))];
}

void AppendWorkload::call_something() {
    const auto& options = world_.swarm.workload;
    const auto node = draw_target();
    if (prng_.below(1'000) < options.transfer_permille) {
        transfer();
    } else if (prng_.below(100) < options.read_percent) {
        read(node);
    } else {
        const auto burst = prng_.one_in(8) ? 1 + prng_.below(10) : 1;
        for (std::uint64_t i = 0; i < burst; ++i)
            propose(node);
    }
}

void AppendWorkload::transfer() {
    const auto leader = cluster_.leader();
    if (!leader.is_set()) return;
    const auto target = cluster_.ids()[static_cast<std::size_t>(prng_.below(cluster_.size()))];
    cluster_.call(leader, core::TransferLeadership{target});
}

core::Bytes AppendWorkload::draw_payload(std::uint64_t tag) {
    core::ByteWriter out;
    out.u64(tag);
    out.text(std::string(prng_.below(world_.swarm.workload.payload_bytes_max), 'x'));
    return core::Bytes{out.take()};
}

std::uint64_t AppendWorkload::propose(core::NodeId node) {
    const auto tag = proposals_.size();
    proposals_.emplace_back();
    if (cluster_.is_running(node)) cluster_.call(node, core::Propose{tag, draw_payload(tag)});
    return tag;
}

void AppendWorkload::proposed(core::NodeId node, const core::Proposed& proposed) {
    auto& proposal = proposals_[static_cast<std::size_t>(proposed.tag)];
    if (!proposed.id.index.is_set()) {
        world_.tally.probe("proposal refused");
        proposal.fate = Fate::refused;
        return;
    }
    proposal = {Fate::placed, proposed.id.index};
    const auto [place, is_new] =
        waiting(node).insert_or_assign(proposed.id.index, Placed{proposed.tag, proposed.id.term});
    if (!is_new) world_.tally.probe("proposal overwritten");
}

void AppendWorkload::committed(core::NodeId node, const core::Entry& entry) {
    if (entry.id.index > judged_to_) judge_commit(node, entry);
    auto& placed = waiting(node);
    const auto found = placed.find(entry.id.index);
    if (found == placed.end()) return;
    if (found->second.term != entry.id.term) {
        world_.tally.probe("proposal overwritten");
    } else {
        world_.tally.probe("proposal acknowledged");
        if (in_liveness_) owes_commit_ = false;
    }
    placed.erase(found);
}

void AppendWorkload::judge_commit(core::NodeId node, const core::Entry& entry) {
    judged_to_ = entry.id.index;
    if (entry.kind != core::EntryKind::commands) return;
    core::ByteReader in{entry.payload.view()};
    const auto tag = in.u64();
    if (tag == 0 || tag >= proposals_.size()) {
        world_.violations.report(node, "history: committed what nobody proposed");
        return;
    }
    auto& proposal = proposals_[static_cast<std::size_t>(tag)];
    if (proposal.fate == Fate::refused) {
        world_.violations.report(node, "history: committed a proposal that was refused");
    } else if (proposal.fate == Fate::committed) {
        world_.violations.report(node, "history: committed one proposal twice, at " +
                                           in_words(proposal.index) + " and " +
                                           in_words(entry.id.index));
    } else if (proposal.fate == Fate::placed && proposal.index != entry.id.index) {
        world_.violations.report(node, "history: committed elsewhere than was said");
    }
    proposal = {Fate::committed, entry.id.index};
}

core::LogIndex AppendWorkload::known_committed() const {
    return std::max(read_to_, world_.checker.committed_last());
}

std::uint64_t AppendWorkload::read(core::NodeId node) {
    constexpr std::size_t open_max = 256;  // answers may never come
    const auto tag = ++reads_asked_;
    if (!cluster_.is_running(node)) return tag;
    if (!cluster_.leader().is_set()) world_.tally.probe("read during an election");
    if (reads_.size() >= open_max) reads_.erase(reads_.begin());
    reads_[tag] = {node, known_committed()};
    cluster_.call(node, core::Read{tag});
    return tag;
}

void AppendWorkload::read_ready(core::NodeId node, const core::ReadReady& ready) {
    const auto asked = reads_.find(ready.tag);
    if (asked == reads_.end()) return;
    if (!ready.index.is_set()) {
        world_.tally.probe("read refused");
    } else {
        world_.tally.probe("read answered");
        if (ready.index < asked->second.floor) {
            world_.violations.report(
                node, "stale read: answered with index " + in_words(ready.index) + ", but " +
                          in_words(asked->second.floor) + " was committed when it was asked for");
        }
        read_to_ = std::max(read_to_, ready.index);
        owes_read_.erase(node);
    }
    reads_.erase(asked);
}

void AppendWorkload::node_lost(core::NodeId node) {
    waiting(node).clear();
    std::erase_if(reads_, [&](const auto& read) { return read.second.node == node; });
}

void AppendWorkload::begin_liveness(const std::vector<core::NodeId>& core) {
    in_liveness_ = true;
    owes_commit_ = true;
    owes_read_ = {core.begin(), core.end()};
    reads_.clear();
    for (auto& placed : waiting_)
        placed.clear();
}

void AppendWorkload::ask_what_is_owed() {
    const auto leader = cluster_.leader();
    if (owes_commit_ && leader.is_set()) propose(leader);
    for (const auto node : std::set{owes_read_})
        read(node);
}

std::string AppendWorkload::still_owed() const {
    if (owes_commit_) return "no proposal was committed";
    if (owes_read_.empty()) return {};
    return "a read at node " + in_words(*owes_read_.begin()) + " was not answered";
}

}  // namespace mortise::sim
