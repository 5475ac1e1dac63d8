#include "core/node/membership_calls.hpp"

#include <gtest/gtest.h>

#include "tests/support/raft_fixture.hpp"

namespace mortise::core::test {
namespace {

using Kind = MembershipGoal::Kind;
using State = MembershipReply::State;

constexpr Nanoseconds give_up = election_timeout;
constexpr Nanoseconds ask_again = heartbeat;
constexpr Instant end = start + 20 * election_timeout;

// One call, and the leader that gets its requests.
struct Asking {
    explicit Asking(const MembershipGoal& goal = {Kind::gone, n3, {}}, LogIndex seen = {}) {
        calls.add({CallTag{7}, goal, end, seen}, now);
    }
    MembershipRequest request() {
        const auto due = calls.take_due(n1, now);
        EXPECT_TRUE(due);
        return due.value_or(MembershipRequest{});
    }
    void reply(const MembershipRequest& to, State state, MembershipRefusal why = {}) {
        MembershipReply reply{to.id, state, why, {}, {}};
        if (state == State::looked) {
            reply.configuration = LogIndex{5};
            reply.term = Term{2};
        }
        calls.replied(n1, reply, now);
    }
    // A query, and then the request that may begin the change.
    MembershipRequest request_after_look() {
        reply(request(), State::looked);
        return request();
    }
    std::vector<CallAnswer> over(const Configuration& seen, LogIndex index, bool is_settled) {
        return calls.take_finished({n1, Term{2}, seen, index, is_settled}, now);
    }
    std::vector<CallAnswer> over() { return over(voters({1, 2, 3}), LogIndex{5}, true); }
    template <class Result>
    Result result_at_the_end() {
        now = end;
        const auto answers = over();
        EXPECT_EQ(answers.size(), 1U);
        return answers.empty() ? Result{} : std::get<Result>(answers.at(0).result);
    }

