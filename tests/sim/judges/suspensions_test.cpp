// The judge of locks, for holds that survive the end of their lease, and for confirmations (S6).
#include "tests/sim/base/expect_violation.hpp"
#include "tests/sim/judges/lock_history_by_hand.hpp"

namespace mortise::sim::test {
namespace {

// Node a has the name, by a hold that is to be suspended unless a test says otherwise. Its lease
// ends at 1,000.
struct SuspensionsTest : LockHistoryTest {
    void hold(bool suspends = true) {
        core::AcquireCall call;
        call.tag = core::CallTag{1};
        call.request.names.push_back({"name"});
        call.suspends = suspends;
        history.asked(a, call);
        apply({acquire(of_a, 1)});
        answer(a, 1, its, token_of(its));
    }
    void run_out() { boot[a] = {1'500}; }
    void renew() { lease(a, of_a, boot[a].ns + trust.count()); }
    void end_in_the_cluster() { apply({closing(of_a)}); }
    void lose() { history.lost({its, core::HoldLost::Reason::expired}); }
    // Another session gets the name after the session has ended and the node has noticed the end of
    // its lease.
    void suspend_and_let_another_have_it() {
        end_in_the_cluster();
        run_out();
        history.suspended(a, its);
        acquire_and_tell(b, of_b, 1);
    }
    void confirm() {
        history.asked(a, core::ConfirmCall{core::CallTag{9}, its, core::Instant::never()});
    }
    template <class Result>
    void answer_confirm(Result result) {
        history.answered(a, {core::CallTag{9}, result}, last);
    }
    // A read, so that everything so far counts as answered.
    void look() {
        inspect(b, 8);
        history.answered(b, {core::CallTag{8}, core::Viewed{{machine.inspect("name")}}}, last);
    }

    core::OperationId its = operation(of_a, 1);
};

TEST_F(SuspensionsTest, AreContentWithAnHonestHistory) {
    hold();
    run_out();
    history.suspended(a, its);
    confirm();
    renew();
    answer_confirm(core::Confirmed{});
    history.releasing(its);
    apply({release(of_a, 2, 1)});
    EXPECT_EQ(found(), "");
    EXPECT_EQ(tally.probes().at("suspended hold confirmed"), 1U);
}

TEST_F(SuspensionsTest, AreContentWithALossOfTheSession) {
    hold();
    run_out();
    history.suspended(a, its);
    confirm();
    end_in_the_cluster();
    lose();
    answer_confirm(core::CallError::lock_lost);
    EXPECT_EQ(found(), "");
}

TEST_F(SuspensionsTest, SeeOneThatWasNotAskedFor) {
    hold(false);
    run_out();
    history.suspended(a, its);
    EXPECT_VIOLATION("is suspended, and was not to be");
}

TEST_F(SuspensionsTest, SeeOneWhileTheLeaseLasts) {
    hold();
    history.suspended(a, its);
    EXPECT_VIOLATION("is suspended while its lease lasts");
}

TEST_F(SuspensionsTest, SeeOneThatIsToldTwice) {
    hold();
    run_out();
    history.suspended(a, its);
    history.suspended(a, its);
    EXPECT_VIOLATION("is suspended, and was so before");
}

TEST_F(SuspensionsTest, SeeALossInsteadOfIt) {
    hold();
    run_out();
    lose();
    EXPECT_VIOLATION("was lost, and was to be suspended while its session lives");
}

TEST_F(SuspensionsTest, LetAnOrdinaryHoldBeLost) {
    hold(false);
    run_out();
    lose();
    renew();
    EXPECT_EQ(found(), "");
}

TEST_F(SuspensionsTest, SeeAnOrdinaryHoldThatIsHeldAgain) {
    hold(false);
    run_out();
    renew();
    EXPECT_VIOLATION("is held again, and was to be lost when its lease ran out");
}

TEST_F(SuspensionsTest, SeeOneThatIsHeldAgainAndWasNotTold) {
    hold();
    run_out();
    renew();
    EXPECT_VIOLATION("is held again, and nobody was told that it was suspended");
}

// P3: between the end of its lease and the renewal the hold is not valid, and another session may
// have a valid one.
TEST_F(SuspensionsTest, AreInNobodysWay) {
    hold();
    suspend_and_let_another_have_it();
    EXPECT_EQ(found(), "");
}

TEST_F(SuspensionsTest, SeeOneThatIsHeldAgainThoughAnotherHasIt) {  // P3
    hold();
    suspend_and_let_another_have_it();
    renew();
    EXPECT_VIOLATION("local validity: node 1 and node 2 both believe to hold name");
}

TEST_F(SuspensionsTest, SeeAConfirmationWithoutALease) {
    hold();
    run_out();
    history.suspended(a, its);
    confirm();
    answer_confirm(core::Confirmed{});
    EXPECT_VIOLATION("is confirmed without a lease");
}

TEST_F(SuspensionsTest, SeeAConfirmationByARenewalOfBefore) {
    hold();
    boot[a] = {500};
    renew();  // requested at 500
    boot[a] = {600};
    confirm();
    answer_confirm(core::Confirmed{});
    EXPECT_VIOLATION("is confirmed by a renewal from before it was asked");
}

TEST_F(SuspensionsTest, SeeAConfirmationOfWhatIsNotHeld) {
    hold();
    history.releasing(its);
    confirm();
    renew();
    answer_confirm(core::Confirmed{});
    EXPECT_VIOLATION("is confirmed, and is not held");
}

// Another session had the name in between.
TEST_F(SuspensionsTest, SeeAConfirmationOfWhatHadEnded) {  // P3
    hold();
    apply({release(of_a, 2, 1), acquire(of_b, 1), release(of_b, 2, 1)});
    look();
    confirm();
    renew();
    answer_confirm(core::Confirmed{});
    EXPECT_VIOLATION("is confirmed, and had ended before it was asked");
}

TEST_F(SuspensionsTest, SeeAConfirmationOfASessionThatHadEnded) {
    hold();
    end_in_the_cluster();
    look();
    confirm();
    renew();
    answer_confirm(core::Confirmed{});
    EXPECT_VIOLATION("is confirmed, and had ended before it was asked");
}

TEST_F(SuspensionsTest, LetItEndAfterItWasConfirmed) {
    hold();
    confirm();
    end_in_the_cluster();
    renew();
    answer_confirm(core::Confirmed{});
    EXPECT_EQ(found(), "");
}

TEST_F(SuspensionsTest, SeeARefusalOfWhatIsHeld) {
    hold();
    confirm();
    answer_confirm(core::CallError::lock_lost);
    EXPECT_VIOLATION("is not confirmed as if it were lost, and nobody was told");
}

TEST_F(SuspensionsTest, LetNobodyAnswer) {
    hold();
    confirm();
    answer_confirm(core::CallError::no_quorum);
    EXPECT_EQ(found(), "");
}

TEST_F(SuspensionsTest, ANodeThatDiedIsToldNothing) {
    hold();
    run_out();
    history.node_lost(a);
    renew();
    EXPECT_EQ(found(), "");
}

}  // namespace
}  // namespace mortise::sim::test
