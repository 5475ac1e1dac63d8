// Observers whose position their node has not reached (S46).
#include "embed/runtime/ahead_observers.hpp"

#include <gtest/gtest.h>

namespace mortise::detail {
namespace {

using namespace std::chrono_literals;
using core::Instant;
using core::LogIndex;
using core::Observer;

class AheadObserversTest : public ::testing::Test {
protected:
    struct Observing {
        Observer observer{{"a"}, {LogIndex{9}, 1}};
        Instant since = Instant::never();
        [[nodiscard]] bool has_begun_anew() const { return !observer.reached().is_set(); }
    };
    void judge(Observing& one, std::int64_t at) {
        ahead_.judge(one.observer, one.since, changes_, Instant{at});
    }
    bool begin_read(std::int64_t at) { return ahead_.begin_read(Instant{at}); }
    void end_read(bool has_succeeded, std::int64_t at) {
        ahead_.end_read(has_succeeded, Instant{at});
    }

    core::ChangeRing changes_{LogIndex{5}};
    AheadObservers ahead_{
        std::make_shared<CallGate>([] {}, 1s, std::make_shared<Notifier>("test"), 20), 1s};
};

TEST_F(AheadObserversTest, BeginAnewWhenAReadIsAnswered) {
    Observing one;
    EXPECT_FALSE(begin_read(1));
    judge(one, 10);
    judge(one, 11);
    EXPECT_TRUE(begin_read(20));
    EXPECT_FALSE(begin_read(21));  // one at a time
    judge(one, 22);
    EXPECT_FALSE(one.has_begun_anew());
    end_read(true, 30);
    judge(one, 31);
    EXPECT_TRUE(one.has_begun_anew());
    judge(one, 32);
    EXPECT_FALSE(begin_read(33));
}

// What was committed before the observer came may not be among what was read.
TEST_F(AheadObserversTest, ThatComeLaterWaitForTheNextRead) {
    Observing first;
    Observing second;
    judge(first, 10);
    EXPECT_TRUE(begin_read(20));
    judge(second, 20);
    end_read(true, 30);
    judge(first, 31);
    judge(second, 31);
    EXPECT_TRUE(first.has_begun_anew());
    EXPECT_FALSE(second.has_begun_anew());
    EXPECT_TRUE(begin_read(32));
    end_read(true, 33);
    judge(second, 34);
    EXPECT_TRUE(second.has_begun_anew());
}

TEST_F(AheadObserversTest, GoOnIfTheirNodeHasCaughtUp) {
    Observing one;
    judge(one, 10);
    EXPECT_TRUE(begin_read(20));
    changes_.restart(LogIndex{9});
    end_read(true, 30);
    judge(one, 31);
    EXPECT_FALSE(one.has_begun_anew());
    EXPECT_EQ(one.since, Instant::never());
}

TEST_F(AheadObserversTest, AskAgainAfterAWhileIfNobodyAnswers) {
    Observing one;
    judge(one, 10);
    EXPECT_TRUE(begin_read(20));
    end_read(false, 30);
    judge(one, 31);
    EXPECT_FALSE(one.has_begun_anew());
    EXPECT_FALSE(begin_read(40));
    EXPECT_TRUE(begin_read(1'000'000'030));
    end_read(true, 1'000'000'040);
    judge(one, 1'000'000'041);
    EXPECT_TRUE(one.has_begun_anew());
}

}  // namespace
}  // namespace mortise::detail
