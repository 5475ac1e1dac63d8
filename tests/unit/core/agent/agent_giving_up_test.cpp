// Calls that are given up while later ones follow, with the cluster's state machine (S18, S20).
#include <map>

#include <gtest/gtest.h>

#include "core/locks/machine/lock_machine.hpp"
#include "tests/unit/core/agent/agent_by_hand.hpp"

namespace mortise::core::test {
namespace {

using Commands = std::vector<Command>;

// The test decides which of the agent's messages are applied or lost.
class AgentGivingUp : public testing::Test {
protected:
    AgentGivingUp() {
        of.agent.on_leader(true, of.now);
        apply_all();
    }

    CallTag acquire(const std::string& name, LockMode mode = LockMode::exclusive) {
        AcquireCall call;
        call.tag = CallTag{++tag};
        call.request.names.push_back({name, mode});
        call.request.policy = QueuePolicy::fifo;
        of.agent.on_acquire(std::move(call), of.now);
        return CallTag{tag};
    }
    CallTag acquire_both(const std::string& first, const std::string& second) {
        AcquireCall call;
        call.tag = CallTag{++tag};
        call.request.names = {{first}, {second}};
        call.request.which = Acquire::Which::all;
        call.request.policy = QueuePolicy::fifo;
        of.agent.on_acquire(std::move(call), of.now);
        return CallTag{tag};
    }
    CallTag upgrade(OperationId hold) {
        of.agent.on_upgrade({CallTag{++tag}, hold, true, Instant::never()}, of.now);
        return CallTag{tag};
    }
    void downgrade(OperationId hold) {
        of.agent.on_downgrade({CallTag{++tag}, hold, LockMode::shared}, of.now);
    }
    OperationId hold(const std::string& name, LockMode mode) {
        const auto call = acquire(name, mode);
        apply_all();
        return holds.at(call);
    }
    void cancel(CallTag call) { of.agent.on_cancel({call}, of.now); }

    Commands sent() {
        auto output = of.agent.collect(of.now);
        of.agent.check_invariants();
        for (const auto& answer : output.answers)
            take(answer);
        return commands_in(output);
    }
    void apply(const Commands& commands) {
        if (commands.empty()) return;
        Outcomes outcomes;
        machine.apply(LogIndex{++index}, commands, outcomes);
        of.agent.on_progress(of.now);
        for (const auto& outcome : outcomes)
            of.agent.on_outcome(outcome, LogIndex{index}, of.now);
    }
    // Returns how many commands were applied.
    std::size_t apply_all() {
        std::size_t count = 0;
        for (auto commands = sent(); !commands.empty(); commands = sent()) {
            count += commands.size();
            apply(commands);
        }
        return count;
    }
    void lose() { (void)sent(); }
    void send_all_again() { of.agent.on_leader(true, of.now); }
    LockMode mode_of(const std::string& name) const {
        return machine.inspect(name).holders.at(0).mode;
    }
    void pass(Nanoseconds time) {
        of.now = {of.now.steady + time, of.now.boot + time};
        of.agent.begin(of.now);
        of.agent.on_timer(of.now);
    }

    struct {
        Now now{Instant{1'000'000'000}, Instant{1'000'000'000}};
        SessionAgent agent{Agent::of_a_day(), Prng{1}, now};
    } of;
    std::map<CallTag, OperationId> holds;
    std::vector<CallTag> granted;           // in that order
    std::map<CallTag, CallError> refusals;  // with their errors

private:
    void take(const CallAnswer& answer) {
        if (const auto* one = std::get_if<Acquired>(&answer.result)) {
            holds[answer.tag] = one->hold;
            granted.push_back(answer.tag);
        }
        if (const auto* error = std::get_if<CallError>(&answer.result))
            refusals[answer.tag] = *error;
    }

