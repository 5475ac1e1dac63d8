// Each kind of excessive overtaking is detected.
#include "tests/sim/judges/fairness.hpp"

#include <gtest/gtest.h>

#include "tests/sim/base/expect_violation.hpp"

namespace mortise::sim {
namespace {

using enum core::LockMode;

constexpr core::OperationId operation(std::uint64_t number) {
    return {core::SessionId{1 + number % 2}, core::Seq{number}};
}

struct FairnessTest : testing::Test {
    void waits(std::uint64_t number, core::LockMode mode, core::Priority priority = 0) {
        fairness.queued("name", {operation(number), mode, priority, false});
    }
    void begins(core::QueuePolicy policy = core::QueuePolicy::phase_fair) {
        fairness.learn_policies([policy](const std::string&) { return policy; });
    }
    // Grants it in an entry of its own.
    void enters(std::uint64_t number, core::LockMode mode, core::Priority priority = 0) {
        index = index.next();
        fairness.granted("name", {operation(number), mode, priority, false}, index);
        fairness.left(operation(number));
    }
    [[nodiscard]] std::string found() const {
        return violations.first() ? violations.first()->what : "";
    }

    Violations violations;
    Tally tally;
    Fairness fairness{violations, tally};
    core::LogIndex index;
};

TEST_F(FairnessTest, AWriterIsPassedByNoWriter) {
    waits(1, exclusive);
    waits(2, exclusive);
    begins();
    enters(2, exclusive);
    EXPECT_VIOLATION("S29: a writer passed a writer");
}

TEST_F(FairnessTest, AWriterIsPassedByOneBatchAndOneForEachAheadOfIt) {
    waits(1, exclusive);
    waits(2, exclusive);
    begins();
    enters(3, shared);
    enters(1, exclusive);
    enters(4, shared);
    EXPECT_EQ(found(), "");
    enters(5, shared);
    EXPECT_VIOLATION("S31: a writer overtaken too often");
}

TEST_F(FairnessTest, AReaderIsPassedByTwoWriters) {
    waits(1, shared);
    begins();
    enters(2, exclusive);
    enters(3, exclusive);
    EXPECT_EQ(found(), "");
    enters(4, exclusive);
    EXPECT_VIOLATION("S31: a reader overtaken too often");
}

TEST_F(FairnessTest, InAFifoNobodyIsPassed) {
    waits(1, exclusive);
    begins(core::QueuePolicy::fifo);
    enters(2, shared);
    EXPECT_VIOLATION("S31: overtaken in a queue");
}

TEST_F(FairnessTest, ARequestWithoutConflictsOvertakesNone) {
    waits(1, shared);
    begins(core::QueuePolicy::fifo);
    enters(2, intent_shared);
    EXPECT_EQ(found(), "");
}

TEST_F(FairnessTest, APreferencePassesSixtyFourTimes) {
    waits(1, exclusive);
    begins(core::QueuePolicy::prefer_readers);
    for (std::uint64_t reader = 2; reader < 66; ++reader)
        enters(reader, shared);
    EXPECT_EQ(found(), "");
    EXPECT_EQ(tally.probes().at("overtaken 8 times"), 1U);
    enters(66, shared);
    EXPECT_VIOLATION("S29: overtaken, and moves up no class");
}

TEST_F(FairnessTest, APriorityPassesSixtyFourTimes) {
    waits(1, exclusive);
    begins(core::QueuePolicy::fifo);
    for (std::uint64_t other = 2; other < 66; ++other)
        enters(other, exclusive, 7);
    EXPECT_EQ(found(), "");
    enters(66, exclusive, 7);
    EXPECT_VIOLATION("S31: overtaken in a queue");
}

TEST_F(FairnessTest, ABarrierIsNotPassed) {
    fairness.queued("name", {operation(1), shared, 0, true});
    begins();
    enters(2, shared);
    EXPECT_VIOLATION("S32: a barrier was passed");
}

TEST_F(FairnessTest, ARequestThatLeftIsNotOvertaken) {
    waits(1, exclusive);
    waits(2, exclusive);
    waits(4, exclusive);
    begins();
    fairness.left(operation(1));
    fairness.ended(operation(2).session);
    enters(6, shared);
    enters(8, exclusive);
    EXPECT_EQ(found(), "");
}

}  // namespace
}  // namespace mortise::sim
