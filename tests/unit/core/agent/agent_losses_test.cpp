// A lost hold is released when its owner was notified, or after a while (S6, S8, S24).
#include <algorithm>
#include <string>
#include <utility>
#include <vector>

#include <gtest/gtest.h>

#include "tests/unit/core/agent/agent_by_hand.hpp"

namespace mortise::core {
namespace {

using namespace test;

class AgentLosses : public testing::Test {
protected:
    // One step, in which the lease has ended.
    void lapse() {
        agent.pass(11s);
        EXPECT_TRUE(released().empty());
    }
    void tell() { agent.agent.on_notified(hold); }
    // Whether the session is closed now.
    bool closes() {
        return std::ranges::any_of(agent.sent(), [](const Request& request) {
            return std::holds_alternative<CloseSession>(request.body);
        });
    }
    void acquire(std::uint64_t tag, std::vector<std::string> names) {
        AcquireCall call;
        call.request.which = Acquire::Which::all;
        call.tag = CallTag{tag};
        for (auto& name : names)
            call.request.names.push_back({std::move(name), LockMode::exclusive});
        agent.agent.on_acquire(std::move(call), agent.now);
    }
    // The releases that are sent now.
    std::vector<Release> released() {
        std::vector<Release> releases;
        for (const auto& request : agent.sent()) {
            if (const auto* one = std::get_if<Release>(&request.body)) releases.push_back(*one);
        }
        return releases;
    }

