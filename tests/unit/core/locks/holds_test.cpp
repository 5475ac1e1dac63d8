#include "core/locks/table/holds.hpp"

#include <gtest/gtest.h>

#include "core/base/check.hpp"

namespace mortise::core {
namespace {

using enum LockMode;

class HoldsTest : public testing::Test {
protected:
    HoldsTest() { holds_.begin(LogIndex{5}); }

    static OperationId operation(std::uint64_t session) { return {SessionId{session}, Seq{1}}; }
    FencingToken grant(std::uint64_t session, LockMode mode, const HoldTerms& terms = {}) {
        Waiter waiter;
        waiter.operation = operation(session);
        waiter.mode = mode;
        waiter.terms = terms;
        return holds_.grant("a", record_, waiter);
    }
    bool release(std::uint64_t session, Predecessor how) {
        return holds_.release("a", record_, operation(session), how);
    }
    [[nodiscard]] const Holder* hold(std::uint64_t session) const {
        return record_.find(operation(session));
    }

    Holds holds_;
    LockRecord record_{QueuePolicy::phase_fair};
};

TEST_F(HoldsTest, TakeTokensFromOneCounter) {  // S12, S13
    holds_.restore_newest(FencingToken{8});
    EXPECT_EQ(grant(1, shared), FencingToken{9});
    EXPECT_EQ(grant(2, shared), FencingToken{9});
    EXPECT_EQ(grant(3, update), FencingToken{10});
    EXPECT_EQ(hold(3)->since, LogIndex{5});
    EXPECT_THROW(grant(4, exclusive), InvariantBroken);
    release(1, Predecessor::clean);
    release(2, Predecessor::clean);
    EXPECT_EQ(holds_.convert("a", record_, operation(3)), FencingToken{11});
    EXPECT_EQ(hold(3)->mode, exclusive);
    EXPECT_EQ(holds_.newest_token(), FencingToken{11});
}

TEST_F(HoldsTest, BlockTheNameForTheirMinHold) {  // S8
    grant(1, exclusive, {0, 100, 0});
    EXPECT_TRUE(holds_.closures().keeps("a", operation(1)));
    EXPECT_TRUE(release(1, Predecessor::clean));
    ASSERT_NE(hold(1), nullptr);
    EXPECT_EQ(hold(1)->left, Predecessor::clean);
    EXPECT_TRUE(holds_.has_more("a"));
    EXPECT_FALSE(holds_.remove_left("a", record_, FencingToken{7}));
    EXPECT_TRUE(holds_.remove_left("a", record_, FencingToken{1}));
    EXPECT_EQ(hold(1), nullptr);
    EXPECT_FALSE(holds_.has_more("a"));
}

TEST_F(HoldsTest, OnlyALossBeginsTheLockDelay) {  // S9
    grant(1, shared, {0, 0, 100});
    grant(2, shared, {0, 0, 100});
    release(1, Predecessor::clean);
    EXPECT_EQ(hold(1), nullptr);
    release(2, Predecessor::expired);
    ASSERT_NE(hold(2), nullptr);
    EXPECT_EQ(holds_.closures().of("a").front().kind, Closure::Kind::lock_delay);
}

TEST_F(HoldsTest, LeaveTheValueDirtyUnlessTheyEndCleanly) {  // S36
    holds_.values().set("a", "x");
    grant(1, exclusive);
    release(1, Predecessor::clean);
    grant(2, shared);
    release(2, Predecessor::expired);
    EXPECT_FALSE(holds_.values().find("a")->dirty);
    grant(3, exclusive);
    release(3, Predecessor::expired);
    EXPECT_TRUE(holds_.values().find("a")->dirty);
}

TEST_F(HoldsTest, AreBrokenUntilTheirNodeCanKnow) {  // S24
    holds_.values().set("a", "x");
    grant(1, exclusive, {100, 0, 0});
    EXPECT_TRUE(holds_.count_max_hold("a", *hold(1)));
    EXPECT_FALSE(holds_.count_max_hold("a", *hold(1)));  // it is counted already
    EXPECT_TRUE(holds_alone(&record_, operation(1)));
    holds_.mark_broken("a", record_, operation(1), LogIndex{4}, {});
    EXPECT_FALSE(holds_alone(&record_, operation(1)));
    EXPECT_TRUE(holds_.values().find("a")->dirty);
    ASSERT_EQ(holds_.closures().of("a").size(), 1U);
    EXPECT_EQ(holds_.closures().of("a").front().kind, Closure::Kind::broken);
    EXPECT_FALSE(holds_.count_max_hold("a", *hold(1)));
}

}  // namespace
}  // namespace mortise::core
