#include "tests/conversations/stage.hpp"

#include <algorithm>
#include <chrono>
#include <stdexcept>
#include <variant>

namespace mortise::conversations {

namespace {

using namespace std::chrono_literals;

constexpr Nanoseconds message_takes = 500us;
constexpr Nanoseconds read_takes = 300us;
constexpr Nanoseconds patience = 60s;

void merge(std::map<std::string, std::string>& rows, const std::vector<core::Row>& changes) {
    for (const auto& row : changes) {
        if (row.value) {
            rows.insert_or_assign(row.key, *row.value);
        } else {
            rows.erase(row.key);
        }
    }
}

}  // namespace

void Stage::add(const core::NodeOptions& options) {
    Node node;
    const core::Now begin{clock(), clock()};
    node.core = std::make_unique<core::NodeCore>(options, core::NodeState{}, begin);
    node.syncs_in = 1ms + 100us * static_cast<std::int64_t>(options.self.raw());
    nodes_.emplace(options.self, std::move(node));
}

void Stage::connect_all() {
    for (const auto& [a, first] : nodes_) {
        for (const auto& [b, second] : nodes_) {
            if (a < b) connect(a, b);
        }
    }
}

void Stage::connect(NodeId a, NodeId b) {
    if (!links_.insert(link(a, b)).second) return;
    const auto hello = nodes_.at(a).core->hello();
    give(a, core::PeerUp{nodes_.at(b).core->hello()});
    give(b, core::PeerUp{hello});
}

void Stage::call(NodeId node, core::Call call) {
    core::Calls calls;
    calls.calls.push_back(std::move(call));
    give(node, std::move(calls));
}

void Stage::run_for(Nanoseconds time) {
    const auto end = now_ + time;
    while (run_next(end)) {
    }
    now_ = end;
}

void Stage::run_until(const std::function<bool()>& done) {
    const auto end = now_ + patience;
    while (!done()) {
        if (!run_next(end)) throw std::runtime_error{"what the scene waits for does not happen"};
    }
}

const core::CallAnswer* Stage::answer(NodeId node, std::uint64_t tag) const {
    const auto& answers = nodes_.at(node).answers;
    const auto found = std::ranges::find(answers, core::CallTag{tag}, &core::CallAnswer::tag);
    return found == answers.end() ? nullptr : &*found;
}

core::OperationId Stage::granted(NodeId node, std::uint64_t tag) const {
    const auto* given = answer(node, tag);
    if (given == nullptr) throw std::runtime_error{"the call is not answered"};
    return std::get<core::Acquired>(given->result).hold;
}

// A message that arrives goes before a timer that is due at the same moment.
bool Stage::run_next(Nanoseconds end) {
    NodeId due;
    auto next = coming_.empty() ? Nanoseconds::max() : coming_.begin()->first;
    for (const auto& [id, node] : nodes_) {
        const auto at = std::max(now_, node.core->deadline() - core::test::start);
        if (at >= next) continue;
        next = at;
        due = id;
    }
    if (next > end) return false;
    now_ = next;
    if (due.is_set()) {
        give(due, core::TimerFired{});
    } else {
        const auto happens = std::move(coming_.begin()->second);
        coming_.erase(coming_.begin());
        happens();
    }
    return true;
}

void Stage::give(NodeId node, const core::Event& event) {
    auto& core = *nodes_.at(node).core;
    const auto effects = core.step(event, {clock(), clock()});
    core.check_invariants();
    watcher_({now_, node, event, effects, core});
    carry_out(node, effects);
}

void Stage::give_after(Nanoseconds delay, NodeId node, core::Event event) {
    coming_.emplace(now_ + delay, [this, node, event = std::move(event)] { give(node, event); });
}

void Stage::carry_out(NodeId node, const core::Effects& effects) {
    write_to_disk(node, effects);
    if (effects.peers) connect_peers(node, *effects.peers);
    for (const auto& envelope : effects.send) {
        const bool arrives = links_.contains(link(node, envelope.to)) &&
                             !isolated_.contains(node) && !isolated_.contains(envelope.to);
        if (arrives) give_after(message_takes, envelope.to, core::Received{node, envelope.message});
    }
    auto& answers = nodes_.at(node).answers;
    answers.insert(answers.end(), effects.answers.begin(), effects.answers.end());
}

// One write after the other.
void Stage::write_to_disk(NodeId id, const core::Effects& effects) {
    auto& node = nodes_.at(id);
    if (effects.write) {
        node.disk_free_at = std::max(now_, node.disk_free_at) + node.syncs_in;
        give_after(node.disk_free_at - now_, id, core::WriteDone{effects.write->id});
    }
    for (const auto& step : effects.install)
        install(node, id, step);
    for (const auto& asked : effects.read_snapshot)
        read(node, id, asked);
    for (const auto& delta : effects.save_state)
        save(node, id, delta);
}

void Stage::save(Node& node, NodeId id, const core::StateDelta& delta) {
    node.disk_free_at = std::max(now_, node.disk_free_at) + node.syncs_in;
    coming_.emplace(node.disk_free_at, [this, id, delta] {
        auto& saver = nodes_.at(id);
        merge(saver.disk.rows, delta.rows);
        saver.disk.applied = delta.applied;
        saver.disk.configuration = delta.configuration;
        give(id, core::StateDurable{delta.applied.index});
    });
}

void Stage::read(Node& node, NodeId id, const core::SnapshotRead& asked) {
    if (!asked.after) node.views[asked.peer] = node.disk;
    const auto& view = node.views.at(asked.peer);
    core::SnapshotRows answer{asked.peer, view.applied, view.configuration, asked.after,
                              {},         false,        asked.transfer};
    auto next = asked.after ? view.rows.upper_bound(*asked.after) : view.rows.begin();
    std::size_t bytes = 0;
    for (; next != view.rows.end(); ++next) {
        bytes += next->first.size() + next->second.size();
        if (bytes > asked.bytes_max && !answer.rows.empty()) break;
        answer.rows.push_back({next->first, next->second});
    }
    answer.done = next == view.rows.end();
    give_after(read_takes, id, std::move(answer));
}

void Stage::install(Node& node, NodeId id, const core::InstallStep& step) {
    if (step.position == 0) node.installed.clear();
    merge(node.installed, step.rows);
    give_after(read_takes, id, core::InstallTaken{});
    if (!step.done) return;
    node.disk = {std::exchange(node.installed, {}), step.last, step.configuration};
    give_after(node.syncs_in, id, core::StateInstalled{step.last});
}

void Stage::connect_peers(NodeId node, const std::vector<core::Member>& peers) {
    for (const auto& peer : peers) {
        if (peer.id == node || !nodes_.contains(peer.id)) continue;
        coming_.emplace(now_ + message_takes, [this, node, id = peer.id] { connect(node, id); });
    }
}

}  // namespace mortise::conversations
