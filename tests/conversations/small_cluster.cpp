#include "tests/conversations/small_cluster.hpp"

#include <algorithm>

namespace mortise::conversations {

namespace {

// Long enough for a round of messages and writes, and shorter than a heartbeat.
constexpr Nanoseconds moment = 30ms;

}  // namespace

SmallCluster::SmallCluster(std::initializer_list<std::uint64_t> ids,
                           const std::function<void(core::NodeOptions&)>& change) {
    for (const auto id : ids) {
        auto options = core::test::node_options(id, ids);
        if (change) change(options);
        stage.add(options);
    }
    stage.connect_all();
    stage.run_until([&] {
        return std::ranges::all_of(ids, [&](std::uint64_t id) {
            return stage.core(NodeId{id}).agent().open_session().has_value();
        });
    });
    stage.run_for(moment);
}

void SmallCluster::acquire(NodeId node, std::uint64_t tag, const std::string& name) {
    core::AcquireCall call;
    call.tag = CallTag{tag};
    call.request.names = {{name, core::LockMode::exclusive}};
    stage.call(node, std::move(call));
}

void SmallCluster::release(NodeId node, std::uint64_t tag, core::OperationId hold) {
    stage.call(node, core::ReleaseCall{CallTag{tag}, hold});
}

void SmallCluster::change(NodeId node, std::uint64_t tag, core::MembershipGoal goal) {
    stage.call(node, core::ChangeCall{CallTag{tag}, std::move(goal), stage.clock() + 10s});
}

void SmallCluster::until_answered(NodeId node, std::uint64_t tag) {
    stage.run_until([&] { return stage.answer(node, tag) != nullptr; });
    stage.run_for(moment);
}

}  // namespace mortise::conversations
