// How a node makes the rows of a delta when many names have changed.
#include <algorithm>
#include <functional>
#include <memory>

#include <gtest/gtest.h>

#include "core/codec/command_codec.hpp"
#include "core/locks/rows/row_key.hpp"
#include "tests/support/node_fixture.hpp"

namespace mortise::core {
namespace {

using namespace test;

Nanoseconds interval() {
    return node_options(1, {1}).state_interval;
}

// A node alone that gets many names at once, and how many rows it makes in a step at most.
struct ManyRows {
    explicit ManyRows(std::uint64_t compare_every, Nanoseconds state_interval = interval()) {
        cluster = std::make_unique<NodeCluster>(std::initializer_list<std::uint64_t>{1},
                                                [&](NodeOptions& options) {
                                                    options.compare_every = compare_every;
                                                    options.state_interval = state_interval;
                                                });
        node = &(*cluster)[n1];
        node->timer();  // no other event happens
        cluster->run_for(5 * heartbeat + 2 * interval());
        node->deltas.clear();
        Calls calls;
        for (std::uint64_t i = 0; i < count; ++i) {
            AcquireCall acquire;
            acquire.tag = CallTag{first + i};
            acquire.request.names.push_back({"much" + std::to_string(i)});
            calls.calls.push_back(std::move(acquire));
        }
        node->step(std::move(calls));
        for (int i = 0; i < 1'000 && records() < count; ++i) {
            step();
        }
    }
    [[nodiscard]] std::size_t records() const {
        return node->core().machine().table().records().size();
    }
    void step() {
        const auto before = node->core().machine().changed_rows();
        if (node->writes.empty()) {
            node->timer();
        } else {
            node->complete_write();
        }
        const auto after = node->core().machine().changed_rows();
        most = std::max(most, before - std::min(before, after));
    }

    static constexpr std::uint64_t count = 5'000;
    static constexpr std::uint64_t first = 1'000'000;
    std::unique_ptr<NodeCluster> cluster;
    HandDrivenNode* node = nullptr;
    std::size_t most = 0;
};

// P10: a row takes some microseconds. What changes meanwhile is made again.
TEST(NodeCoreRows, AreMadeInSeveralSteps) {
    ManyRows many{1'000'000};
    auto& node = *many.node;
    ASSERT_EQ(many.records(), many.count);
    node.now = node.now + interval();
    many.step();
    ASSERT_TRUE(node.deltas.empty());
    EXPECT_EQ(node.core().deadline(), node.now);
    node.call(ReleaseCall{{}, node.granted(many.first)});
    for (int i = 0; i < 20 && node.deltas.empty(); ++i)
        many.step();
    ASSERT_EQ(node.deltas.size(), 1U);
    const auto& rows = node.deltas[0].rows;
    EXPECT_GE(rows.size(), many.count);
    EXPECT_EQ(std::ranges::adjacent_find(rows, std::ranges::greater_equal{}, &Row::key),
              rows.end());
    const auto released = std::ranges::find(rows, row_key(RowKind::name, "much0"), &Row::key);
    ASSERT_NE(released, rows.end());
    EXPECT_FALSE(released->value);
    EXPECT_LE(many.most, 600U);
    EXPECT_GT(node.core().deadline(), node.now) << "the rest is not due at once for ever";
}

// Otherwise the delta that is due would be late, because of all that is left to be made.
TEST(NodeCoreRows, AreMadeEarlyWhenManyHaveChanged) {
    ManyRows many{1'000'000};
    ASSERT_EQ(many.records(), many.count);
    EXPECT_TRUE(many.node->deltas.empty());
    EXPECT_LT(many.node->core().machine().changed_rows(), many.count);
    EXPECT_LE(many.most, 600U);
    EXPECT_GT(many.node->core().deadline(), many.node->now) << "nothing is due";
}

// A large delta takes the disk for a while, and the next one would have most of it again.
TEST(NodeCoreRows, AreNotWrittenAllTheTime) {
    using namespace std::chrono_literals;
    ManyRows many{1'000'000, 1ms};
    auto& node = *many.node;
    ASSERT_EQ(many.records(), many.count);
    node.now = node.now + 1s;
    for (int i = 0; i < 20 && node.deltas.empty(); ++i)
        many.step();
    ASSERT_EQ(node.deltas.size(), 1U);
    std::size_t bytes = 0;
    for (const auto& row : node.deltas[0].rows)
        bytes += row.key.size() + row.value->size();
    node.deltas.clear();
    node.call(ReleaseCall{{}, node.granted(many.first)});
    const auto begin = node.now;
    for (int i = 0; i < 1'000 && node.deltas.empty(); ++i) {
        node.now = node.now + 1ms;
        many.step();
    }
    ASSERT_EQ(node.deltas.size(), 1U);
    const auto a_second = 16U << 20U;
    EXPECT_GE(node.now - begin, std::chrono::nanoseconds{1s} * bytes / a_second);
    EXPECT_LE(node.now - begin, 200ms);
}

// Many clients open sessions at once, or renew them after a change of the leader.
struct ManySessions {
    explicit ManySessions(std::size_t hundreds) {
        node.step(PeerUp{HandDrivenNode{node_options(2, {1, 2, 3}), disk}.hello()});
        std::vector<Entry> entries;
        for (std::uint64_t index = 2; index < 2 + hundreds; ++index) {
            BatchBuilder batch;
            for (std::uint64_t i = 0; i < 100; ++i) {
                const auto id = 100 * index + i;
                batch.add(
                    OpenSession{id, NodeId{id}, {Incarnation{id}, BootEpoch{1}}, 10'000, 0, false});
            }
            entries.push_back(make_entry(log_id(1, index), EntryKind::commands, batch.take()));
        }
        node.receive(n2, RaftMessage{append(1, log_id(1, 1), entries, 1 + hundreds)});
        node.complete_writes();
        const auto& sessions = node.core().machine().sessions().all();
        for (int i = 0; i < 1'000 && sessions.size() < 100 * hundreds; ++i)
            node.timer();
        EXPECT_EQ(sessions.size(), 100 * hundreds);
    }

    RaftState disk = disk_with(voters({1, 2, 3}), {Term{1}, {}}, {});
    HandDrivenNode node{node_options(1, {1, 2, 3}), disk};
};

TEST(NodeCoreRows, OfManySessionsAreHandedOverAtOnce) {
    ManySessions many{7};
    auto& node = many.node;
    EXPECT_TRUE(node.deltas.empty());
    node.now = node.now + interval();
    for (int i = 0; i < 10 && node.deltas.empty(); ++i)
        node.timer();
    ASSERT_EQ(node.deltas.size(), 1U);
    EXPECT_GT(node.core().deadline(), node.now);
}

// They are made in one step, which must not become long (P10).
TEST(NodeCoreRows, OfVeryManySessionsAreHandedOverEarly) {
    ManySessions many{45};
    EXPECT_FALSE(many.node.deltas.empty());
}

// A comparison needs the rows of all that changed before it.
TEST(NodeCoreRows, AreMostlyMadeBeforeAComparison) {
    ManyRows many{20};
    ASSERT_EQ(many.records(), many.count);
    EXPECT_LE(many.most, 600U);
}

}  // namespace
}  // namespace mortise::core
