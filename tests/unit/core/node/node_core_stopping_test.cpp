// A member that lies in its own name does not stop the others for longer than two election
// timeouts, and what it did heals by itself (docs/decisions/0064; the table in SECURITY.md).
#include <functional>
#include <string>
#include <vector>

#include <gtest/gtest.h>

#include "tests/support/node_fixture.hpp"
#include "tests/support/stopping_lies.hpp"

namespace mortise::core::test {
namespace {

class NodeCoreStopping : public testing::TestWithParam<Lie> {
protected:
    // Of its members those with the highest id are the liar, and perhaps others that are down.
    explicit NodeCoreStopping(std::initializer_list<std::uint64_t> ids) : cluster{ids} {
        cluster.connect_all();
        cluster.run_for(10 * heartbeat);
        liar = NodeId{*std::prev(ids.end())};
        for (const auto id : ids) {
            cluster[NodeId{id}].checks_grants = false;
            if (NodeId{id} != liar) honest.push_back(NodeId{id});
        }
        const auto hello = cluster[liar].hello();
        for (const auto id : honest) {
            cluster.disconnect(id, liar);
            cluster[id].step(PeerUp{hello});
        }
    }
    // Every node works all the time. Returns the longest time in which nothing was granted.
    Nanoseconds longest_gap(Nanoseconds time, const std::function<void()>& each_heartbeat) {
        Nanoseconds longest{0};
        Nanoseconds since{0};
        for (Nanoseconds passed{0}; passed < time; passed += step_) {
            if (passed % heartbeat == Nanoseconds{0}) each_heartbeat();
            for (const auto id : honest)
                if (granted(cluster[id])) since = Nanoseconds{0};
            cluster.run_for(step_);
            since += step_;
            longest = std::max(longest, since);
        }
        return longest;
    }
    void lie() {
        for (const auto id : honest) {
            auto& node = cluster[id];
            for (auto& message : GetParam().to(node.core())) {
                node.receive(liar, std::move(message));
                cluster.settle();
            }
            // Its connections are closed when it says what is impossible. It comes back.
            if (std::exchange(node.disconnected, {}).empty()) continue;
            node.step(PeerDown{liar});
            node.step(PeerUp{cluster[liar].hello()});
        }
    }
    static constexpr Nanoseconds step_ = 10ms;

    NodeCluster cluster;
    NodeId liar;
    std::vector<NodeId> honest;

private:
    // Each of its calls asks for a name that nobody else wants.
    bool granted(HandDrivenNode& node) {
        const auto answers = std::exchange(node.answers, {});
        const bool is_first = began_.insert(node.hello().node).second;
        if (is_first || !answers.empty()) {
            ++tag_;
            node.acquire(tag_, "name" + std::to_string(tag_));
        }
        return std::ranges::any_of(answers, [](const CallAnswer& answer) {
            return std::holds_alternative<Acquired>(answer.result);
        });
    }

    std::uint64_t tag_ = 0;
    std::set<NodeId> began_;  // to call
};

struct NodeCoreStoppingThree : NodeCoreStopping {
    NodeCoreStoppingThree() : NodeCoreStopping{{1, 2, 3}} {}
};

TEST_P(NodeCoreStoppingThree, AMemberThatSaysItAllTheTimeStopsTheOthersForAMomentOnly) {
    const auto gap = longest_gap(8 * election_timeout, [&] { lie(); });
    RecordProperty("gap_ms", std::to_string(gap / 1ms));
    EXPECT_LE(gap, 2 * election_timeout);
    // It is gone.
    for (const auto id : honest)
        cluster[id].step(PeerDown{liar});
    EXPECT_LE(longest_gap(4 * election_timeout, [] {}), 2 * election_timeout);
    // It is honest again.
    for (const auto id : honest)
        cluster.connect(id, liar);
    cluster.run_for(3 * election_timeout);
    ASSERT_NE(cluster.leader(), nullptr);
    EXPECT_EQ(cluster[liar].raft().leader(), cluster.leader()->raft().leader());
    EXPECT_LT(cluster.leader()->raft().term(), Term{term_end / 1'000});
    for (const auto id : honest) {
        EXPECT_FALSE(cluster[id].superseded);
        EXPECT_FALSE(cluster[id].raft().is_removed());
    }
}

struct NodeCoreStoppingFive : NodeCoreStopping {
    NodeCoreStoppingFive() : NodeCoreStopping{{1, 2, 3, 4, 5}} {}
};

// The others have to elect a leader meanwhile.
TEST_P(NodeCoreStoppingFive, OneThatSaysItWhileTheLeaderIsLostDelaysTheElectionALittle) {
    longest_gap(election_timeout, [&] { lie(); });
    auto* leader = cluster.leader();
    ASSERT_NE(leader, nullptr);
    const auto lost = leader->hello().node;
    std::erase(honest, lost);
    for (const auto id : honest)
        cluster.disconnect(id, lost);
    const auto gap = longest_gap(8 * election_timeout, [&] { lie(); });
    RecordProperty("gap_ms", std::to_string(gap / 1ms));
    EXPECT_LE(gap, 2 * election_timeout);
}

INSTANTIATE_TEST_SUITE_P(Of, NodeCoreStoppingThree, testing::ValuesIn(lies),
                         [](const auto& lie) { return std::string{lie.param.name}; });
INSTANTIATE_TEST_SUITE_P(Of, NodeCoreStoppingFive, testing::ValuesIn(lies),
                         [](const auto& lie) { return std::string{lie.param.name}; });

}  // namespace
}  // namespace mortise::core::test
