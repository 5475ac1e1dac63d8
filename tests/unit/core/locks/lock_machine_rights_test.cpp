// Apply refuses what the access of the session does not allow (S50).
#include "core/locks/machine/machine_loader.hpp"
#include "tests/unit/core/locks/machine_fixture.hpp"

namespace mortise::core {
namespace {

using enum LockMode;

class LockMachineRights : public LockMachineTest {
protected:
    // Opens session 4.
    explicit LockMachineRights(Access access = {{AccessRole::voter}, {{Right::acquire, "jobs/"}}}) {
        auto open = opening(4);
        open.access = std::move(access);
        put(open);
    }
    static Request take_away(std::uint64_t seq, std::string asked_by = {}) {
        return request(4, seq, BreakLock{"a", FencingToken{1}, "stuck", true, std::move(asked_by)});
    }
};

TEST_F(LockMachineRights, ARequestWithoutThemIsRefusedAndChangesNothing) {
    EXPECT_EQ(put(acquire(4, 1, exclusive, "orders/42")), "4.1 permission_denied");
    EXPECT_EQ(put(acquire(4, 1, exclusive, "orders/42")), "4.1 permission_denied");
    EXPECT_EQ(shown("orders/42"), "|");
    EXPECT_EQ(machine_.table().find("orders/42"), nullptr);
    EXPECT_EQ(put(release(4, 2, 1)), "4.2 not_held");
    EXPECT_EQ(put(acquire(4, 3, exclusive, "jobs/1")), "4.3 granted token=1 previous=none/0/");
    EXPECT_EQ(put(Acknowledge{SessionId{4}, index_}), "");
    EXPECT_EQ(put(acquire(4, 1, exclusive, "orders/42")), "4.1 stale_request");
}

TEST_F(LockMachineRights, AreNeededForEachOfSeveralNames) {
    Acquire any;
    any.which = Acquire::Which::any;
    any.names = {{"jobs/1", exclusive}, {"orders/42", exclusive}};
    EXPECT_EQ(put(request(4, 1, any)), "4.1 permission_denied");
    any.names.pop_back();
    EXPECT_NE(put(request(4, 2, any)), "4.2 permission_denied");
}

TEST_F(LockMachineRights, ABreakNeedsThoseOfItsSession) {
    put(acquire(1, 1, exclusive));
    EXPECT_EQ(put(take_away(1)), "4.1 permission_denied");
    EXPECT_EQ(put(take_away(2, "user alice")), "4.2 permission_denied");
    EXPECT_EQ(shown(), "1:X:1 |");
}

class LockMachineRightToBreak : public LockMachineRights {
protected:
    LockMachineRightToBreak() : LockMachineRights{{{AccessRole::admin}, {}}} {
        auto open = opening(5);
        open.access = {{AccessRole::admin}, {{Right::break_lock, "jobs/"}}};
        put(open);
    }
};

TEST_F(LockMachineRightToBreak, IsNeededForEveryNameToEvictASession) {  // S50
    const auto evict = [](std::uint64_t session) {
        return request(session, 1, EvictSession{SessionId{1}, "stuck", true});
    };
    EXPECT_EQ(put(evict(5)), "5.1 permission_denied");
    EXPECT_TRUE(put(evict(4)).starts_with("4.1 broken; "));
}

TEST_F(LockMachineRights, ToAcquireANameAllowToAskForIt) {
    put(acquire(1, 1, exclusive, "jobs/1"));
    EXPECT_NE(put(request(4, 1, AskRelease{"jobs/1", {}})), "4.1 permission_denied");
    EXPECT_EQ(put(request(4, 2, AskRelease{"orders/42", {}})), "4.2 permission_denied");
}

// Who may acquire a name may use it up as well.
TEST_F(LockMachineRights, ToAcquireANameAllowToResizeAndToRemoveIt) {
    EXPECT_EQ(put(request(4, 1, Resize{"jobs/1", 3, 0})), "4.1 stored");
    EXPECT_EQ(put(request(4, 2, Resize{"orders/42", 3, 0})), "4.2 permission_denied");
    EXPECT_EQ(put(request(4, 3, Remove{"orders/42"})), "4.3 permission_denied");
    EXPECT_EQ(put(request(4, 4, Remove{"jobs/1"})), "4.4 stored");
}

TEST_F(LockMachineRights, ToAcquireANameAllowToUseItAsALatch) {
    EXPECT_EQ(put(request(4, 1, CountDown{"jobs/1", 1, 1})), "4.1 stored");
    EXPECT_EQ(put(request(4, 2, CountDown{"orders/42", 1, 1})), "4.2 permission_denied");
    EXPECT_EQ(put(request(4, 3, AwaitLatch{"orders/42", 1, {}})), "4.3 permission_denied");
    EXPECT_EQ(put(request(4, 4, AwaitLatch{"jobs/1", 1, {}})), "4.4 passed");
}

TEST_F(LockMachineRights, ToAcquireANameAllowToUseItAsABarrier) {
    EXPECT_EQ(put(request(4, 1, Arrive{"jobs/1", 1})), "4.1 passed");
    EXPECT_EQ(put(request(4, 2, Arrive{"orders/42", 1})), "4.2 permission_denied");
    EXPECT_EQ(put(request(4, 3, Quit{Seq{2}, "orders/42"})), "4.3 not_held");
}

struct LockMachineBreakLockRights : LockMachineRights {
    LockMachineBreakLockRights()
        : LockMachineRights{{{AccessRole::voter}, {{Right::break_lock, "a"}}}} {}
};

TEST_F(LockMachineBreakLockRights, AreReportedWithTheOperatorThatAsked) {
    put(acquire(1, 1, exclusive));
    EXPECT_EQ(put(acquire(4, 1, exclusive)), "4.1 permission_denied");
    EXPECT_NE(put(request(4, 2, AskRelease{"a", {}})), "4.2 permission_denied");
    Outcomes outcomes;
    index_ = index_.next();
    machine_.apply(index_, {take_away(3, "user alice")}, outcomes);
    const auto broken = std::ranges::find_if(
        outcomes, [](const auto& one) { return std::holds_alternative<LockBroken>(one); });
    ASSERT_NE(broken, outcomes.end());
    EXPECT_EQ(std::get<LockBroken>(*broken).asked_by, "user alice");
}

// A node that loads the state from others refuses the same requests.
TEST_F(LockMachineRights, AreLoadedFromTheRowOfTheSession) {
    put(acquire(4, 1, exclusive, "jobs/1"));
    for (const bool with_broken : {false, true}) {
        if (with_broken) put(request(1, 1, BreakLock{"jobs/1", FencingToken{1}, {}, false}));
        MachineLoader loader;
        for (const auto& row : machine_.all_rows()) {
            ASSERT_TRUE(row.value);
            ASSERT_TRUE(loader.add(row.key, *row.value));
        }
        auto loaded = loader.finish(index_);
        ASSERT_TRUE(loaded);
        EXPECT_EQ(loaded->sessions().find(SessionId{4})->opened,
                  machine_.sessions().find(SessionId{4})->opened);
        EXPECT_EQ(loaded->sessions().find(SessionId{4})->broken.size(), with_broken ? 1U : 0U);
        Outcomes outcomes;
        loaded->apply(index_.next(), {acquire(4, 2, exclusive, "orders/42")}, outcomes);
        ASSERT_EQ(outcomes.size(), 1U);
        EXPECT_EQ(spec::words(outcomes.front()), "4.2 permission_denied");
    }
}

}  // namespace
}  // namespace mortise::core
