// How every scene begins: a few nodes that have formed a cluster, and node 1 leads.
#pragma once

#include <initializer_list>
#include <string>

#include "tests/conversations/transcript.hpp"

namespace mortise::conversations {

using namespace std::chrono_literals;
using core::CallTag;
using core::test::n1;
using core::test::n2;
using core::test::n3;

struct SmallCluster {
    // `change` may alter the options of each.
    explicit SmallCluster(std::initializer_list<std::uint64_t> ids = {1, 2, 3},
                          const std::function<void(core::NodeOptions&)>& change = {});
    SmallCluster(const SmallCluster&) = delete;
    SmallCluster& operator=(const SmallCluster&) = delete;

    // What happens from now on is written down.
    void begin() { transcript.begin(stage.now()); }
    void remark(const std::string& text) { transcript.remark(stage.now(), text); }
    void acquire(NodeId node, std::uint64_t tag, const std::string& name);
    void release(NodeId node, std::uint64_t tag, core::OperationId hold);
    void change(NodeId node, std::uint64_t tag, core::MembershipGoal goal);
    // Returns when the call is answered, and what follows from the answer has happened.
    void until_answered(NodeId node, std::uint64_t tag);
    [[nodiscard]] bool leads(NodeId node) const { return stage.core(node).raft().is_leader(); }

    Transcript transcript;
    Stage stage{[this](const Step& step) { transcript.watch(step); }};
};

}  // namespace mortise::conversations
