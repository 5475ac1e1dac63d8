// The judge of latches finds what is wrong with counts and waits (S35).
#include <gtest/gtest.h>

#include "tests/sim/judges/lock_history_by_hand.hpp"

namespace mortise::sim::test {
namespace {

struct LatchHistory : LockHistoryTest {
    static core::Request count(core::SessionId session, std::uint64_t seq) {
        return {session, core::Seq{seq}, core::CountDown{"ready", 1, 1}};
    }
    static core::Request wait(core::SessionId session, std::uint64_t seq) {
        return {session, core::Seq{seq}, core::AwaitLatch{"ready", 1, "wait 1"}};
    }
    void ask_to_wait() { history.asked(a, core::AwaitCall{core::CallTag{1}, wait(of_a, 1).body}); }
    void ask_to_count() {
        history.asked(b, core::WriteCall{core::CallTag{2}, {}, count(of_b, 1).body});
    }
    void tell(core::NodeId node, std::uint64_t tag, decltype(core::CallAnswer::result) result) {
        history.answered(node, {core::CallTag{tag}, std::move(result)}, last);
    }
};

TEST_F(LatchHistory, WhoIsToldMayPass) {
    ask_to_wait();
    ask_to_count();
    apply({wait(of_a, 1), count(of_b, 1)});
    tell(a, 1, core::Passed{});
    tell(b, 2, core::Written{});
    EXPECT_EQ(found(), "");
}

TEST_F(LatchHistory, APassThatTheLogDoesNotHaveIsNoticed) {
    ask_to_wait();
    apply({wait(of_a, 1)});
    tell(a, 1, core::Passed{});
    EXPECT_NE(found().find("passed, but not in the log"), std::string::npos) << found();
}

TEST_F(LatchHistory, ACountThatTheLogDoesNotHaveIsNoticed) {
    ask_to_count();
    tell(b, 2, core::Written{});
    EXPECT_NE(found().find("a count that the log does not have"), std::string::npos) << found();
}

struct LatchBooks : testing::Test {
    Violations violations;
    Tally tally;
    LatchBook book{violations, tally};
    static core::OperationId operation(std::uint64_t seq) {
        return {core::SessionId{1}, core::Seq{seq}};
    }
};

TEST_F(LatchBooks, ARepeatedAnswerCountsOnce) {
    const core::CountDown two{"ready", 2, 2};
    book.counted(operation(1), two);
    book.counted(operation(1), two);
    book.passed(operation(2), {"ready", 2, "wait 1"}, core::LogIndex{3});
    EXPECT_FALSE(violations.first());
    EXPECT_EQ(book.passed_at("wait 1"), core::LogIndex{3});
}

TEST_F(LatchBooks, ACountBelowZeroIsNoticed) {
    book.counted(operation(1), {"ready", 1, 1});
    book.counted(operation(2), {"ready", 1, 1});
    EXPECT_TRUE(violations.first());
}

TEST_F(LatchBooks, APassAboveZeroIsNoticed) {  // P2
    book.queued(operation(1), {"ready", 1, "wait 1"});
    book.passed(operation(1), {"ready", 0, "wait 1"}, core::LogIndex{2});
    EXPECT_TRUE(violations.first());
}

}  // namespace
}  // namespace mortise::sim::test
