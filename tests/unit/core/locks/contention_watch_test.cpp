// Holders that want to be notified of waiters (S24).
#include "core/node/contention_watch.hpp"

#include <gmock/gmock.h>

#include "tests/unit/core/locks/machine_fixture.hpp"

namespace mortise::core {
namespace {

using enum LockMode;
using testing::ElementsAre;
using testing::IsEmpty;

constexpr OperationId first{SessionId{1}, Seq{1}};
constexpr OperationId second{SessionId{2}, Seq{1}};

Contended told(OperationId hold, LockMode mode, std::size_t waiters) {
    return {hold, mode, waiters, {}};
}

class ContentionWatchTest : public LockMachineTest {
protected:
    // A request begins to wait, and the watch is told.
    void waits(std::uint64_t session, std::uint64_t seq, LockMode mode) {
        put(acquire(session, seq, mode));
        watch_.somebody_waits("a");
    }
    std::vector<Contended> take() { return watch_.take(machine_); }
    void asks_for(std::vector<OperationId> holds, bool is_here = true) {
        watch_.on(ReleaseAsked{{SessionId{3}, Seq{1}}, "a", std::move(holds), "please"},
                  [=](OperationId) { return is_here; });
    }

    ContentionWatch watch_;
};

TEST_F(ContentionWatchTest, NotifiesTheHolderOfANewWaiter) {
    put(acquire(1, 1, exclusive));
    watch_.watch(first, {"a"});
    EXPECT_THAT(take(), IsEmpty());
    waits(2, 1, shared);
    EXPECT_THAT(take(), ElementsAre(told(first, shared, 1)));
    EXPECT_THAT(take(), IsEmpty());
    waits(3, 1, exclusive);
    EXPECT_THAT(take(), ElementsAre(told(first, shared, 2)));  // he is the first still
}

TEST_F(ContentionWatchTest, NotifiesOncePerStepHoweverManyWait) {
    put(acquire(1, 1, exclusive));
    watch_.watch(first, {"a"});
    for (std::uint64_t seq = 1; seq <= 5; ++seq)
        waits(2, seq, exclusive);
    EXPECT_THAT(take(), ElementsAre(told(first, exclusive, 5)));
}

TEST_F(ContentionWatchTest, NotifiesOfWaitersThatCameBeforeTheGrant) {
    put(acquire(3, 1, exclusive));
    put(acquire(1, 1, exclusive));
    put(acquire(2, 1, exclusive));
    put(release(3, 2, 1));
    watch_.watch(first, {"a"});
    EXPECT_THAT(take(), ElementsAre(told(first, exclusive, 1)));
}

TEST_F(ContentionWatchTest, NotifiesOnlyHoldersThatAreWaitedFor) {
    put(acquire(1, 1, intent_shared));
    put(acquire(2, 1, shared));
    watch_.watch(first, {"a"});
    watch_.watch(second, {"a"});
    waits(3, 1, intent_exclusive);
    EXPECT_THAT(take(), ElementsAre(told(second, intent_exclusive, 1)));
    waits(3, 2, exclusive);
    EXPECT_THAT(take(), ElementsAre(told(first, exclusive, 2), told(second, intent_exclusive, 2)));
}

TEST_F(ContentionWatchTest, AnUpgradeNotifiesOnlyTheOtherHolders) {
    put(acquire(1, 1, shared));
    put(acquire(2, 1, update));
    watch_.watch(first, {"a"});
    watch_.watch(second, {"a"});
    put(request(2, 2, Upgrade{Seq{1}, true}));
    watch_.somebody_waits("a");
    EXPECT_THAT(take(), ElementsAre(told(first, exclusive, 1)));
}

TEST_F(ContentionWatchTest, ABarrierCountsAsAWaiter) {
    put(acquire(1, 1, shared));
    watch_.watch(first, {"a"});
    put(request(2, 1,
                Acquire{{{"a", exclusive}, {"b", exclusive}},
                        true,
                        {},
                        false,
                        {},
                        0,
                        {},
                        {},
                        Acquire::Which::all}));
    watch_.somebody_waits("a");
    EXPECT_THAT(take(), ElementsAre(told(first, exclusive, 1)));
}

TEST_F(ContentionWatchTest, EachOfSeveralNamesCounts) {
    put(request(1, 1,
                Acquire{{{"a", exclusive}, {"b", exclusive}},
                        true,
                        {},
                        false,
                        {},
                        0,
                        {},
                        {},
                        Acquire::Which::all}));
    watch_.watch(first, {"a", "b"});
    put(acquire(2, 1, shared, "b"));
    watch_.somebody_waits("b");
    EXPECT_THAT(take(), ElementsAre(told(first, shared, 1)));
}

TEST_F(ContentionWatchTest, AFormerHolderIsNotNotified) {
    put(acquire(1, 1, exclusive));
    watch_.watch(first, {"a"});
    waits(2, 1, exclusive);
    asks_for({first});
    watch_.forget(first);  // as when it is broken, and others wait for its node to say so
    watch_.forget(first);  // once more does no harm
    EXPECT_TRUE(watch_.is_empty());
    EXPECT_THAT(take(), IsEmpty());
}

TEST_F(ContentionWatchTest, PassesOnARequestToRelease) {
    put(acquire(1, 1, exclusive));
    put(acquire(2, 1, exclusive));
    watch_.watch(first, {"a"});
    (void)take();
    asks_for({first, second});
    EXPECT_THAT(take(), ElementsAre(Contended{first, exclusive, 1, "please"}));
}

// The owner learns of its grant a moment after the cluster does.
TEST_F(ContentionWatchTest, PassesOnARequestFromJustBeforeTheWatch) {
    put(acquire(1, 1, exclusive));
    asks_for({first});
    EXPECT_THAT(take(), IsEmpty());
    watch_.watch(first, {"a"});
    EXPECT_THAT(take(), ElementsAre(Contended{first, exclusive, 0, "please"}));
    asks_for({second}, false);  // another node's
    watch_.watch(second, {"a"});
    EXPECT_THAT(take(), IsEmpty());
}

TEST_F(ContentionWatchTest, ForgetsARequestForAHoldThatIsGone) {
    put(acquire(1, 1, exclusive));
    asks_for({first});
    watch_.forget(first);
    watch_.watch(first, {"a"});
    EXPECT_THAT(take(), IsEmpty());
}

TEST_F(ContentionWatchTest, ExaminesAllNamesAfterTheStateWasReplaced) {
    put(acquire(1, 1, exclusive));
    watch_.watch(first, {"a"});
    (void)take();
    put(acquire(2, 1, exclusive));
    EXPECT_THAT(take(), IsEmpty());
    watch_.on_state_replaced();
    EXPECT_THAT(take(), ElementsAre(told(first, exclusive, 1)));
}

}  // namespace
}  // namespace mortise::core
