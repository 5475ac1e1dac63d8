// A node whose program wants notifications of contention (S24).
#include <gmock/gmock.h>

#include "tests/support/node_fixture.hpp"

namespace mortise::core::test {
namespace {

using testing::ElementsAre;
using testing::IsEmpty;

class NodeCoreContention : public testing::Test {
protected:
    void SetUp() override {
        cluster.connect_all();
        cluster.run_for(3s);
        holder.acquire(1, "a");
        cluster.run_for(1s);
        hold = holder.granted(1);
        holder.call(WatchCall{{}, hold});
    }
    void ask_release() {
        asker.call(WriteCall{CallTag{9}, {}, AskRelease{"a", "please"}});
        cluster.run_for(1s);
    }

    NodeCluster cluster{1, 2, 3};
    HandDrivenNode& holder = cluster[n2];
    HandDrivenNode& asker = cluster[n3];
    OperationId hold;
};

TEST_F(NodeCoreContention, ItsNodeIsToldWhenSomebodyBeginsToWait) {
    EXPECT_THAT(holder.contended, IsEmpty());
    asker.acquire(2, "a");
    cluster.run_for(1s);
    EXPECT_THAT(holder.contended, ElementsAre(Contended{hold, LockMode::exclusive, 1, {}}));
    EXPECT_THAT(asker.contended, IsEmpty());
}

TEST_F(NodeCoreContention, ACachedGrantIsWatchedFromTheStart) {  // S40
    AcquireCall call;
    call.tag = CallTag{7};
    call.request.names.push_back({"c"});
    call.request.cached_tokens = 8;
    holder.call(std::move(call));
    cluster.run_for(1s);
    const auto cached = holder.granted(7);
    asker.acquire(2, "c");
    cluster.run_for(1s);
    EXPECT_THAT(holder.contended, ElementsAre(Contended{cached, LockMode::exclusive, 1, {}}));
}

// Each is told of its own grant, wherever that stands among the holders.
TEST_F(NodeCoreContention, EachNodeWithACachedSharedGrantIsTold) {  // S40, S44
    const auto read = [&](HandDrivenNode& node) {
        AcquireCall call;
        call.tag = CallTag{7};
        call.request.names.push_back({"c", LockMode::shared});
        call.request.cached_tokens = 8;
        node.call(std::move(call));
        cluster.run_for(1s);
        return node.granted(7);
    };
    auto& reader = cluster[n1];
    const auto one = read(reader);
    const auto two = read(holder);
    asker.acquire(2, "c");
    cluster.run_for(1s);
    EXPECT_THAT(reader.contended, ElementsAre(Contended{one, LockMode::exclusive, 1, {}}));
    EXPECT_THAT(holder.contended, ElementsAre(Contended{two, LockMode::exclusive, 1, {}}));
    reader.call(ReleaseCall{{}, one});
    cluster.run_for(1s);
    EXPECT_FALSE(asker.was_answered<Acquired>(2));
    holder.call(ReleaseCall{{}, two});
    cluster.run_for(1s);
    EXPECT_TRUE(asker.was_answered<Acquired>(2));
}

TEST_F(NodeCoreContention, ANewHolderIsNotifiedOfEarlierWaiters) {
    asker.acquire(2, "a");
    cluster[n1].acquire(3, "a");
    cluster.run_for(1s);
    holder.call(ReleaseCall{CallTag{5}, hold});
    cluster.run_for(1s);
    auto& next = asker.was_answered<Acquired>(2) ? asker : cluster[n1];
    const auto granted = next.granted(&next == &asker ? 2 : 3);
    next.call(WatchCall{{}, granted});
    EXPECT_THAT(next.contended, ElementsAre(Contended{granted, LockMode::exclusive, 1, {}}));
}

// A waiter that waits for another holder may also wait for this one, when its mode becomes
// stronger.
TEST_F(NodeCoreContention, AHoldThatBecomesStrongerKeepsOthersWaiting) {
    auto& reader = cluster[n1];
    const auto acquire = [](HandDrivenNode& node, std::uint64_t tag, LockMode mode) {
        AcquireCall call;
        call.tag = CallTag{tag};
        call.request.names.push_back({"b", mode});
        node.call(std::move(call));
    };
    acquire(holder, 10, LockMode::update);
    acquire(reader, 11, LockMode::shared);
    cluster.run_for(1s);
    acquire(asker, 12, LockMode::intent_shared);
    cluster.run_for(1s);
    ASSERT_TRUE(asker.was_answered<Acquired>(12));
    const auto strong = holder.granted(10);
    holder.call(WatchCall{{}, strong});
    holder.call(UpgradeCall{CallTag{13}, strong, true, Instant::never()});
    cluster.run_for(1s);
    acquire(reader, 14, LockMode::intent_shared);  // behind the upgrade, with which it conflicts
    cluster.run_for(1s);
    EXPECT_THAT(holder.contended, IsEmpty());
    reader.call(ReleaseCall{CallTag{15}, reader.granted(11)});
    asker.call(ReleaseCall{CallTag{16}, asker.granted(12)});
    cluster.run_for(1s);
    ASSERT_TRUE(holder.was_answered<Converted>(13));
    EXPECT_THAT(holder.contended, ElementsAre(Contended{strong, LockMode::intent_shared, 1, {}}));
}

TEST_F(NodeCoreContention, ARequestToReleaseIsPassedOn) {
    ask_release();
    EXPECT_TRUE(asker.was_answered<Written>(9));
    EXPECT_THAT(holder.contended, ElementsAre(Contended{hold, LockMode::exclusive, 0, "please"}));
}

TEST_F(NodeCoreContention, ARequestToReleaseWithoutAHolderIsAnswered) {
    holder.call(ReleaseCall{CallTag{5}, hold});
    cluster.run_for(1s);
    ask_release();
    EXPECT_EQ(asker.error_of(9), CallError::not_held);
    EXPECT_THAT(holder.contended, IsEmpty());
}

TEST_F(NodeCoreContention, WhatIsNotHeldIsNotWatched) {
    holder.call(WatchCall{{}, {hold.session, hold.seq.next()}});
    holder.call(WatchCall{{}, {SessionId{99}, hold.seq}});
    asker.acquire(2, "a");
    cluster.run_for(1s);
    EXPECT_THAT(holder.contended, ElementsAre(Contended{hold, LockMode::exclusive, 1, {}}));
}

// A lost hold needs no notifications.
TEST_F(NodeCoreContention, WhatIsLostIsNotWatched) {
    cluster.disconnect(n1, n2);
    cluster.disconnect(n2, n3);
    cluster.run_for(30s);
    asker.acquire(2, "a");
    cluster.connect_all();
    cluster.run_for(5s);
    ASSERT_TRUE(asker.was_answered<Acquired>(2));
    cluster[n1].acquire(3, "a");
    cluster.run_for(1s);
    EXPECT_THAT(holder.contended, IsEmpty());
}

}  // namespace
}  // namespace mortise::core::test
