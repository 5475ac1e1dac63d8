// The judge of locks is useful only if it detects errors: each kind of violation gets a history.
#include "tests/sim/base/expect_violation.hpp"
#include "tests/sim/judges/lock_history_by_hand.hpp"

namespace mortise::sim::test {
namespace {

TEST_F(LockHistoryTest, IsContentWithAnHonestHistory) {
    acquire_and_tell(a, of_a, 1);
    ask(b, 7);
    auto queued = entry({acquire(of_b, 1)});
    history.applied(a, queued);
    history.applied(b, queued);
    history.releasing(operation(of_a, 1));
    apply({release(of_a, 2, 1)});
    answer(b, 7, operation(of_b, 1), token_of(operation(of_b, 1)));
    inspect(a, 8);
    history.answered(a, {core::CallTag{8}, core::Viewed{{machine.inspect("name")}}}, last);
    EXPECT_EQ(found(), "");
    EXPECT_EQ(history.last(), last);
}

TEST_F(LockHistoryTest, SeesAnEntryThatDoesNotDecode) {
    auto applied = entry({acquire(of_a, 1)});
    applied.entry.payload = core::Bytes{"nonsense"};
    history.applied(a, applied);
    EXPECT_VIOLATION("an entry that does not decode");
}

TEST_F(LockHistoryTest, SeesAnOutcomeThatTheSpecificationDoesNotHave) {
    auto applied = entry({acquire(of_a, 1)});
    granted(applied).answer.previous.label = "somebody";
    history.applied(a, applied);
    EXPECT_VIOLATION("the specification differs at index 2");
}

TEST_F(LockHistoryTest, SeesTwoNodesThatDiffer) {
    auto applied = entry({acquire(of_a, 1)});
    history.applied(a, applied);
    applied.outcomes.clear();
    history.applied(b, applied);
    EXPECT_VIOLATION("other outcomes at index 2");
}

TEST_F(LockHistoryTest, SeesAGrantThatNobodyAskedFor) {
    auto applied = entry({acquire(of_a, 1)});
    granted(applied).operation = operation(of_b, 9);
    history.applied(a, applied);
    EXPECT_VIOLATION("was granted, not asked for");
}

TEST_F(LockHistoryTest, SeesATokenThatDoesNotRise) {  // P1
    apply({acquire(of_a, 1), release(of_a, 2, 1)});
    auto applied = entry({acquire(of_a, 3)});
    granted(applied).answer.token = core::FencingToken{1};
    history.applied(a, applied);
    EXPECT_VIOLATION("token order");
}

TEST_F(LockHistoryTest, SeesAGrantThatIsNotInTheLog) {
    ask(a, 1);
    answer(a, 1, operation(of_a, 1), core::FencingToken{1});
    EXPECT_VIOLATION("a grant that the log does not have");
}

TEST_F(LockHistoryTest, SeesAGrantToldWithAnotherToken) {
    ask(a, 1);
    apply({acquire(of_a, 1)});
    answer(a, 1, operation(of_a, 1), token_of(operation(of_a, 1)).next());
    EXPECT_VIOLATION("a grant that the log does not have");
}

TEST_F(LockHistoryTest, SeesAGrantFromBeforeItWasAskedFor) {
    apply({acquire(of_a, 1)});
    inspect(b, 8);
    history.answered(b, {core::CallTag{8}, core::Viewed{{machine.inspect("name")}}}, last);
    ask(a, 1);
    answer(a, 1, operation(of_a, 1), token_of(operation(of_a, 1)));
    EXPECT_VIOLATION("took effect before it was asked");
}

TEST_F(LockHistoryTest, SeesAReadOfAStateThatIsTooOld) {
    acquire_and_tell(a, of_a, 1);
    inspect(b, 8);
    history.answered(b, {core::CallTag{8}, core::Viewed{}}, last.previous());
    EXPECT_VIOLATION("real time: a read as of index 1");
}

TEST_F(LockHistoryTest, LetsALocalReadBeOld) {
    acquire_and_tell(a, of_a, 1);
    core::InspectCall call;
    call.tag = core::CallTag{8};
    call.local = true;
    history.inspected(b, call);
    history.answered(b, {core::CallTag{8}, core::Viewed{}}, last.previous());
    EXPECT_EQ(found(), "");
}

TEST_F(LockHistoryTest, SeesABusyAnswerFromAStateThatIsTooOld) {
    acquire_and_tell(a, of_a, 1);
    ask(b, 8);
    history.answered(b, {core::CallTag{8}, core::Busy{}}, last.previous());
    EXPECT_VIOLATION("real time: a read as of index 1");
}

TEST_F(LockHistoryTest, SeesAViewThatIsNotWhatIsThere) {
    apply({acquire(of_a, 1)});
    auto view = machine.inspect("name");
    view.holders.clear();
    inspect(b, 8);
    history.answered(b, {core::CallTag{8}, core::Viewed{{view}}}, last);
    EXPECT_VIOLATION("name looks other than specified at index 2");
}

// The session of a ends in the cluster while a still regards its lease as valid.
struct TwoBelieve : LockHistoryTest {
    void let_a_hold_beyond_its_session() {
        acquire_and_tell(a, of_a, 1);
        apply({closing(of_a)});
    }
};

TEST_F(TwoBelieve, SeesTwoThatBelieveToHoldTheSame) {  // P3
    let_a_hold_beyond_its_session();
    acquire_and_tell(b, of_b, 1);
    EXPECT_VIOLATION("local validity: node 2 and node 1 both believe to hold name");
}

// The hold of a ends at 500 by its own clock.
struct MaxHoldTold : LockHistoryTest {
    void tell(std::uint32_t max_hold_ms) {
        core::AcquireCall call;
        call.tag = core::CallTag{1};
        call.request.names.push_back({"name"});
        call.request.terms.max_hold_ms = max_hold_ms;
        history.asked(a, call);
        apply({acquire(of_a, 1)});
        const auto token = token_of(operation(of_a, 1));
        auto told = acquired(operation(of_a, 1), token);
        told.ends = {500};
        history.answered(a, {core::CallTag{1}, std::move(told)}, last);
    }
    void let_another_have_it() {
        apply({release(of_a, 2, 1)});
        acquire_and_tell(b, of_b, 1);
    }
};

TEST_F(MaxHoldTold, IsBelievedUntilThen) {
    tell(1);
    boot[a] = {499};
    let_another_have_it();
    EXPECT_VIOLATION("local validity");
}

TEST_F(MaxHoldTold, IsNotBelievedAnyMore) {
    tell(1);
    boot[a] = {500};
    let_another_have_it();
    EXPECT_EQ(found(), "");
}

TEST_F(MaxHoldTold, IsNoLongerThanWasAskedFor) {
    boot[a] = {-1'000'000};
    tell(1);
    EXPECT_VIOLATION("a hold that outlives its max_hold");
}

TEST_F(TwoBelieve, SeesALeaseThatIsProlongedTooLate) {
    boot[a] = {2'000};  // its lease had ended when the other one began
    let_a_hold_beyond_its_session();
    acquire_and_tell(b, of_b, 1);
    EXPECT_EQ(found(), "");
    lease(a, of_a, 3'000);
    EXPECT_VIOLATION("local validity");
}

TEST_F(TwoBelieve, ANotifiedHolderDoesNotCount) {
    let_a_hold_beyond_its_session();
    history.lost({operation(of_a, 1), {}});
    acquire_and_tell(b, of_b, 1);
    EXPECT_EQ(found(), "");
}

TEST_F(TwoBelieve, ANodeThatDiedBelievesNothing) {
    let_a_hold_beyond_its_session();
    history.node_lost(a);
    acquire_and_tell(b, of_b, 1);
    EXPECT_EQ(found(), "");
}

TEST_F(TwoBelieve, NothingIsPromisedWhileClocksAreOutOfBounds) {  // P3
    out_of_bounds = true;
    let_a_hold_beyond_its_session();
    acquire_and_tell(b, of_b, 1);
    EXPECT_EQ(found(), "");
    EXPECT_EQ(tally.probes().at("two believed it, clocks out of bounds"), 1U);
}

}  // namespace
}  // namespace mortise::sim::test
