// The judge of barriers finds what is wrong with arrivals (S35).
#include <gtest/gtest.h>

#include "tests/sim/judges/lock_history_by_hand.hpp"

namespace mortise::sim::test {
namespace {

struct BarrierHistory : LockHistoryTest {
    static core::Request arrive(core::SessionId session, const std::string& label) {
        return {session, core::Seq{1}, core::Arrive{"step", 2, false, label}};
    }
    void ask(core::NodeId node, std::uint64_t tag, const core::Request& request) {
        history.asked(node, core::AwaitCall{core::CallTag{tag}, request.body});
    }
    void tell(core::NodeId node, std::uint64_t tag) {
        history.answered(node, {core::CallTag{tag}, core::Passed{}}, last);
    }
};

TEST_F(BarrierHistory, WhoIsToldMayPass) {
    const auto one = arrive(of_a, "arrival 1");
    const auto other = arrive(of_b, "arrival 2");
    ask(a, 1, one);
    ask(b, 2, other);
    apply({one, other});
    tell(a, 1);
    tell(b, 2);
    EXPECT_EQ(found(), "");
}

TEST_F(BarrierHistory, APassThatTheLogDoesNotHaveIsNoticed) {
    const auto one = arrive(of_a, "arrival 1");
    ask(a, 1, one);
    apply({one});
    tell(a, 1);
    EXPECT_NE(found().find("passed, but not in the log"), std::string::npos) << found();
}

struct BarrierBooks : testing::Test {
    static core::OperationId operation(std::uint64_t seq) {
        return {core::SessionId{1}, core::Seq{seq}};
    }
    Violations violations;
    Tally tally;
    BarrierBook book{violations, tally};
    const core::Arrive two{"step", 2, false, "arrival 1"};
    const core::Arrive drops{"step", 2, true, {}};
};

TEST_F(BarrierBooks, ALaterPhaseHasOnlyThoseThatDidNotDrop) {
    book.queued(operation(1), two);
    book.dropped(operation(2), drops);
    book.dropped(operation(2), drops);
    book.passed(operation(1), two, core::LogIndex{3});
    book.passed(operation(3), two, core::LogIndex{4});
    EXPECT_FALSE(violations.first());
    EXPECT_EQ(book.passed_at("arrival 1"), core::LogIndex{4});
}

TEST_F(BarrierBooks, APassBeforeAllHaveArrivedIsNoticed) {  // P2
    book.queued(operation(1), two);
    book.passed(operation(1), two, core::LogIndex{2});
    EXPECT_TRUE(violations.first());
}

TEST_F(BarrierBooks, APassOfTheFirstIsNoticed) {
    book.passed(operation(1), two, core::LogIndex{2});
    EXPECT_TRUE(violations.first());
}

TEST_F(BarrierBooks, ABreakAfterAllHadArrivedIsNoticed) {
    book.queued(operation(1), two);
    book.passed(operation(2), two, core::LogIndex{2});
    book.broken(operation(1), two);
    EXPECT_TRUE(violations.first());
}

}  // namespace
}  // namespace mortise::sim::test