    LockMachine machine;
    std::uint64_t index = 0;
    std::uint64_t tag = 0;
};

// The first of three requests was lost, and the second was given up: those that arrive are behind a
// gap.
TEST_F(AgentGivingUp, NobodyPassesWhatTheCallCameAfter) {  // S20, P6
    const auto first = acquire("name");
    ASSERT_EQ(sent().size(), 1U);
    const auto second = acquire("name");
    const auto lost = sent();
    const auto third = acquire("name");
    const auto late = sent();
    cancel(second);
    const auto more = sent();
    EXPECT_EQ(refusals.at(second), CallError::cancelled);
    apply(more);
    apply(lost);
    apply(late);
    EXPECT_TRUE(granted.empty());
    send_all_again();
    apply_all();
    EXPECT_EQ(granted, std::vector{first});
    of.agent.on_release({{}, holds.at(first)}, of.now);
    apply_all();
    EXPECT_EQ(granted, (std::vector{first, third}));
    EXPECT_EQ(of.agent.outstanding(), 0U);
}

// B-A8: the leader keeps committing other entries, so there is a majority.
TEST_F(AgentGivingUp, WhatALeaderHasNoTimeForIsTooMuch) {  // S48
    const auto waits = acquire("name");
    lose();
    for (Nanoseconds passed{0}; passed <= AgentOptions{}.call_timeout; passed += 1s) {
        pass(1s);
        of.agent.on_progress(of.now);
        lose();
    }
    EXPECT_EQ(refusals.at(waits), CallError::resource_exhausted);
}

TEST_F(AgentGivingUp, WhereNothingIsDecidedThereIsNoMajority) {  // S48
    const auto waits = acquire("name");
    lose();
    pass(AgentOptions{}.call_timeout);
    lose();
    EXPECT_EQ(refusals.at(waits), CallError::no_quorum);
    // What a former leader committed says nothing about the present.
    const auto second = acquire("name");
    of.agent.on_progress(of.now);
    of.agent.on_leader(false, of.now);
    pass(AgentOptions{}.call_timeout - 1s);
    of.agent.on_progress(of.now);
    pass(1s);
    lose();
    EXPECT_EQ(refusals.at(second), CallError::no_quorum);
}

class AgentGivingUpSoon : public AgentGivingUp {
protected:
    CallTag acquire_within(Nanoseconds time) {
        AcquireCall call;
        call.tag = CallTag{1'000};
        call.request.names.push_back({"name"});
        call.deadline = of.now.steady + time;
        of.agent.on_acquire(std::move(call), of.now);
        return CallTag{1'000};
    }
    [[nodiscard]] CallError error_after(Nanoseconds time, bool others_are_served = false) {
        const auto call = acquire_within(time);
        lose();
        pass(time / 2);
        if (others_are_served) of.agent.on_progress(of.now);
        pass(time - time / 2);
        lose();
        return refusals.at(call);
    }
};

// Also if nothing was decided for a while, since nobody had asked for anything.
TEST_F(AgentGivingUpSoon, IsNoSignOfTooMuchWork) {  // S48
    EXPECT_EQ(error_after(1ns), CallError::timed_out);
    pass(1h);
    EXPECT_EQ(error_after(1ns), CallError::timed_out);
    EXPECT_EQ(error_after(AgentOptions{}.answer_time - 1ns), CallError::timed_out);
}

TEST_F(AgentGivingUpSoon, IsNoMajorityWithoutALeader) {  // S48
    of.agent.on_leader(false, of.now);
    EXPECT_EQ(error_after(1ns), CallError::no_quorum);
}

TEST_F(AgentGivingUpSoon, IsNotSoonWhenAnAnswerHadTheTimeToCome) {  // S48
    EXPECT_EQ(error_after(AgentOptions{}.answer_time, true), CallError::resource_exhausted);
}

// The leader is silent, and nobody has noticed that yet.
TEST_F(AgentGivingUpSoon, IsNoMajorityIfNothingWasDecidedMeanwhile) {  // S48
    of.agent.on_progress(of.now);
    EXPECT_EQ(error_after(AgentOptions{}.answer_time), CallError::no_quorum);
}

// Another process has used the same number for another request, in the name of this session.
TEST_F(AgentGivingUp, AnAnswerToWhatWasNotAskedIsUnknown) {
    const auto waits = acquire("name");
    const auto seq = std::get<Request>(sent().at(0)).seq;
    const Answered other{{of.agent.open_session().value(), seq}, {AnswerKind::not_held, {}, {}}};
    of.agent.on_outcome(other, LogIndex{9}, of.now);
    lose();
    EXPECT_EQ(refusals.at(waits), CallError::outcome_unknown);
}

// The session is closed only when the cluster knows of a loss, which may come after abandoned
// calls.
TEST_F(AgentGivingUp, WhatALossComesAfterIsSentUntilTheEnd) {  // S23
    const auto held = hold("name", LockMode::shared);
    acquire("name", LockMode::update);
    lose();
    cancel(upgrade(held));
    lose();
    downgrade(held);
    lose();
    of.agent.on_release({{}, held, true}, of.now);
    of.agent.on_notified(held);
    lose();
    of.agent.on_close({CallTag{1'000'000}}, of.now);
    for (int i = 0; i < 3; ++i) {
        apply_all();
        pass(std::chrono::seconds{1});
    }
    EXPECT_TRUE(of.agent.is_closed());
}

}  // namespace
}  // namespace mortise::core::test
