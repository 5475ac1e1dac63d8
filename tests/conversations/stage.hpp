// A few whole nodes whose every step can be read: real NodeCores between a network, disks and
// clocks that always take the same time. The simulator (tests/sim) draws its delays from a seed in
// order to find faults; here they are fixed, so that a reader can tell from the time what a node
// waited for.
#pragma once

#include <deque>
#include <functional>
#include <map>
#include <memory>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "tests/support/node_fixture.hpp"

namespace mortise::conversations {

using core::Nanoseconds;
using core::NodeId;

// What a node was given, what it did then, and how it stands now.
struct Step {
    Nanoseconds at;  // since the stage began
    NodeId node;
    const core::Event& event;
    const core::Effects& effects;
    const core::NodeCore& core;
};

class Stage {
public:
    using Watcher = std::function<void(const Step&)>;

    // Node N needs 1.N ms to sync a write. `watcher` sees every step.
    explicit Stage(Watcher watcher) : watcher_{std::move(watcher)} {}

    void add(const core::NodeOptions& options);
    // Connects a node with all others. They say hello to each other at once.
    void connect_all();
    // From now on messages between `node` and all others are lost, and nobody is told.
    void isolate(NodeId node) { isolated_.insert(node); }
    // They arrive again.
    void rejoin(NodeId node) { isolated_.erase(node); }

    void call(NodeId node, core::Call call);
    void run_for(Nanoseconds time);
    // Runs until `done` is true, which has to happen within a minute.
    void run_until(const std::function<bool()>& done);

    [[nodiscard]] Nanoseconds now() const { return now_; }
    // For deadlines in calls.
    [[nodiscard]] core::Instant clock() const { return core::test::start + now_; }
    [[nodiscard]] const core::NodeCore& core(NodeId node) const { return *nodes_.at(node).core; }
    // What `node` answered to the call, if it has.
    [[nodiscard]] const core::CallAnswer* answer(NodeId node, std::uint64_t tag) const;
    // The hold that it was granted. Requires that it was.
    [[nodiscard]] core::OperationId granted(NodeId node, std::uint64_t tag) const;

private:
    // Of the state, for one peer; it does not change while it is read.
    struct View {
        std::map<std::string, std::string> rows;
        core::LogId applied;
        core::Configuration configuration;  // in force there
    };
    struct Node {
        std::unique_ptr<core::NodeCore> core;
        Nanoseconds syncs_in{};
        Nanoseconds disk_free_at{};
        View disk;                                     // the state on disk
        std::map<std::string, std::string> installed;  // beside it, unfinished
        std::map<NodeId, View> views;
        std::vector<core::CallAnswer> answers;
    };
    using Link = std::pair<NodeId, NodeId>;

    static Link link(NodeId a, NodeId b) { return std::minmax(a, b); }
    void connect(NodeId a, NodeId b);
    void give(NodeId node, const core::Event& event);
    void give_after(Nanoseconds delay, NodeId node, core::Event event);
    void carry_out(NodeId node, const core::Effects& effects);
    void write_to_disk(NodeId id, const core::Effects& effects);
    void save(Node& node, NodeId id, const core::StateDelta& delta);
    void read(Node& node, NodeId id, const core::SnapshotRead& asked);
    void install(Node& node, NodeId id, const core::InstallStep& step);
    void connect_peers(NodeId node, const std::vector<core::Member>& peers);
    // The next thing that happens, unless it is later than `end`.
    bool run_next(Nanoseconds end);

    Watcher watcher_;
    Nanoseconds now_{};
    std::map<NodeId, Node> nodes_;
    std::set<Link> links_;
    std::set<NodeId> isolated_;
    std::multimap<Nanoseconds, std::function<void()>> coming_;
};

}  // namespace mortise::conversations
