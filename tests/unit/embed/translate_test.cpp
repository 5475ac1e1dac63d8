#include "embed/runtime/translate.hpp"

#include <chrono>
#include <set>

#include <gtest/gtest.h>

namespace mortise::detail {
namespace {

using namespace std::chrono_literals;

transport::MemberStatus formed() {
    transport::MemberStatus member;
    member.self = core::NodeId{2};
    member.cluster = {7, 9};
    member.leader = core::NodeId{1};
    member.term = core::Term{3};
    for (std::uint64_t id = 1; id <= 3; ++id) {
        transport::MemberInfo info;
        info.member = {core::NodeId{id}, {}, "host:" + std::to_string(id)};
        info.is_voter = id != 3;
        member.members.push_back(info);
    }
    return member;
}

TEST(WaitCycle, NamesWhoeverHasNoLabel) {
    const auto told = from_core(std::vector<core::CycleStep>{
        {core::NodeId{3}, {}, 0, "", "a"}, {{}, {}, 7, "", "b"}, {{}, {}, 0, "web", "c"}});
    ASSERT_EQ(told.size(), 3U);
    EXPECT_EQ(told.at(0).locker, "node 3");
    EXPECT_EQ(told.at(1).locker, "a client, locker 7");
    EXPECT_EQ(told.at(2).locker, "web");
}

TEST(StatusOf, AMemberIsWhatItSaysOfItself) {
    auto member = formed();
    member.ready = true;
    member.session = core::SessionId{5};
    const auto status = status_of(member);
    EXPECT_EQ(status.id, 2U);
    EXPECT_EQ(status.address, "host:2");
    EXPECT_EQ(status.role, Role::voter);
    EXPECT_EQ(status.leader, NodeId{1});
    EXPECT_EQ(status.term, 3U);
    EXPECT_EQ(status.session, 5U);
    ASSERT_EQ(status.members.size(), 3U);
    EXPECT_EQ(status.members.at(2).role, Role::learner);
    EXPECT_TRUE(status.ready);
    EXPECT_EQ(status.why_not_ready, "");
}

TEST(StatusOf, SaysWhatIsMissingFirst) {
    auto member = formed();
    EXPECT_EQ(status_of(member).why_not_ready, "no session is open yet");
    member.leader.reset();
    EXPECT_EQ(status_of(member).why_not_ready, "no leader is known");
    member.cluster = {};
    EXPECT_EQ(status_of(member).why_not_ready,
              "in no cluster yet: one is formed when every configured voter is up, and a learner "
              "waits until it is added to one");
}

TEST(StatusOf, SaysThatTheNodeIsNoMember) {
    auto member = formed();
    member.self = core::NodeId{4};
    EXPECT_EQ(status_of(member).why_not_ready, "not a member of the cluster: it was removed");
    // Its own log may be older than the information that it received.
    member = formed();
    member.removed = true;
    EXPECT_EQ(status_of(member).why_not_ready, "not a member of the cluster: it was removed");
}

TEST(StatusOf, TellsWhoIsLeaving) {
    auto member = formed();
    member.members.at(0).is_leaving = true;
    member.members.at(0).member.incarnation = core::Incarnation{77};
    const auto status = status_of(member);
    EXPECT_TRUE(status.members.at(0).leaving);
    EXPECT_FALSE(status.members.at(1).leaving);
    EXPECT_EQ(status.members.at(0).incarnation, 77U);
}

core::LockView view_with_a_waiter() {
    core::LockView view;
    view.name = "a";
    view.waiters.resize(1);
    view.waiters.front().operation.session = core::SessionId{5};
    view.nodes[core::SessionId{5}] = core::NodeId{2};
    return view;
}

TEST(LockInfoOf, ASemaphoreHasSlotsPermitsAndALimit) {
    auto view = view_with_a_waiter();
    EXPECT_FALSE(from_core(view).limit.has_value());
    view.become(core::Semaphore::View{3, 2});
    view.waiters.front().permits = 2;
    view.holders.resize(1);
    view.holders.front().operation.session = core::SessionId{5};
    view.holders.front().slots = {0, 2};
    const auto info = from_core(view);
    EXPECT_EQ(info.limit, (SemaphoreLimit{3, 2}));
    EXPECT_EQ(info.waiters.front().permits, 2U);
    EXPECT_EQ(info.holders.front().slots, (std::vector<std::uint32_t>{0, 2}));
    EXPECT_TRUE(info.is_used());
    EXPECT_FALSE(LockInfo{}.is_used());
}

TEST(LockInfoOf, ALatchHasACountAndABarrierAPhase) {
    core::LockView view;
    view.name = "name";
    EXPECT_FALSE(from_core(view).is_used());
    view.become(core::Latch::View{2});
    EXPECT_EQ(from_core(view).latch, LatchCount{2});
    EXPECT_TRUE(from_core(view).is_used());
    view.become(core::Barrier::View{3, 1, 7, true, {{core::SessionId{40}, core::NodeId{4}, 2, 1}}});
    EXPECT_EQ(from_core(view).barrier, (BarrierPhase{3, 1, 7, true}));
    EXPECT_EQ(from_core(view).members, (std::vector{BarrierMember{4, 40, 2, 1}}));
    EXPECT_TRUE(from_core(view).is_used());
}

TEST(LockInfoOf, SaysThatMoreIsLeftOut) {
    auto view = view_with_a_waiter();
    view.waiters_total = 1;
    EXPECT_FALSE(from_core(view).truncated);
    view.waiters_total = 3;
    EXPECT_TRUE(from_core(view).truncated);
    EXPECT_EQ(from_core(view).waiters_total, 3U);
    EXPECT_EQ(from_core(view).waiters.size(), 1U);
    view.waiters_total = 1;
    view.closings_total = 1;
    EXPECT_TRUE(from_core(view).truncated);
}

TEST(LockInfoOf, SaysWhyANameIsClosed) {
    using enum core::Closure::Kind;
    auto view = view_with_a_waiter();
    view.is_closed = true;
    view.closings = {{lock_delay, core::FencingToken{9}, {}, core::Nanoseconds{5}},
                     {min_hold, core::FencingToken{8}, {}, {}},
                     {broken, core::FencingToken{7}, {}, {}}};
    const auto info = from_core(view);
    ASSERT_EQ(info.closures.size(), 3U);
    EXPECT_EQ(info.closures[0], (ClosureInfo{ClosedBy::lock_delay, FencingToken::from_raw(9),
                                             std::chrono::nanoseconds{5}}));
    EXPECT_EQ(info.closures[1],
              (ClosureInfo{ClosedBy::min_hold, FencingToken::from_raw(8), Duration::max()}));
    EXPECT_EQ(info.closures[2].by, ClosedBy::broken);
}

// Each refusal has a sentence, and a code that says whether to try again.
TEST(ToRequest, HasNoMinHoldAndNoLockDelayForZeroAndForMax) {
    EXPECT_EQ(AcquireOptions{}.min_hold, Duration::zero());
    EXPECT_EQ(AcquireOptions{}.lock_delay, Duration::zero());
    for (const auto none : {Duration::zero(), Duration::max()}) {
        const auto request = to_request({.min_hold = none, .lock_delay = none}, true);
        EXPECT_EQ(request.terms, core::HoldTerms{});
    }
    const auto request = to_request({.min_hold = 1ms, .lock_delay = 1ns}, true);
    EXPECT_EQ(request.terms.min_hold_ms, 1U);
    EXPECT_EQ(request.terms.lock_delay_ms, 1U);
}

// What a name server says is no part of it.
TEST(NodeOptionsWithAName, HaveVotersByTheNumberAlone) {
    Config config;
    config.node_id = 2;
    config.listen = "10.0.0.2:1";
    config.peers_from = "dns:mortise:1";
    config.expect = 3;
    const auto voters = node_options(config).voters;
    ASSERT_EQ(voters.size(), 3U);
    for (std::uint64_t id = 1; id <= 3; ++id) {
        EXPECT_EQ(voters.at(id - 1).id, core::NodeId{id});
        EXPECT_EQ(voters.at(id - 1).address, id == 2 ? "10.0.0.2:1" : "");
    }
    config.advertise = "node-2:1";
    EXPECT_EQ(node_options(config).voters.at(1).address, "node-2:1");
    config.node_id = 4;
    EXPECT_TRUE(node_options(config).voters.empty());
    config.node_id = 2;
    config.role = Role::learner;
    EXPECT_TRUE(node_options(config).voters.empty());
}

TEST(MembershipRefusals, AllHaveWordsAndACode) {
    std::set<std::string> reasons;
    for (int i = 0; i <= static_cast<int>(core::MembershipRefusal::too_old); ++i) {
        const auto refusal = static_cast<core::MembershipRefusal>(i);
        EXPECT_TRUE(reasons.insert(reason_of(refusal)).second) << i;
        const auto code = errc_of(refusal);
        EXPECT_TRUE(!core::passes_by_itself(refusal) || is_retryable(code)) << i;
    }
    EXPECT_EQ(errc_of(core::MembershipRefusal::last_voter), Errc::invalid_argument);
}

}  // namespace
}  // namespace mortise::detail
