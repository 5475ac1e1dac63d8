// The judge of locks on conversions and requests for several names.
#include "tests/sim/base/expect_violation.hpp"
#include "tests/sim/judges/lock_history_by_hand.hpp"

namespace mortise::sim::test {
namespace {

struct LockConversionsTest : LockHistoryTest {
    // The hold is granted and reported.
    void hold(core::NodeId node, core::SessionId session, core::LockMode mode) {
        core::AcquireCall call;
        call.tag = core::CallTag{++tags};
        call.request.names.push_back({"name", mode});
        history.asked(node, call);
        apply({core::Request{session, core::Seq{1}, call.request}});
        answer(node, tags, operation(session, 1), token_of(operation(session, 1)));
    }
    void upgrade(core::NodeId node, core::SessionId session) {
        history.asked(node, core::UpgradeCall{core::CallTag{++tags}, operation(session, 1)});
    }
    void downgrade(core::NodeId node, core::SessionId session, core::LockMode mode) {
        const core::OperationId hold = operation(session, 1);
        history.asked(node, core::DowngradeCall{core::CallTag{++tags}, hold, mode});
    }
    static core::Request upgrading(core::SessionId session) {
        return {session, core::Seq{2}, core::Upgrade{core::Seq{1}}};
    }
    static core::Request downgrading(core::SessionId session, core::LockMode mode) {
        return {session, core::Seq{2}, core::Downgrade{core::Seq{1}, mode}};
    }
    void tell_converted(core::NodeId node, core::SessionId session) {
        const auto token = token_of(operation(session, 1));
        history.answered(node, {core::CallTag{tags}, core::Converted{token}}, last);
    }
    // The session ends in the cluster, while its node still regards the lease as valid.
    void end_in_the_cluster(core::SessionId session) { apply({closing(session)}); }

    std::uint64_t tags = 0;
};

using enum core::LockMode;

TEST_F(LockConversionsTest, AreContentWithAnHonestHistory) {
    hold(a, of_a, update);
    hold(b, of_b, shared);
    upgrade(a, of_a);
    apply({upgrading(of_a)});
    history.releasing(operation(of_b, 1));
    apply({release(of_b, 2, 1)});
    tell_converted(a, of_a);
    EXPECT_EQ(found(), "");
    EXPECT_EQ(tally.probes().at("upgrade waited and was granted"), 1U);
}

TEST_F(LockConversionsTest, AnUpgradedHoldKeepsReadersOut) {
    hold(a, of_a, update);
    hold(b, of_b, shared);
    end_in_the_cluster(of_b);
    upgrade(a, of_a);
    apply({upgrading(of_a)});
    EXPECT_EQ(found(), "");
    tell_converted(a, of_a);
    EXPECT_VIOLATION("local validity");
}

TEST_F(LockConversionsTest, ADowngradeAdmitsReadersBeforeItIsReported) {
    hold(a, of_a, exclusive);
    downgrade(a, of_a, shared);
    apply({downgrading(of_a, shared)});
    hold(b, of_b, shared);
    EXPECT_EQ(found(), "");
}

TEST_F(LockConversionsTest, ARefusedDowngradeChangesNothing) {
    hold(a, of_a, exclusive);
    downgrade(a, of_a, shared);
    history.answered(a, {core::CallTag{tags}, core::CallError::resource_exhausted}, last);
    end_in_the_cluster(of_a);
    hold(b, of_b, shared);
    EXPECT_VIOLATION("local validity");
}

TEST_F(LockConversionsTest, SeeOneThatIsNotInTheLog) {
    hold(a, of_a, update);
    upgrade(a, of_a);
    tell_converted(a, of_a);
    EXPECT_VIOLATION("a conversion that the log does not have");
}

TEST_F(LockConversionsTest, SeeAnUpgradeWithoutANewToken) {
    hold(a, of_a, update);
    auto applied = entry({upgrading(of_a)});
    granted(applied).answer.token = core::FencingToken{1};
    history.applied(a, applied);
    EXPECT_VIOLATION("token order: 1 of name after 1");
}

TEST_F(LockConversionsTest, SeeADowngradeWithANewToken) {
    hold(a, of_a, exclusive);
    auto applied = entry({downgrading(of_a, shared)});
    granted(applied).answer.token = core::FencingToken{2};
    history.applied(a, applied);
    EXPECT_VIOLATION("token order: a downgrade has another");
}

struct SeveralNamesTest : LockConversionsTest {
    SeveralNamesTest() {
        call.tag = core::CallTag{77};
        call.request.names = {{"more", exclusive}, {"name", exclusive}};
        call.request.which = core::Acquire::Which::all;
        history.asked(a, call);
    }
    void tell(std::vector<core::NamedGrant> grants) {
        core::Acquired acquired{operation(of_a, 1), {}, core::Acquire::Which::all};
        for (auto& one : grants)
            acquired.parts.push_back({std::move(one.name), exclusive, one.token, {}});
        history.answered(a, {call.tag, acquired}, last);
    }
    core::AcquireCall call;
};

TEST_F(SeveralNamesTest, AreBelievedTogether) {
    auto applied = entry({core::Request{of_a, core::Seq{1}, call.request}});
    history.applied(a, applied);
    tell(granted(applied).answer.names);
    EXPECT_EQ(found(), "");
    end_in_the_cluster(of_a);
    hold(b, of_b, shared);
    EXPECT_VIOLATION("both believe to hold name");
}

TEST_F(SeveralNamesTest, AreToldAsTheLogHasThem) {
    auto applied = entry({core::Request{of_a, core::Seq{1}, call.request}});
    history.applied(a, applied);
    tell({granted(applied).answer.names.front()});
    EXPECT_VIOLATION("a grant that the log does not have");
}

TEST_F(SeveralNamesTest, AreInTheModesThatTheLogHas) {  // P2
    auto applied = entry({core::Request{of_a, core::Seq{1}, call.request}});
    history.applied(a, applied);
    core::Acquired acquired{operation(of_a, 1), {}, core::Acquire::Which::all};
    for (const auto& one : granted(applied).answer.names)
        acquired.parts.push_back({one.name, shared, one.token, {}});
    history.answered(a, {call.tag, acquired}, last);
    EXPECT_VIOLATION("a grant in another mode than the log has");
}

TEST_F(SeveralNamesTest, AreThoseThatWereAskedFor) {
    auto request = call.request;
    request.names.front().mode = shared;
    auto applied = entry({core::Request{of_a, core::Seq{1}, request}});
    history.applied(a, applied);
    tell(granted(applied).answer.names);
    EXPECT_VIOLATION("a grant of what was not asked for");
}

}  // namespace
}  // namespace mortise::sim::test