    const std::vector<Release> it_goes_back{{Seq{1}, true}};
    Agent agent;
    OperationId hold = agent.hold();
};

TEST_F(AgentLosses, GoBackWhenTheirOwnerWasTold) {  // S6, P3
    lapse();
    agent.pass(50ms);
    EXPECT_TRUE(released().empty());
    tell();
    EXPECT_EQ(released(), it_goes_back);
    tell();
    EXPECT_TRUE(released().empty());
    EXPECT_EQ(agent.agent.released_unnotified(), 0U);
}

// The name becomes free, whatever the program does meanwhile.
TEST_F(AgentLosses, GoBackInTimeWhoeverIsTold) {  // S6, P3
    lapse();
    const auto lost = agent.now.steady;
    EXPECT_LE(agent.agent.deadline(), lost + 100ms);
    agent.pass(99ms);
    EXPECT_TRUE(released().empty());
    EXPECT_LE(agent.agent.deadline(), lost + 100ms);
    agent.pass(1ms);
    EXPECT_EQ(released(), it_goes_back);
    EXPECT_EQ(agent.agent.released_unnotified(), 1U);
    tell();
    EXPECT_TRUE(released().empty());
}

// Its worker was silent for too long, which the program itself detects.
TEST_F(AgentLosses, DetectedByTheProgramWaitAsWell) {  // S8
    agent.agent.on_release({{}, hold, true}, agent.now);
    EXPECT_TRUE(released().empty());
    tell();
    EXPECT_EQ(released(), it_goes_back);
}

TEST_F(AgentLosses, NeedNotBeToldToWhoLetsGo) {  // S21
    lapse();
    agent.agent.on_release({CallTag{2}, hold}, agent.now);
    EXPECT_EQ(released(), it_goes_back);
    EXPECT_EQ(agent.answers_to(CallTag{2}), std::vector{std::optional{CallError::lock_lost}});
}

TEST_F(AgentLosses, EndWithTheSession) {
    lapse();
    EXPECT_EQ(agent.agent.outstanding(), 1U);
    agent.session_ends(SessionEnd::expired);
    EXPECT_EQ(agent.agent.outstanding(), 0U);
    tell();
    agent.pass(1s);
    EXPECT_TRUE(released().empty());
    EXPECT_EQ(agent.agent.released_unnotified(), 0U);
}

TEST_F(AgentLosses, IgnoreNotificationsForAnotherSession) {
    lapse();
    agent.agent.on_notified({SessionId{6}, hold.seq});
    EXPECT_TRUE(released().empty());
}

// Otherwise a new request would conflict with the lost hold.
TEST_F(AgentLosses, GoBeforeWhatIsAskedOfTheirNames) {  // S20
    lapse();
    EXPECT_FALSE(agent.agent.read_behind({"name"}));
    EXPECT_TRUE(agent.agent.read_behind({"third"}));
    acquire(11, {"name", "other"});
    acquire(12, {"other"});  // a later call
    acquire(13, {"third"});
    const auto at_once = agent.sent();
    ASSERT_EQ(at_once.size(), 1U);
    EXPECT_EQ(std::get<Acquire>(at_once[0].body).names.front().name, "third");
    tell();
    EXPECT_FALSE(agent.agent.read_behind({"name"}));
    const auto then = agent.sent();
    ASSERT_EQ(then.size(), 3U);
    EXPECT_EQ(then[0].body, RequestBody{it_goes_back.front()});
    EXPECT_EQ(std::get<Acquire>(then[1].body).names.front().name, "name");
    EXPECT_EQ(std::get<Acquire>(then[2].body).names.front().name, "other");
}

// A call that is freed by one name goes before later calls that wait for another name.
TEST_F(AgentLosses, AFreedCallGoesBeforeLaterCalls) {  // S20
    acquire(11, {"a", "b"});
    agent.send_all();
    const Answer granted{
        AnswerKind::granted, {}, {}, {{"a", FencingToken{5}, {}}, {"b", FencingToken{6}, {}}}};
    agent.agent.on_outcome(Answered{{session, Seq{2}}, granted}, LogIndex{++agent.index},
                           agent.now);
    lapse();  // the holds of "name", and of "a" and "b"
    acquire(12, {"name"});
    acquire(13, {"name", "a"});
    agent.agent.on_notified({session, Seq{1}});
    const auto sent = agent.sent();
    ASSERT_EQ(sent.size(), 2U);
    EXPECT_EQ(sent[0].body, (RequestBody{Release{Seq{1}, true}}));
    EXPECT_EQ(std::get<Acquire>(sent[1].body).names.size(), 1U);
    agent.agent.on_notified({session, Seq{2}});
    EXPECT_EQ(agent.sent().size(), 2U);
}

// However many calls wait for one name: the stack does not grow, and each step frees a limited
// number.
TEST_F(AgentLosses, ManyMayGoOnAtOnce) {  // P10
    lapse();
    constexpr std::uint64_t many = 60'000;
    for (std::uint64_t tag = 100; tag < 100 + many; ++tag)
        acquire(tag, {"name"});
    for (int steps = 0; steps < 100; ++steps)
        EXPECT_TRUE(agent.sent().empty());
    tell();
    std::size_t sent = 0;
    for (auto some = agent.sent(); !some.empty(); some = agent.sent())
        sent += some.size();
    EXPECT_EQ(sent, 2'048U);
}

TEST_F(AgentLosses, AreReleasedTogetherForSeveralNames) {  // S23, S32
    acquire(11, {"a", "b"});
    agent.send_all();
    const Answer granted{
        AnswerKind::granted, {}, {}, {{"a", FencingToken{5}, {}}, {"b", FencingToken{6}, {}}}};
    agent.agent.on_outcome(Answered{{session, Seq{2}}, granted}, LogIndex{++agent.index},
                           agent.now);
    agent.agent.on_release({{}, std::exchange(hold, {session, Seq{2}})}, agent.now);
    agent.send_all();
    agent.answered(Seq{3}, AnswerKind::released);
    lapse();
    for (const auto* name : {"a", "b"})
        EXPECT_FALSE(agent.agent.read_behind({name})) << name;
    tell();
    EXPECT_EQ(released(), (std::vector<Release>{{Seq{2}, true}}));
    agent.agent.check_invariants();
}

TEST_F(AgentLosses, AreToldBeforeTheNodeCloses) {  // S10, S23
    lapse();
    agent.close();
    EXPECT_FALSE(closes());
    tell();
    EXPECT_TRUE(closes()) << "behind the release";
}

// The close makes the names free for others.
TEST_F(AgentLosses, ByACloseAreToldBeforeTheSessionEnds) {  // S6, S10, P3
    const auto second = agent.another_hold("second");
    agent.close({hold, second});
    EXPECT_EQ(agent.lost().size(), 2U);
    EXPECT_FALSE(closes());
    tell();
    EXPECT_FALSE(closes());
    agent.agent.on_notified(second);
    const auto sent = agent.sent();
    ASSERT_EQ(sent.size(), 1U) << "all holds are released in one command";
    EXPECT_EQ(sent.front().body, RequestBody{CloseSession{}});
    EXPECT_EQ(agent.agent.released_unnotified(), 0U);
    agent.session_ends(SessionEnd::closed);
    EXPECT_EQ(agent.agent.outstanding(), 0U);
    EXPECT_TRUE(agent.agent.is_closed());
}

// Of the two callbacks one does not return.
TEST_F(AgentLosses, ByACloseKeepTheSessionForAMomentOnly) {  // S6, S10, P3
    const auto second = agent.another_hold("second");
    agent.close({hold, second});
    const auto began = agent.now.steady;
    tell();
    EXPECT_FALSE(closes());
    EXPECT_LE(agent.agent.deadline(), began + 100ms);
    agent.pass(99ms);
    EXPECT_FALSE(closes());
    EXPECT_LE(agent.agent.deadline(), began + 100ms);
    agent.pass(1ms);
    EXPECT_TRUE(closes());
    EXPECT_EQ(agent.agent.released_unnotified(), 1U);
    agent.agent.on_notified(second);
    EXPECT_FALSE(closes());
}

TEST_F(AgentLosses, ByACloseThatNobodyListensToDelayNothing) {  // S10
    const auto second = agent.another_hold("second");
    agent.agent.on_release({{}, second}, agent.now);
    agent.send_all();
    agent.close({second, {SessionId{6}, hold.seq}});  // released; of a former session
    EXPECT_TRUE(closes());
    EXPECT_EQ(agent.agent.released_unnotified(), 0U);
}

// The cluster has ended the session meanwhile.
TEST_F(AgentLosses, ByACloseEndWithTheSession) {
    agent.close({hold});
    agent.session_ends(SessionEnd::expired);
    EXPECT_TRUE(agent.agent.is_closed());
    EXPECT_EQ(agent.agent.outstanding(), 0U);
    tell();
    agent.pass(1s);
    EXPECT_FALSE(closes());
    EXPECT_EQ(agent.agent.released_unnotified(), 0U);
}

}  // namespace
}  // namespace mortise::core
