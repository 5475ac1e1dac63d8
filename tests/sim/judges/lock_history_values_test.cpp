// Values and breaks, for the judge of locks.
#include "tests/sim/base/expect_violation.hpp"
#include "tests/sim/judges/lock_history_by_hand.hpp"

namespace mortise::sim::test {
namespace {

struct LockWritingTest : LockHistoryTest {
    core::WriteCall writing(std::uint64_t tag) {
        return {core::CallTag{tag}, operation(of_a, 1),
                core::SetValue{core::Seq{1}, "name", "bytes"}};
    }
    [[nodiscard]] core::Request breaking(std::uint64_t seq, bool immediate) const {
        return {of_b, core::Seq{seq},
                core::BreakLock{"name", token_of(operation(of_a, 1)),
                                "reason " + std::to_string(seq), immediate}};
    }
    void write(std::uint64_t seq) { apply({core::Request{of_a, core::Seq{seq}, writing(0).body}}); }
    template <class Result>
    void tell(std::uint64_t tag, Result result) {
        history.answered(a, {core::CallTag{tag}, result}, last);
    }
};

TEST_F(LockWritingTest, IsContentWithAnHonestHistory) {
    acquire_and_tell(a, of_a, 1);
    history.asked(a, writing(7));
    write(2);
    tell(7, core::Written{});
    inspect(a, 8);
    tell(8, core::Viewed{{machine.inspect("name")}});
    inspect(a, 9);
    tell(9, core::Viewed{machine.list("", "", 10)});  // without the bytes
    EXPECT_EQ(found(), "");
    EXPECT_EQ(tally.probes().at("value written"), 1U);
}

TEST_F(LockWritingTest, SeesAWriteThatIsNotInTheLog) {
    acquire_and_tell(a, of_a, 1);
    history.asked(a, writing(7));
    tell(7, core::Written{});
    EXPECT_VIOLATION("a write that the log does not have");
}

TEST_F(LockWritingTest, SeesAWriteFromBeforeItWasAskedFor) {
    acquire_and_tell(a, of_a, 1);
    write(2);
    inspect(b, 8);
    history.answered(b, {core::CallTag{8}, core::Viewed{{machine.inspect("name")}}}, last);
    history.asked(a, writing(7));
    tell(7, core::Written{});
    EXPECT_VIOLATION("a write that the log does not have");
}

TEST_F(LockWritingTest, SeesARefusedWriteThatIsInTheLog) {
    acquire_and_tell(a, of_a, 1);
    history.asked(a, writing(7));
    write(2);
    tell(7, core::CallError::lock_lost);
    EXPECT_VIOLATION("what was refused is in the log: bytes");
}

TEST_F(LockWritingTest, NobodyNeedKnowWhatBecameOfAWrite) {
    acquire_and_tell(a, of_a, 1);
    history.asked(a, writing(7));
    write(2);
    tell(7, core::CallError::outcome_unknown);
    EXPECT_EQ(found(), "");
}

TEST_F(LockWritingTest, SeesWhatIsWrittenTwice) {
    acquire_and_tell(a, of_a, 1);
    write(2);
    write(3);
    EXPECT_VIOLATION("written twice: bytes");
}

TEST_F(LockWritingTest, SeesAValueThatLooksOther) {
    acquire_and_tell(a, of_a, 1);
    write(2);
    auto view = machine.inspect("name");
    view.value->dirty = true;
    inspect(a, 8);
    tell(8, core::Viewed{{view}});
    EXPECT_VIOLATION("name looks other than specified");
}

TEST_F(LockWritingTest, SeesWhoBelievesInWhatAQuorumHasOpened) {
    acquire_and_tell(a, of_a, 1);
    apply({breaking(1, false)});
    apply({core::EndClosure{core::ClosureId{1}}});
    EXPECT_EQ(tally.probes().at("broken name opened by a quorum"), 1U);
    acquire_and_tell(b, of_b, 2);
    EXPECT_VIOLATION("local validity: node 2 and node 1 both believe to hold name");
}

TEST_F(LockWritingTest, AnImpatientBreakAllowsTwoHolders) {
    acquire_and_tell(a, of_a, 1);
    apply({breaking(1, true)});
    acquire_and_tell(b, of_b, 2);
    EXPECT_EQ(found(), "");
}

// The name was broken with patience first, and then without.
TEST_F(LockWritingTest, ASecondImpatientBreakAllowsTwoHolders) {
    acquire_and_tell(a, of_a, 1);
    auto again = breaking(2, true);
    apply({breaking(1, false)});
    apply({again});
    acquire_and_tell(b, of_b, 3);
    EXPECT_EQ(found(), "");
}

// The node receives the grant after the break is in the log.
TEST_F(LockWritingTest, AHoldMayBeReportedAfterAnImpatientBreak) {
    ask(a, 1);
    apply({acquire(of_a, 1)});
    const auto token = token_of(operation(of_a, 1));
    apply({breaking(1, true)});
    acquire_and_tell(b, of_b, 2);
    answer(a, 1, operation(of_a, 1), token);
    EXPECT_EQ(found(), "");
}

// The holder's node has the grant in its cache, and does not know of the break yet.
TEST_F(LockWritingTest, ACachedGrantMayBeUsedAfterAnImpatientBreak) {
    ask(a, 1);
    auto request = acquire(of_a, 1);
    std::get<core::Acquire>(request.body).cached_tokens = 8;
    apply({request});
    const auto grant = operation(of_a, 1);
    const auto token = token_of(grant);
    answer(a, 1, grant, token);
    history.releasing(grant);
    apply({breaking(1, true)});
    acquire_and_tell(b, of_b, 2);
    history.took(a, grant, core::FencingToken{token.raw() + 1});
    EXPECT_EQ(found(), "");
}

}  // namespace
}  // namespace mortise::sim::test
