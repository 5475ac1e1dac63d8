// Locks that are broken (S23, S24).
#include "tests/unit/core/locks/machine_fixture.hpp"

namespace mortise::core {
namespace {

using enum LockMode;

class LockMachineBreakLock : public LockMachineTest {
protected:
    static Request break_lock(std::uint64_t session, std::uint64_t seq, std::uint64_t token,
                              bool immediate = false) {
        return request(session, seq, BreakLock{"a", FencingToken{token}, "stuck", immediate});
    }
    static Request evict(std::uint64_t session, std::uint64_t seq, std::uint64_t evicted,
                         bool immediate = false) {
        return request(session, seq, EvictSession{SessionId{evicted}, "stuck", immediate});
    }
    static Command end_closure(std::uint64_t id) { return EndClosure{ClosureId{id}}; }
    static Command renew(std::uint64_t session, std::uint64_t number) {
        return Renew{{{SessionId{session}, number}}};
    }
};

TEST_F(LockMachineBreakLock, TheNameStaysClosedUntilTheHoldersNodeConfirms) {  // S24, P3
    put(acquire(1, 1, exclusive));
    put(acquire(2, 1, exclusive));
    EXPECT_EQ(put(break_lock(3, 1, 1)),
              "3.1 broken; a:1 broken by 3.1 lost=1.1 because stuck; closure 1 of 1@1");
    EXPECT_EQ(shown(), "| 2:X");
    EXPECT_TRUE(machine_.inspect("a").is_closed);
    // The confirmation of its node.
    EXPECT_EQ(put(release(1, 2, 1)),
              "1.2 lost; closure 1 ended; 2.1 granted token=2 previous=broken/1/");
    EXPECT_FALSE(machine_.inspect("a").is_closed);
    EXPECT_EQ(put(release(1, 3, 1)), "1.3 not_held");
}

TEST_F(LockMachineBreakLock, TheNameOpensWhenAQuorumCountedDownTheLastRenewal) {  // S24
    put(acquire(1, 1, exclusive));
    put(acquire(2, 1, exclusive));
    put(renew(1, 1));
    const auto renewed = std::to_string(index_.raw());
    const auto said = put(break_lock(3, 1, 1));
    EXPECT_TRUE(said.ends_with("closure 1 of 1@" + renewed)) << said;
    // Renewals after the break extend nothing, and report the loss until it is confirmed.
    EXPECT_EQ(put(renew(1, 2)), "renewed 1#2 broken=1");
    EXPECT_EQ(put(end_closure(1)), "closure 1 ended; 2.1 granted token=2 previous=broken/1/");
    EXPECT_EQ(put(renew(1, 3)), "renewed 1#3 broken=1");
    EXPECT_EQ(put(release(1, 2, 1)), "1.2 lost");
    EXPECT_EQ(put(renew(1, 4)), "renewed 1#4");
    EXPECT_EQ(put(end_closure(1)), "");
    EXPECT_EQ(shown(), "2:X:2 |");
}

TEST_F(LockMachineBreakLock, AnEvictedSessionIsRenewedNoMoreAndExpires) {  // S24, P3
    put(acquire(1, 1, exclusive));
    put(acquire(2, 1, exclusive));
    put(renew(1, 1));
    const auto renewed = index_;
    EXPECT_EQ(put(evict(3, 1, 1)), "3.1 broken; 1 of node 1 evicted by 3.1 because stuck");
    EXPECT_EQ(shown(), "1:X:1 | 2:X") << "its node may still rely on its lease";
    EXPECT_EQ(put(renew(1, 2)), "");
    EXPECT_EQ(put(evict(3, 2, 1)), "3.2 broken; 1 of node 1 evicted by 3.2 because stuck");
    // What its node asked for meanwhile ends with it.
    put(acquire(1, 2, exclusive, "b"));
    EXPECT_EQ(put(Expire{SessionId{1}, renewed}), "ended 1 expired");
    EXPECT_EQ(put(Sweep{}), "2.1 granted token=3 previous=expired/1/");
    EXPECT_EQ(put(renew(1, 3)), "renewal lost 1");
    EXPECT_EQ(put(evict(3, 3, 1)), "3.3 not_held");
}

TEST_F(LockMachineBreakLock, AnEvictionAtOnceEndsTheSession) {  // S24
    put(acquire(1, 1, exclusive));
    put(acquire(2, 1, exclusive));
    EXPECT_EQ(put(evict(3, 1, 1, true)),
              "3.1 broken; 1 of node 1 evicted now by 3.1 because stuck; ended 1 expired");
    EXPECT_EQ(put(Sweep{}), "2.1 granted token=2 previous=expired/1/");
    // Its own session as well, which it may do after an orderly one.
    put(evict(3, 2, 3));
    EXPECT_EQ(put(evict(3, 3, 3, true)),
              "3.3 broken; 3 of node 3 evicted now by 3.3 because stuck; ended 3 expired");
}

TEST_F(LockMachineBreakLock, ARequestToReleaseIsPassedToTheHolders) {  // S24
    const auto ask = [](std::uint64_t seq) { return request(3, seq, AskRelease{"a", "please"}); };
    EXPECT_EQ(put(ask(1)), "3.1 not_held");
    put(acquire(1, 1, shared));
    put(acquire(2, 1, shared));
    put(acquire(1, 2, exclusive));
    EXPECT_EQ(put(ask(2)), "3.2 asked; 3.2 asks for a of 1.1 2.1 because please");
    EXPECT_EQ(put(ask(2)), "3.2 asked");  // a repeat asks nobody again
    EXPECT_EQ(shown(), "1:S:1 2:S:1 | 1:X");
    // A holder whose hold was broken is not asked.
    put(break_lock(3, 3, 1));
    EXPECT_EQ(put(ask(4)), "3.4 not_held");
}

TEST_F(LockMachineBreakLock, IsACompareAndSet) {  // S24
    put(acquire(1, 1, exclusive));
    EXPECT_EQ(put(break_lock(3, 1, 7)), "3.1 not_held");
    put(release(1, 2, 1));
    EXPECT_EQ(put(break_lock(3, 2, 1)), "3.2 not_held");
    put(acquire(1, 3, exclusive));
    EXPECT_EQ(put(break_lock(3, 3, 1)), "3.3 not_held");  // that was the one before
    EXPECT_EQ(shown(), "1:X:2 |");
}

TEST_F(LockMachineBreakLock, ARepeatBreaksNothingElse) {  // S17
    put(acquire(1, 1, exclusive));
    put(break_lock(3, 1, 1));
    put(release(1, 2, 1));
    put(acquire(2, 1, exclusive));
    EXPECT_EQ(put(break_lock(3, 1, 1)), "3.1 broken");
    EXPECT_EQ(shown(), "2:X:2 |");
}

TEST_F(LockMachineBreakLock, AnImmediateBreakOpensTheNameAtOnce) {  // S24
    put(acquire(1, 1, exclusive));
    put(acquire(2, 1, exclusive));
    EXPECT_EQ(put(break_lock(3, 1, 1, true)),
              "3.1 broken; a:1 broken now by 3.1 lost=1.1 because stuck; "
              "2.1 granted token=2 previous=broken/1/");
    EXPECT_EQ(put(renew(1, 1)), "renewed 1#1 broken=1");
    EXPECT_EQ(put(release(1, 2, 1)), "1.2 lost");
    EXPECT_EQ(put(renew(1, 2)), "renewed 1#2");
}

TEST_F(LockMachineBreakLock, AnImmediateBreakMayFollowAnotherBreak) {  // S24
    put(acquire(1, 1, exclusive));
    put(acquire(2, 1, exclusive));
    put(break_lock(3, 1, 1));
    EXPECT_EQ(put(break_lock(3, 2, 1)), "3.2 broken");
    // The immediate break is reported to every node, although no hold is lost by it.
    EXPECT_EQ(put(break_lock(3, 3, 1, true)),
              "3.3 broken; a:1 broken now by 3.3 because stuck; closure 1 ended; 2.1 granted "
              "token=2 previous=broken/1/");
}

TEST_F(LockMachineBreakLock, HoldersThatShareATokenLoseItTogether) {  // S13, S24
    put(acquire(1, 1, shared));
    put(acquire(2, 1, shared));
    put(acquire(3, 1, exclusive));
    put(break_lock(3, 2, 1));
    EXPECT_EQ(shown(), "| 3:X");
    put(release(1, 2, 1));
    EXPECT_EQ(shown(), "| 3:X");
    EXPECT_EQ(put(release(2, 2, 1)),
              "2.2 lost; closure 2 ended; 3.1 granted token=2 previous=broken/1/");
}

TEST_F(LockMachineBreakLock, NoGrantSharesTheTokenOfABrokenHold) {  // S13
    put(acquire(1, 1, shared));
    put(break_lock(3, 1, 1));
    EXPECT_EQ(put(acquire(2, 1, shared)), "2.1 granted token=2 previous=none/0/");
}

TEST_F(LockMachineBreakLock, TheEndOfTheSessionOpensTheName) {  // S11, S24
    put(acquire(1, 1, exclusive));
    put(acquire(2, 1, exclusive));
    put(break_lock(3, 1, 1));
    put(close(1));
    EXPECT_EQ(put(Sweep{}), "closure 1 ended; 2.1 granted token=2 previous=broken/1/");
    EXPECT_EQ(put(end_closure(1)), "");
}

TEST_F(LockMachineBreakLock, ABrokenHoldCannotBeChanged) {  // S24
    put(acquire(1, 1, update));
    put(acquire(2, 1, shared));
    put(request(1, 2, Upgrade{Seq{1}, true}));
    EXPECT_EQ(put(break_lock(3, 1, 1)),
              "3.1 broken; a:1 broken by 3.1 lost=1.1 because stuck; 1.2 cancelled; "
              "closure 1 of 1@1");
    EXPECT_EQ(put(request(1, 3, Upgrade{Seq{1}, true})), "1.3 not_held");
    EXPECT_EQ(put(request(1, 4, Downgrade{Seq{1}, shared})), "1.4 not_held");
    EXPECT_EQ(put(request(1, 5, SetValue{Seq{1}, "a", "late"})), "1.5 not_held");
    EXPECT_EQ(put(cancel(1, 6, 1)), "1.6 lost; closure 1 ended");
}

TEST_F(LockMachineBreakLock, LeavesTheValueDirty) {  // S36
    put(acquire(1, 1, exclusive));
    put(request(1, 2, SetValue{Seq{1}, "a", "half"}));
    put(break_lock(3, 1, 1));
    EXPECT_TRUE(machine_.inspect("a").value->dirty);
}

TEST_F(LockMachineBreakLock, TheOtherNamesOfSeveralStayHeld) {  // S24, S32
    Acquire both;
    both.which = Acquire::Which::all;
    both.names = {{"a", exclusive}, {"b", exclusive}};
    put(request(1, 1, both));
    put(break_lock(3, 1, 1));
    EXPECT_EQ(shown("b"), "1:X:2 |");
    put(end_closure(1));
    EXPECT_EQ(shown("b"), "1:X:2 |");
    EXPECT_EQ(put(release(1, 2, 1)), "1.2 lost");
    EXPECT_EQ(shown("b"), "|");
}

}  // namespace
}  // namespace mortise::core
