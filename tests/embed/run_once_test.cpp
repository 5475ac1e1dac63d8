// run_once_per() and last_run(): a job that runs at most once in each interval.
#include <chrono>
#include <stdexcept>
#include <string>

#include "tests/embed/one_node.hpp"
#include <mortise/testkit/local_cluster.hpp>

namespace mortise {
namespace {

using namespace std::chrono_literals;

class RunOnce : public OneNode {
protected:
    // Repeats the call until the job has run, and returns what it received.
    std::optional<LastRun> run_when_due(Duration interval = 10ms) {
        std::optional<LastRun> last;
        const auto job = [&](const JobRun& run) { last = run.last; };
        while (!run_once_per(node_, "job", interval, job))
            std::this_thread::sleep_for(2ms);
        return last;
    }
};

TEST_F(RunOnce, RunsAtMostOnceInAnInterval) {
    int runs = 0;
    const auto job = [&](const JobRun& run) {
        EXPECT_TRUE(run.hold.valid());
        EXPECT_FALSE(run.last);
        ++runs;
    };
    EXPECT_TRUE(run_once_per(node_, "job", 1h, job));
    EXPECT_FALSE(run_once_per(node_, "job", 1h, job));
    EXPECT_EQ(runs, 1);
    EXPECT_TRUE(run_once_per(node_, "another", 1h, job));
}

TEST_F(RunOnce, RunsAgainAfterTheInterval) {
    EXPECT_TRUE(run_once_per(node_, "job", 10ms, [](const JobRun&) { return "3 rows"; }));
    const auto first = last_run(node_, "job");
    ASSERT_TRUE(first);
    EXPECT_EQ(first->end, RunEnd::finished);
    EXPECT_EQ(first->outcome, "3 rows");
    EXPECT_EQ(run_when_due(), first);
    EXPECT_GT(last_run(node_, "job")->token, first->token);
}

TEST_F(RunOnce, DoesNotRunWhileItRuns) {
    const auto job = [&](const JobRun& run) {
        EXPECT_FALSE(run_once_per(node_, "job", 1ns, [](const JobRun&) { ADD_FAILURE(); }));
        EXPECT_EQ(last_run(node_, "job"), (LastRun{RunEnd::running, "", run.hold.token()}));
    };
    EXPECT_TRUE(run_once_per(node_, "job", 1ns, job));
    EXPECT_EQ(last_run(node_, "job")->end, RunEnd::finished);
}

TEST_F(RunOnce, AnExceptionIsTheOutcomeAndIsPassedOn) {
    const auto job = [](const JobRun&) { throw std::runtime_error{"no\ndisk"}; };
    EXPECT_THROW((void)run_once_per(node_, "job", 10ms, job), std::runtime_error);
    const auto last = run_when_due();  // the release is sent, and was not awaited
    ASSERT_TRUE(last);
    EXPECT_EQ(last->end, RunEnd::failed);
    EXPECT_EQ(last->outcome, "no\ndisk");
    EXPECT_THROW((void)run_once_per(node_, "odd", 10ms, [](const JobRun&) { throw 1; }), int);
    EXPECT_EQ(last_run(node_, "odd")->end, RunEnd::failed);
}

TEST_F(RunOnce, AHoldThatWasTakenAwayIsAnInterruptedRun) {
    FencingToken token;
    const auto job = [&](const JobRun& run) {
        token = run.hold.token();
        node_.break_lock("job", token, "stuck", BreakMode::immediate);
        EXPECT_EQ(last_run(node_, "job")->end, RunEnd::interrupted);
    };
    EXPECT_EQ(thrown_by([&] { (void)run_once_per(node_, "job", 10ms, job); }), Errc::lock_lost);
    EXPECT_EQ(run_when_due(), (LastRun{RunEnd::interrupted, "", token}));
    EXPECT_FALSE(node_.inspect("job").value->dirty);
}

TEST_F(RunOnce, ALongOutcomeIsCut) {
    const std::string text(5'000, 'x');
    EXPECT_TRUE(run_once_per(node_, "job", 1h, [&](const JobRun&) { return text; }));
    EXPECT_EQ(last_run(node_, "job")->outcome, text.substr(0, 4'000));
}

TEST_F(RunOnce, RefusesWhatMakesNoSense) {
    const auto never = [](const JobRun&) { ADD_FAILURE(); };
    const auto code_of = [&](std::string_view name, Duration interval) {
        return thrown_by([&] { (void)run_once_per(node_, name, interval, never); });
    };
    EXPECT_EQ(code_of("job", 0s), Errc::invalid_argument);
    EXPECT_EQ(code_of("job", -1s), Errc::invalid_argument);
    EXPECT_EQ(code_of("job", Duration::max()), Errc::invalid_argument);
    EXPECT_EQ(code_of("job", 25 * 24h), Errc::invalid_argument);
    EXPECT_EQ(code_of("", 1s), Errc::invalid_argument);
    for (const auto* value : {"finished", "finished 1", "finished x\n", "began 1\n", " \n"}) {
        node_.acquire("config").set_value(value);
        EXPECT_EQ(code_of("config", 1h), Errc::kind_mismatch) << value;
        EXPECT_FALSE(last_run(node_, "config")) << value;
    }
    EXPECT_FALSE(last_run(node_, "unknown"));
    EXPECT_THROW((void)last_run(node_, ""), LockError);
}

TEST(RunOnceInACluster, WhatANodeBeganAnotherDoesNotRepeat) {
    mortise::testkit::LocalCluster cluster{3, mortise::testkit::quick_timing()};
    std::string outcome;
    const auto dies = [&](const JobRun&) { cluster.kill(0); };
    EXPECT_THROW((void)run_once_per(cluster.node(0), "job", 1h, dies), LockError);
    const auto never = [](const JobRun&) { ADD_FAILURE(); };
    EXPECT_FALSE(run_once_per(cluster.node(1), "job", 1h, never));
    // When the session of the dead node has ended, the name stays closed all the same.
    while (cluster.node(1).inspect("job").is_held())
        std::this_thread::sleep_for(20ms);
    EXPECT_FALSE(run_once_per(cluster.node(2), "job", 1h, never));
    EXPECT_EQ(last_run(cluster.node(2), "job")->end, RunEnd::interrupted);
}

}  // namespace
}  // namespace mortise
