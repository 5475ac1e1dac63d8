// What an observer is told (S46).
#include "core/observe/observer.hpp"

#include "tests/spec/replay.hpp"
#include "tests/unit/core/observe/observing.hpp"

namespace mortise::core {
namespace {

using enum LockMode;

class ObserverTest : public ObservingTest {
protected:
    ObserverTest() : ObservingTest{{8, 1'000}} {}

    // Names that are held from the beginning on.
    void hold(std::initializer_list<const char*> names) {
        for (const auto* name : names)
            log(acquire(1, next_of(1), exclusive, name));
    }
    void take_and_release(const char* name, int times) {
        for (; times > 0; --times) {
            hold({name});
            log(release(1, next_of(1), next_of(1) - 1));
        }
    }
};

TEST_F(ObserverTest, BeginsWithTheStateAndFollowsTheChanges) {
    hold({"a", "ab", "b"});
    log(set(1, 4, 1, "x"));
    Observer observer{{"a"}, {}};
    EXPECT_EQ(take(observer), "gap; state a 1.1 X =x; state ab 1.2 X; complete");
    EXPECT_FALSE(observer.has_more());
    EXPECT_EQ(take(observer), "");
    log({release(1, 5, 2), acquire(2, 1, exclusive, "c"), acquire(3, 1, shared, "ab")});
    EXPECT_EQ(take(observer), "released ab 1.2 X 2 clean; granted ab 3.1 S 5");
    EXPECT_EQ(last_, (Position{index_, 3}));
}

TEST_F(ObserverTest, ChangesAndStatesSayFromWhereTheirSessionsCome) {
    auto open = opening(4);
    open.origin = {"db3", "backup", 4'711, {}};
    log(open);
    hold({"a"});
    log(acquire(4, 1, exclusive, "b"));
    Observer observer{{""}, {}};
    ObserverBudget budget{100, 100};
    std::vector<Observed> told;
    observer.take(ring_, machine_, budget, told);
    EXPECT_FALSE(std::get<NameState>(told.at(1).what).origins.at(0).is_set());
    EXPECT_EQ(std::get<NameState>(told.at(2).what).origins.at(0), open.origin);
    told.clear();
    log(release(4, 2, 1));
    observer.take(ring_, machine_, budget, told);
    EXPECT_EQ(told.at(0).origin, open.origin);
}

// Another observer may begin there, although nothing was told for long.
TEST_F(ObserverTest, KnowsHowFarItIs) {
    hold({"a", "b"});
    Observer observer{{"a"}, {}};
    EXPECT_FALSE(observer.reached().is_set());
    EXPECT_EQ(take(observer, 2), "gap; state a 1.1 X");
    EXPECT_FALSE(observer.reached().is_set());
    EXPECT_EQ(take(observer), "complete");
    EXPECT_EQ(observer.reached(), Position::after(index_));
    take_and_release("b", 3);
    EXPECT_EQ(take(observer), "");
    EXPECT_EQ(observer.reached(), Position::after(index_));
    log({release(1, next_of(1), 1), acquire(2, 1, exclusive, "c")});
    EXPECT_EQ(take(observer, 1), "released a 1.1 X 1 clean");
    EXPECT_EQ(observer.reached(), (Position{index_, 1}));
}

TEST_F(ObserverTest, MayObserveOneName) {
    hold({"a", "ab"});
    Observer observer{{"a", true}, {}};
    EXPECT_EQ(take(observer), "gap; state a 1.1 X; complete");
    log({release(1, 3, 2), release(1, 4, 1)});
    EXPECT_EQ(take(observer), "released a 1.1 X 1 clean");
}

TEST_F(ObserverTest, IsToldThatNothingIsThere) {
    Observer observer{{"a"}, {}};
    EXPECT_EQ(take(observer), "gap; complete");
    EXPECT_EQ(last_, Position::after(index_));
}

TEST_F(ObserverTest, ContinuesFromItsPosition) {
    hold({"a"});
    Observer first{{"a"}, {}};
    take(first);
    const auto position = last_;
    log({release(1, 2, 1), acquire(1, 3, exclusive)});
    Observer second{{"a"}, position};
    EXPECT_EQ(take(second), "released a 1.1 X 1 clean; granted a 1.3 X 2");
    Observer third{{"a"}, {index_, 1}};
    EXPECT_EQ(take(third), "granted a 1.3 X 2");
}

TEST_F(ObserverTest, WaitsForANodeThatIsBehind) {
    hold({"a"});
    Observer observer{{"a"}, {index_.next(), 1}};
    EXPECT_EQ(take(observer), "");
    EXPECT_FALSE(observer.has_more());
    EXPECT_TRUE(observer.is_ahead(ring_));
    log({release(1, 2, 1), acquire(1, 3, exclusive)});
    EXPECT_EQ(take(observer), "granted a 1.3 X 2");
    EXPECT_FALSE(observer.is_ahead(ring_));
}

TEST_F(ObserverTest, BeginsAnewWhereItsPositionIsNotKnown) {
    Observer observer{{"a"}, {LogIndex{2}, 1}};
    EXPECT_EQ(take(observer), "gap; complete");
}

// Its log has other changes at the same places, wherever that place is.
TEST_F(ObserverTest, BeginsAnewInAnotherCluster) {  // S46, P2
    ring_.belongs_to(7);
    hold({"a"});
    for (const auto index : {index_.previous(), index_, LogIndex{4'711}}) {
        Observer observer{{"a"}, {index, 1, 6}};
        EXPECT_EQ(take(observer), "gap; state a 1.1 X; complete");
        EXPECT_EQ(last_.cluster, 7U);
        EXPECT_EQ(observer.reached().cluster, 7U);
    }
}

// It may have fewer entries than the node that the observer comes from, or more.
TEST_F(ObserverTest, WaitsForANodeThatHasNotAppliedTheEra) {  // S46
    ring_.belongs_to(7);
    hold({"a"});
    Observer observer{{"a"}, {index_, 1, 8}};
    EXPECT_EQ(take(observer), "");
    EXPECT_TRUE(observer.is_ahead(ring_));
    ring_.belongs_to(8);
    log({release(1, 2, 1), acquire(1, 3, exclusive)});
    EXPECT_EQ(take(observer), "released a 1.1 X 1 clean; granted a 1.3 X 2");
}

TEST_F(ObserverTest, ContinuesInItsClusterAndWhereNoneWasNamed) {  // S46
    ring_.belongs_to(7);
    hold({"a"});
    log({release(1, 2, 1), acquire(1, 3, exclusive)});
    for (const std::uint32_t cluster : {7, 0}) {
        Observer observer{{"a"}, {index_, 1, cluster}};
        EXPECT_EQ(take(observer), "granted a 1.3 X 2");
        EXPECT_EQ(last_.cluster, 7U);
        EXPECT_EQ(observer.reached().cluster, 7U);
    }
}

TEST_F(ObserverTest, StaysInItsClusterWhenTheStateIsReplaced) {  // S46
    ring_.belongs_to(7);
    Observer observer{{"a"}, {}};
    take(observer);
    ring_.restart(index_.next());
    EXPECT_EQ(take(observer), "gap; complete");
    EXPECT_EQ(last_.cluster, 7U);
}

TEST_F(ObserverTest, BeginsAnewIfItIsTooSlow) {  // P2
    Observer observer{{"a"}, {}};
    take(observer);
    take_and_release("a", 5);
    EXPECT_EQ(take(observer), "gap; complete");
}

TEST_F(ObserverTest, BeginsAnewWhenTheStateWasReplaced) {
    hold({"a"});
    Observer observer{{"a"}, {}};
    take(observer);
    ring_.restart(index_);
    EXPECT_EQ(take(observer), "");
    ring_.restart(index_.next());
    EXPECT_EQ(take(observer), "gap; state a 1.1 X; complete");
}

TEST_F(ObserverTest, IsToldNoMoreThanItHasRoomFor) {  // P11
    hold({"a", "ab", "ac"});
    Observer observer{{"a"}, {}};
    EXPECT_EQ(take(observer, 0), "");
    EXPECT_TRUE(observer.has_more());
    EXPECT_EQ(take(observer, 2), "gap; state a 1.1 X");
    EXPECT_TRUE(observer.has_more());
    EXPECT_EQ(take(observer, 2), "state ab 1.2 X; state ac 1.3 X");
    EXPECT_EQ(take(observer, 2), "complete");
    EXPECT_FALSE(observer.has_more());
    log({release(1, 4, 1), release(1, 5, 2), release(1, 6, 3)});
    EXPECT_EQ(take(observer, 2), "released a 1.1 X 1 clean; released ab 1.2 X 2 clean");
    EXPECT_TRUE(observer.has_more());
    EXPECT_EQ(take(observer, 2), "released ac 1.3 X 3 clean");
}

TEST_F(ObserverTest, LooksAtNoMoreThanItMay) {  // P10
    hold({"a", "b", "c"});
    Observer observer{{"c"}, Position::after(LogIndex{3})};
    EXPECT_EQ(take(observer, 9, 2), "");
    EXPECT_TRUE(observer.has_more());
    EXPECT_EQ(take(observer, 9, 2), "granted c 1.3 X 3");
    EXPECT_FALSE(observer.has_more());
}

// What changes while the state is told is told again, so that all of it is of one position.
TEST_F(ObserverTest, IsToldTheStateOfOnePosition) {  // P2
    hold({"a", "b", "c"});
    Observer observer{{""}, {}};
    EXPECT_EQ(take(observer, 3), "gap; state a 1.1 X; state b 1.2 X");
    log({release(1, 4, 1), release(1, 5, 3), acquire(2, 1, shared, "d")});
    EXPECT_EQ(take(observer), "state a; state d 2.1 S; complete");
    EXPECT_EQ(last_, Position::after(index_));
    log(release(1, 6, 2));
    EXPECT_EQ(take(observer), "released b 1.2 X 2 clean");
}

TEST_F(ObserverTest, BeginsAnewIfMuchChangesWhileItIsToldTheState) {
    hold({"a", "b"});
    Observer observer{{""}, {}};
    EXPECT_EQ(take(observer, 2), "gap; state a 1.1 X");
    take_and_release("c", 5);
    EXPECT_EQ(take(observer), "gap; state a 1.1 X; state b 1.2 X; complete");
}

// A hold of an ended session is told as released when it is swept, and belongs to the state until
// then (S11).
TEST_F(ObserverTest, SeesAnEndedSessionUntilItIsSwept) {
    hold({"a"});
    log(expiry(1));
    Observer observer{{"a"}, {}};
    EXPECT_EQ(take(observer), "gap; state a 1.1 X; complete");
    log(Sweep{});
    EXPECT_EQ(take(observer), "released a 1.1 X 1 expired");
}

}  // namespace
}  // namespace mortise::core