    Instant now = start;
    MembershipCalls calls{BootEpoch{3}, {give_up, ask_again}};
};

TEST(MembershipCalls, LooksFirstAndThenAsksWithWhatItSaw) {
    Asking it;
    const auto look = it.request();
    EXPECT_FALSE(look.configuration.is_set());
    EXPECT_FALSE(it.calls.take_due(n1, it.now));
    it.reply(look, State::looked);
    const auto request = it.request();
    EXPECT_EQ(request.configuration, LogIndex{5});
    EXPECT_EQ(request.term, Term{2});
    EXPECT_NE(request.id, look.id);
    EXPECT_EQ(request.goal, look.goal);
}

TEST(MembershipCalls, AsksWithWhatItsCallerSaw) {
    Asking it{{Kind::learner, n4, "host4:1"}, LogIndex{4}};
    const auto request = it.request();
    EXPECT_EQ(request.configuration, LogIndex{4});
    it.reply(request, State::not_yet, MembershipRefusal::not_connected);
    it.now = it.now + ask_again;
    EXPECT_EQ(it.request().configuration, LogIndex{4});
}

TEST(MembershipCalls, AsksAgainUntilItIsDone) {  // P6
    Asking it;
    it.reply(it.request_after_look(), State::begun);
    EXPECT_FALSE(it.calls.take_due(n1, it.now));
    EXPECT_EQ(it.calls.deadline(true), it.now + ask_again);
    it.now = it.now + ask_again;
    const auto again = it.request();
    EXPECT_TRUE(again.begun);
    EXPECT_TRUE(it.over().empty());
    it.reply(again, State::done);
    const auto answers = it.over();
    ASSERT_EQ(answers.size(), 1U);
    EXPECT_EQ(answers[0].tag, CallTag{7});
    EXPECT_TRUE(std::holds_alternative<Changed>(answers[0].result));
    EXPECT_TRUE(it.calls.is_empty());
}

TEST(MembershipCalls, ARefusalIsTheAnswer) {
    Asking it;
    it.reply(it.request_after_look(), State::refused, MembershipRefusal::last_voter);
    const auto answers = it.over();
    ASSERT_EQ(answers.size(), 1U);
    EXPECT_EQ(std::get<MembershipRefusal>(answers[0].result), MembershipRefusal::last_voter);
}

TEST(MembershipCalls, OnlyWhoWasAskedMayAnswerAndOnlyToTheNewestRequest) {
    Asking it;
    const auto lost = it.request();
    it.now = it.now + give_up;
    const auto request = it.request();
    it.reply(lost, State::done);
    it.calls.replied(n2, {request.id, State::done, {}, {}, {}}, it.now);
    EXPECT_TRUE(it.over().empty());
    it.reply(request, State::done);
    EXPECT_EQ(it.over().size(), 1U);
}

TEST(MembershipCalls, AnotherLeaderIsAskedAtOnce) {
    Asking it;
    it.request_after_look();
    it.calls.ask_all_again(it.now);
    const auto again = it.calls.take_due(n2, it.now);
    ASSERT_TRUE(again);
    EXPECT_EQ(again->configuration, LogIndex{5});
}

TEST(MembershipCalls, NobodyIsWaitedForWithoutALeaderButTheEnd) {
    const Asking it;
    EXPECT_EQ(it.calls.deadline(true), it.now);
    EXPECT_EQ(it.calls.deadline(false), end);
}

// --- by the end

TEST(MembershipCalls, ByTheEndNobodyAnswered) {
    EXPECT_EQ(Asking{}.result_at_the_end<CallError>(), CallError::no_quorum);
    Asking looked;
    looked.request();
    EXPECT_EQ(looked.result_at_the_end<CallError>(), CallError::no_quorum);
}

TEST(MembershipCalls, ByTheEndAReasonStoodInTheWay) {
    Asking it;
    it.reply(it.request_after_look(), State::not_yet, MembershipRefusal::not_caught_up);
    EXPECT_EQ(it.result_at_the_end<MembershipRefusal>(), MembershipRefusal::not_caught_up);
}

TEST(MembershipCalls, AReasonIsNotGivenUpForOneMoreRequestShortlyBeforeTheEnd) {
    Asking it;
    const auto request = it.request_after_look();
    it.now = end - ask_again - 1ms;
    it.reply(request, State::not_yet, MembershipRefusal::not_caught_up);
    EXPECT_EQ(it.calls.deadline(true), end);
    EXPECT_EQ(it.result_at_the_end<MembershipRefusal>(), MembershipRefusal::not_caught_up);
}

TEST(MembershipCalls, ByTheEndNobodyKnows) {
    Asking begun;
    begun.reply(begun.request_after_look(), State::begun);
    EXPECT_EQ(begun.result_at_the_end<CallError>(), CallError::outcome_unknown);
    Asking asked;
    asked.request_after_look();
    EXPECT_EQ(asked.result_at_the_end<CallError>(), CallError::outcome_unknown);
}

// A request to an earlier leader may still take effect, whatever the next leader replies.
TEST(MembershipCalls, ARequestThatWasGivenUpLeavesItUncertain) {  // P6
    Asking it;
    it.request_after_look();
    it.calls.ask_all_again(it.now);
    it.reply(it.request(), State::not_yet, MembershipRefusal::leader_not_ready);
    EXPECT_EQ(it.result_at_the_end<CallError>(), CallError::outcome_unknown);
}

// --- by itself

TEST(MembershipCalls, WhatThisNodeSeesCommittedIsDone) {
    Asking it;
    it.request_after_look();
    EXPECT_TRUE(it.over(voters({1, 2}), LogIndex{8}, false).empty());
    EXPECT_TRUE(it.over(voters({1, 2}), LogIndex{5}, true).empty());
    EXPECT_EQ(it.over(voters({1, 2}), LogIndex{8}, true).size(), 1U);
}

TEST(MembershipCalls, ANewLeaderIsSeenByEverybody) {
    Asking it{{Kind::leader, n2, {}}};
    it.request_after_look();
    const auto three = voters({1, 2, 3});
    const MembershipCalls::View before{n2, Term{2}, three, LogIndex{5}, true};
    const MembershipCalls::View after{n2, Term{3}, three, LogIndex{5}, true};
    EXPECT_TRUE(it.calls.take_finished(before, it.now).empty());
    EXPECT_EQ(it.calls.take_finished(after, it.now).size(), 1U);
}

TEST(MembershipCalls, AreBounded) {
    Asking it;
    while (!it.calls.is_full())
        it.calls.add({CallTag{8}, {Kind::gone, n3, {}}, end}, it.now);
    EXPECT_EQ(it.calls.end_all(CallError::node_stopped).size(), membership_calls_max);
    EXPECT_TRUE(it.calls.is_empty());
}

TEST(MembershipCalls, AChangeThatMayHaveBegunIsUnknownWhenItsNodeStops) {  // P6
    Asking it;
    it.calls.add({CallTag{8}, {Kind::gone, n2, {}}, end}, it.now);
    it.request_after_look();
    const auto ended = it.calls.end_all(CallError::node_stopped);
    ASSERT_EQ(ended.size(), 2U);
    EXPECT_EQ(std::get<CallError>(ended[0].result), CallError::outcome_unknown);
    EXPECT_EQ(std::get<CallError>(ended[1].result), CallError::node_stopped);
}

TEST(MembershipCalls, TheOldestGivesWayAndSaysWhetherItMayHaveBegun) {
    Asking it;
    it.calls.add({CallTag{8}, {Kind::gone, n2, {}}, end}, it.now);
    it.calls.add({CallTag{9}, {Kind::leader, n2, {}}, end}, it.now);
    EXPECT_EQ(it.request_after_look().goal.member, n3);
    const auto first = it.calls.give_way();
    EXPECT_EQ(first.tag, CallTag{7});
    EXPECT_EQ(std::get<CallError>(first.result), CallError::outcome_unknown);
    const auto second = it.calls.give_way();
    EXPECT_EQ(second.tag, CallTag{8});
    EXPECT_EQ(std::get<CallError>(second.result), CallError::resource_exhausted);
    EXPECT_EQ(it.request().goal.kind, Kind::leader);
}

}  // namespace
}  // namespace mortise::core::test
