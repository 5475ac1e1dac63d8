// The judge of the order in which owners and the cluster learn of a loss.
#include "tests/sim/judges/tellings.hpp"

#include <chrono>

#include "tests/sim/base/expect_violation.hpp"
#include "tests/sim/judges/lock_history_by_hand.hpp"

namespace mortise::sim::test {
namespace {

using namespace std::chrono_literals;

// Node a has the name, and loses it.
struct TellingsTest : LockHistoryTest {
    void SetUp() override {
        acquire_and_tell(a, of_a, 1);
        tellings.lost(a, its);
    }
    void goes_back() {
        apply({release(of_a, 2, 1)});
        tellings.applied(history.book());
    }

    core::Instant steady{1'000};
    Tellings tellings{violations, tally, [this](core::NodeId) { return steady; }};
    core::OperationId its = operation(of_a, 1);
};

TEST_F(TellingsTest, TheOwnerComesFirst) {
    tellings.told(its);
    goes_back();
    EXPECT_FALSE(violations.first()) << found();
}

TEST_F(TellingsTest, TheClusterDoesNotComeFirst) {
    tellings.applied(history.book());
    EXPECT_FALSE(violations.first()) << found();
    steady = steady + 99ms;
    goes_back();
    EXPECT_VIOLATION("telling: operation 1/1 went back before its owner was told");
}

TEST_F(TellingsTest, ACloseDoesNotComeFirst) {
    apply({closing(of_a)});
    tellings.applied(history.book());
    EXPECT_VIOLATION("telling: operation 1/1 went back before its owner was told");
}

TEST_F(TellingsTest, UnlessThatTakesTooLong) {
    steady = steady + 100ms;
    goes_back();
    EXPECT_FALSE(violations.first()) << found();
}

TEST_F(TellingsTest, TheDeadNeedNotBeTold) {
    tellings.node_lost(b);
    tellings.node_lost(a);
    goes_back();
    EXPECT_FALSE(violations.first()) << found();
}

TEST_F(TellingsTest, TheLivingMust) {
    tellings.node_lost(b);
    goes_back();
    EXPECT_VIOLATION("telling: ");
}

}  // namespace
}  // namespace mortise::sim::test
