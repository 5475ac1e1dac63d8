// The time limits of holds (S8, S9). rho is one in a hundred.
#include "tests/unit/core/locks/machine_fixture.hpp"

namespace mortise::core {
namespace {

using enum LockMode;

class HoldTermsTest : public LockMachineTest {
protected:
    static Request on_terms(std::uint64_t session, std::uint64_t seq, HoldTerms terms,
                            LockMode mode = exclusive) {
        return request(session, seq, Acquire{{{"a", mode}}, true, {}, false, {}, 0, {}, terms});
    }
    static Command end_closure(std::uint64_t id) { return EndClosure{ClosureId{id}}; }
    static Command renew(std::uint64_t session, std::uint64_t number) {
        return Renew{{{SessionId{session}, number}}};
    }
    static Request lost(std::uint64_t session, std::uint64_t seq, std::uint64_t operation) {
        return request(session, seq, Release{Seq{operation}, true});
    }
    static Request break_lock(std::uint64_t session, std::uint64_t seq, std::uint64_t token) {
        return request(session, seq, BreakLock{"a", FencingToken{token}, {}});
    }
    // The session's node has received everything up to now.
    Command received(std::uint64_t session) const {
        return Acknowledge{SessionId{session}, index_};
    }
};

// --- min_hold -----------------------------------------------------------------------------------

class HoldTermsMinHold : public HoldTermsTest {
protected:
    static constexpr HoldTerms terms{0, 1'000, 0};
};

TEST_F(HoldTermsMinHold, OutlivesARelease) {  // S8: for the same session, too
    EXPECT_EQ(put(on_terms(1, 1, terms)),
              "closure 1 min_hold=1010 of 1.1 on a; 1.1 granted token=1 previous=none/0/");
    EXPECT_EQ(put(release(1, 2, 1)), "1.2 released");
    EXPECT_EQ(put(acquire(1, 3, exclusive)), "1.3 queued");
    EXPECT_EQ(put(try_acquire(2, 1, shared)), "2.1 busy");
    EXPECT_EQ(shown(), "| 1:X");
    EXPECT_TRUE(machine_.inspect("a").is_closed);
    EXPECT_EQ(machine_.inspect("a").closed_under, FencingToken{1});
    EXPECT_FALSE(machine_.would_grant("a", shared, 0));
    EXPECT_EQ(put(end_closure(1)), "closure 1 ended; 1.3 granted token=2 previous=clean/1/");
}

TEST_F(HoldTermsMinHold, OutlivesItsSession) {  // S8
    put(on_terms(1, 1, terms));
    put(acquire(2, 1, exclusive));
    put(close(1));
    EXPECT_TRUE(machine_.inspect("a").is_closed);  // also before its traces are cleared
    EXPECT_EQ(put(Sweep{}), "");
    EXPECT_EQ(shown(), "| 2:X");
    EXPECT_EQ(put(Sweep{}), "");
    EXPECT_EQ(put(end_closure(1)), "closure 1 ended; 2.1 granted token=2 previous=clean/1/");
}

TEST_F(HoldTermsMinHold, HasNoEffectOnAHoldAfterItsEnd) {
    put(on_terms(1, 1, terms));
    EXPECT_EQ(put(end_closure(1)), "closure 1 ended");
    EXPECT_EQ(shown(), "1:X:1 |");
    EXPECT_EQ(put(end_closure(1)), "");
    EXPECT_EQ(put(release(1, 2, 1)), "1.2 released");
    EXPECT_TRUE(machine_.table().records().empty());
}

TEST_F(HoldTermsMinHold, KeepsTheNameOnlyInItsMode) {
    put(on_terms(1, 1, terms, shared));
    put(release(1, 2, 1));
    EXPECT_EQ(put(acquire(2, 1, shared)), "2.1 granted token=2 previous=none/0/");  // joins nobody
    EXPECT_EQ(put(acquire(3, 1, exclusive)), "3.1 queued");
}

TEST_F(HoldTermsMinHold, EndsWithABreakUnderItsToken) {  // S24
    put(on_terms(1, 1, terms));
    put(acquire(2, 1, exclusive));
    put(release(1, 2, 1));
    EXPECT_EQ(put(break_lock(3, 1, 7)), "3.1 not_held");
    EXPECT_EQ(put(break_lock(3, 2, 1)),
              "3.2 broken; a:1 broken by 3.2 because ; closure 1 ended; "
              "2.1 granted token=2 previous=clean/1/");
}

TEST_F(HoldTermsMinHold, CannotBeEndedByASecondRelease) {  // S19
    put(on_terms(1, 1, terms));
    put(release(1, 2, 1));
    EXPECT_EQ(put(release(1, 3, 1)), "1.3 not_held");
    EXPECT_EQ(put(request(1, 4, Downgrade{Seq{1}, shared})), "1.4 not_held");
}

// --- lock_delay ---------------------------------------------------------------------------------

class HoldTermsLockDelay : public HoldTermsTest {
protected:
    static constexpr HoldTerms terms{0, 0, 500};
};

TEST_F(HoldTermsLockDelay, FollowsALossOfTheSession) {  // S9
    put(on_terms(1, 1, terms));
    put(acquire(2, 1, exclusive));
    put(expiry(1));
    EXPECT_FALSE(machine_.would_grant("a", exclusive, 0));
    EXPECT_EQ(machine_.inspect("a").closed_under, FencingToken{1});
    EXPECT_EQ(put(Sweep{}), "closure 3 lock_delay=505 of 1.1 on a");
    EXPECT_EQ(shown(), "| 2:X");
    EXPECT_EQ(put(end_closure(3)), "closure 3 ended; 2.1 granted token=2 previous=expired/1/");
}

TEST_F(HoldTermsLockDelay, FollowsALossThatItsNodeReports) {  // S6, S9
    put(on_terms(1, 1, terms));
    EXPECT_EQ(put(lost(1, 2, 1)), "1.2 released; closure 3 lock_delay=505 of 1.1 on a");
    EXPECT_EQ(put(acquire(1, 3, exclusive)), "1.3 queued");
}

TEST_F(HoldTermsLockDelay, NeverFollowsAnOrderlyEnd) {  // S9
    put(on_terms(1, 1, terms));
    put(release(1, 2, 1));
    EXPECT_EQ(shown(), "|");
    EXPECT_FALSE(machine_.inspect("a").is_closed);
    put(on_terms(1, 3, terms));
    put(close(1));
    put(Sweep{});
    EXPECT_TRUE(machine_.table().records().empty());
}

TEST_F(HoldTermsLockDelay, NeverFollowsABreakAndEndsWithOne) {  // S9, S24
    put(on_terms(1, 1, terms));
    put(acquire(2, 1, exclusive));
    put(break_lock(3, 1, 1));
    EXPECT_EQ(put(release(1, 2, 1)),
              "1.2 lost; closure 4 ended; 2.1 granted token=2 previous=broken/1/");
    put(lost(2, 2, 1));
    put(on_terms(2, 3, terms));
    put(lost(2, 4, 3));
    put(acquire(3, 2, exclusive));
    EXPECT_EQ(shown(), "| 3:X");
    put(break_lock(3, 3, 3));
    EXPECT_EQ(shown(), "3:X:4 |");
}

// --- what readers learn -------------------------------------------------------------------------

using enum Closure::Kind;

class HoldTermsToldClosings : public HoldTermsTest {
protected:
    struct Told {
        std::uint64_t token;
        Closure::Kind kind;
        std::vector<std::uint64_t> closures;
        friend bool operator==(const Told&, const Told&) = default;
    };
    std::vector<Told> told() {
        std::vector<Told> all;
        const auto view = machine_.inspect("a");
        EXPECT_EQ(view.is_closed, !view.closings.empty());
        EXPECT_EQ(view.closings_total, view.closings.size());
        for (const auto& closing : view.closings) {
            all.push_back({closing.token.raw(), closing.kind, {}});
            for (const auto id : closing.closures)
                all.back().closures.push_back(id.raw());
        }
        return all;
    }
    using All = std::vector<Told>;
};

TEST_F(HoldTermsToldClosings, NameTheReasonAndTheToken) {  // S8, S9, S24
    put(on_terms(1, 1, {0, 1'000, 500}));
    EXPECT_EQ(told(), All{});
    put(release(1, 2, 1));
    EXPECT_EQ(told(), (All{{1, min_hold, {1}}}));
    put(end_closure(1));
    EXPECT_EQ(told(), All{});
    put(on_terms(1, 3, {0, 1'000, 500}));
    put(lost(1, 4, 3));
    EXPECT_EQ(told(), (All{{2, lock_delay, {6}}, {2, min_hold, {4}}}));
    put(break_lock(2, 1, 2));
    EXPECT_EQ(told(), All{});
    put(on_terms(1, 5, {0, 1'000, 0}));
    put(break_lock(2, 2, 3));
    EXPECT_EQ(told(), (All{{3, broken, {10}}}));
}

// Readers share a token, and one of them still holds the name.
TEST_F(HoldTermsToldClosings, ListEachReasonOnce) {
    put(on_terms(1, 1, {0, 1'000, 0}, shared));
    put(on_terms(1, 2, {0, 2'000, 0}, shared));
    put(on_terms(2, 1, {1'000, 0, 0}, shared));
    put(release(1, 3, 1));
    put(release(1, 4, 2));
    EXPECT_EQ(told(), (All{{1, min_hold, {1, 4}}}));
    EXPECT_EQ(machine_.inspect("a").holders_total, 1U);
}

// The delay begins only when the traces of the session are removed.
TEST_F(HoldTermsToldClosings, ListADelayThatHasNotBegun) {
    put(on_terms(1, 1, {0, 0, 500}));
    put(Expire{SessionId{1}, LogIndex{1}});
    const auto view = machine_.inspect("a");
    ASSERT_EQ(view.closings.size(), 1U);
    EXPECT_EQ(view.closings.front().kind, lock_delay);
    EXPECT_EQ(view.closings.front().left, std::chrono::milliseconds{505});
}

// --- max_hold -----------------------------------------------------------------------------------

class HoldTermsMaxHold : public HoldTermsTest {
protected:
    static constexpr HoldTerms terms{1'000, 0, 0};
};

// The node began to count before that, by a clock that may be slow.
TEST_F(HoldTermsMaxHold, IsCountedFromWhenItsNodeKnows) {  // S8, P3
    const auto before = received(1);
    put(on_terms(1, 1, terms));
    put(acquire(2, 1, exclusive));
    EXPECT_EQ(put(before), "");
    EXPECT_EQ(put(received(1)), "closure 2 max_hold=1021 of 1.1 on a");
    EXPECT_EQ(put(received(1)), "");
    EXPECT_EQ(put(end_closure(2)), "closure 2 ended; 2.1 granted token=2 previous=expired/1/");
    // The node is told, in case it still relies on the hold.
    EXPECT_EQ(put(renew(1, 1)), "renewed 1#1 broken=1");
    EXPECT_EQ(put(lost(1, 2, 1)), "1.2 lost");
    EXPECT_EQ(put(renew(1, 2)), "renewed 1#2");
}

TEST_F(HoldTermsMaxHold, EndsWithItsHold) {  // S8
    put(on_terms(1, 1, terms));
    put(received(1));
    EXPECT_EQ(put(release(1, 2, 1)), "1.2 released; closure 2 ended");
    EXPECT_EQ(put(end_closure(2)), "");
    put(on_terms(1, 3, terms));
    put(release(1, 4, 3));
    EXPECT_EQ(put(received(1)), "");
}

TEST_F(HoldTermsMaxHold, LeavesAValueDirtyAndADelayBehind) {  // S9, S36
    put(on_terms(1, 1, {1'000, 0, 500}));
    put(request(1, 2, SetValue{Seq{1}, "a", "half"}));
    put(received(1));
    EXPECT_EQ(put(end_closure(2)), "closure 3 lock_delay=505 of 1.1 on a; closure 2 ended");
    EXPECT_TRUE(machine_.inspect("a").value->dirty);
    EXPECT_TRUE(machine_.inspect("a").is_closed);
}

TEST_F(HoldTermsMaxHold, EndsAnUpgradeThatWaits) {  // S27
    put(on_terms(1, 1, terms, update));
    put(acquire(2, 1, shared));
    put(request(1, 2, Upgrade{Seq{1}, true}));
    put(received(1));
    EXPECT_EQ(put(end_closure(2)), "1.2 cancelled; closure 2 ended");
    EXPECT_EQ(shown(), "2:S:2 |");
}

// --- all of them, and several names -------------------------------------------------------------

TEST_F(HoldTermsTest, EachOfSeveralNamesHasItsOwn) {  // S32
    Acquire both;
    both.which = Acquire::Which::all;
    both.names = {{"a", exclusive}, {"b", exclusive}};
    both.terms = {0, 1'000, 0};
    put(request(1, 1, both));
    put(release(1, 2, 1));
    EXPECT_TRUE(machine_.inspect("a").is_closed && machine_.inspect("b").is_closed);
    put(end_closure(4));
    EXPECT_TRUE(machine_.inspect("a").is_closed);
    EXPECT_FALSE(machine_.inspect("b").is_closed);
}

TEST_F(HoldTermsTest, AnEarlyLossKeepsTheNameForTheLongerTime) {  // S8, S9
    put(on_terms(1, 1, {0, 1'000, 500}));
    put(expiry(1));
    EXPECT_EQ(put(Sweep{}), "closure 3 lock_delay=505 of 1.1 on a");
    EXPECT_EQ(put(end_closure(3)), "closure 3 ended");
    EXPECT_TRUE(machine_.inspect("a").is_closed);
    put(end_closure(1));
    EXPECT_TRUE(machine_.table().records().empty());
}

// The node releases a hold that was lost there, and that does not make the value clean (S6, S36).
TEST_F(HoldTermsTest, AReleaseOfALostHoldIsNotClean) {
    put(acquire(1, 1, exclusive));
    put(request(1, 2, SetValue{Seq{1}, "a", "half"}));
    put(lost(1, 3, 1));
    EXPECT_TRUE(machine_.inspect("a").value->dirty);
    EXPECT_EQ(put(acquire(2, 1, exclusive)), "2.1 granted token=2 previous=expired/1/");
}

}  // namespace
}  // namespace mortise::core
