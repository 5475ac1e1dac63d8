#include "tools/mortise/run/supervisor.hpp"

#include <cerrno>
#include <chrono>
#include <csignal>
#include <string>

#include <gtest/gtest.h>

namespace mortise::cli {
namespace {

using namespace std::chrono_literals;

constexpr auto never = Supervisor::Nanoseconds::max();

struct InWords {
    std::string operator()(const run_effect::StartCommand& /*start*/) const { return "start"; }
    std::string operator()(const run_effect::SendSignal& signal) const {
        return "send " + std::to_string(signal.number);
    }
    std::string operator()(const run_effect::Kill& /*kill*/) const { return "kill"; }
    std::string operator()(const run_effect::GiveTerminal& /*give*/) const { return "give"; }
    std::string operator()(const run_effect::TakeTerminal& /*take*/) const { return "take"; }
    std::string operator()(const run_effect::StopOurselves& stop) const {
        return stop.whole_group ? "stop all" : "stop";
    }
    std::string operator()(const run_effect::Say& /*say*/) const { return "say"; }
    std::string operator()(const run_effect::Finish& finish) const {
        return "finish " + std::to_string(finish.code);
    }
};

// The effects in words, separated by commas.
std::string words(const RunEffects& effects) {
    std::string text;
    for (const auto& effect : effects)
        text += (text.empty() ? "" : ", ") + std::visit(InWords{}, effect);
    return text;
}

std::string send(int signal) {
    return "send " + std::to_string(signal);
}

// With two seconds of grace, and the command running.
class SupervisorOfACommand : public ::testing::Test {
protected:
    SupervisorOfACommand() { EXPECT_EQ(words(supervisor_.granted(10s)), "start"); }

    std::string clock(Supervisor::Nanoseconds left) { return words(supervisor_.clock(left)); }
    std::string signalled(int signal) { return words(supervisor_.signalled(signal, 10s)); }
    std::string stopped(int signal, Terminal terminal) {
        return words(supervisor_.stopped(signal, terminal, 10s));
    }
    std::string exited(int code) { return words(supervisor_.ended({false, code}, 10s)); }

    const std::string asked_ = send(SIGTERM) + ", " + send(SIGCONT) + ", say";
    const std::string killed_ = "kill";
    Supervisor supervisor_{2s};
};

TEST_F(SupervisorOfACommand, PassesItsExitCodeOn) {
    EXPECT_EQ(clock(5s), "");
    EXPECT_EQ(exited(3), "finish 3");
    EXPECT_EQ(clock(0s), "");
    EXPECT_EQ(signalled(SIGTERM), "");
}

TEST_F(SupervisorOfACommand, ReportsASignalLikeAShell) {
    EXPECT_EQ(words(supervisor_.ended({true, SIGKILL}, 10s)), "finish 137");
}

TEST_F(SupervisorOfACommand, AsksItToEndBeforeTheLeaseEndsAndKillsItThen) {
    EXPECT_EQ(clock(2s + 1ns), "");
    EXPECT_EQ(clock(2s), asked_);
    EXPECT_EQ(clock(1s), "");
    EXPECT_EQ(clock(1ns), "");
    EXPECT_EQ(clock(0s), killed_);
    EXPECT_EQ(clock(0s), "");
    EXPECT_EQ(words(supervisor_.ended({true, SIGKILL}, 10s)), "finish 76");
}

TEST_F(SupervisorOfACommand, WasLostForACommandThatWasAskedToEnd) {
    EXPECT_EQ(clock(1s), asked_);
    EXPECT_EQ(clock(9s), "");  // it was renewed after all; the command ends nevertheless
    EXPECT_EQ(exited(0), send(SIGKILL) + ", finish 76");
}

TEST_F(SupervisorOfACommand, KillsItAtOnceWhenTheLockIsGone) {
    EXPECT_EQ(clock(0s), killed_);
    EXPECT_EQ(signalled(SIGINT), "");
    EXPECT_EQ(exited(0), "finish 76");
}

// As when this process was stopped meanwhile.
TEST_F(SupervisorOfACommand, DoesNotKnowWhetherItEndedInTime) {
    EXPECT_EQ(words(supervisor_.ended({false, 0}, 0s)), killed_ + ", finish 76");
}

TEST_F(SupervisorOfACommand, WaitsNoLongerThanTheLeaseAllows) {
    EXPECT_EQ(supervisor_.look_after(4s), 2s);
    EXPECT_EQ(supervisor_.look_after(3s), 1s);
    EXPECT_EQ(supervisor_.look_after(1s), 0s);
    EXPECT_EQ(clock(1s), asked_);
    EXPECT_EQ(supervisor_.look_after(1s), 1s);
    EXPECT_EQ(supervisor_.look_after(-1s), 0s);
    EXPECT_EQ(clock(0s), killed_);
    EXPECT_EQ(supervisor_.look_after(0s), never);
}

// The guard kills it at the end that it knows, so it must be told of a renewal long before.
TEST_F(SupervisorOfACommand, LooksForARenewalAtHalfOfTheLease) {
    EXPECT_EQ(supervisor_.look_after(10s), 5s);
    Supervisor without_grace{0s};
    EXPECT_EQ(words(without_grace.granted(3s)), "start");
    EXPECT_EQ(without_grace.look_after(3s), 1500ms);
    EXPECT_EQ(without_grace.look_after(0s), 0s);
}

TEST_F(SupervisorOfACommand, PassesSignalsOn) {
    for (const int signal : {SIGINT, SIGTERM, SIGHUP, SIGUSR1, SIGWINCH, SIGTSTP, SIGCONT})
        EXPECT_EQ(signalled(signal), send(signal));
    EXPECT_EQ(exited(0), "finish 0");
}

TEST_F(SupervisorOfACommand, KillsItBeforeItContinuesWithoutItsLock) {
    EXPECT_EQ(words(supervisor_.signalled(SIGCONT, 0s)), killed_);
    EXPECT_EQ(words(supervisor_.stopped(SIGTTIN, Terminal::ours, 0s)), "");
}

TEST_F(SupervisorOfACommand, GivesItTheTerminalWhenItAsks) {
    EXPECT_EQ(stopped(SIGTTIN, Terminal::ours), "give, " + send(SIGCONT));
    EXPECT_EQ(exited(0), "take, finish 0");
}

TEST_F(SupervisorOfACommand, StopsWithItAtTheTerminal) {
    EXPECT_EQ(stopped(SIGTTOU, Terminal::ours), "give, " + send(SIGCONT));
    EXPECT_EQ(stopped(SIGTSTP, Terminal::ours), send(SIGSTOP) + ", take, stop all");
    EXPECT_EQ(signalled(SIGCONT), "give, " + send(SIGCONT));
    EXPECT_EQ(signalled(SIGCONT), send(SIGCONT));
}

TEST_F(SupervisorOfACommand, StopsAloneIfTheTerminalHasToldTheOthers) {
    EXPECT_EQ(stopped(SIGTSTP, Terminal::ours), send(SIGSTOP) + ", take, stop");
    EXPECT_EQ(signalled(SIGCONT), send(SIGCONT));
}

TEST_F(SupervisorOfACommand, WaitsInTheBackgroundForTheTerminal) {
    EXPECT_EQ(stopped(SIGTTIN, Terminal::others), send(SIGSTOP) + ", take, stop");
    EXPECT_EQ(signalled(SIGCONT), "give, " + send(SIGCONT));
}

// The kernel ignores the stop key for an orphaned process group.
TEST_F(SupervisorOfACommand, ContinuesIfTheStopKeyStopsNobody) {
    EXPECT_EQ(stopped(SIGTTOU, Terminal::ours), "give, " + send(SIGCONT));
    EXPECT_EQ(stopped(SIGTSTP, Terminal::ours), send(SIGSTOP) + ", take, stop all");
    EXPECT_EQ(words(supervisor_.not_stopped(10s)), "give, " + send(SIGCONT));
    EXPECT_EQ(words(supervisor_.not_stopped(10s)), "");
    EXPECT_EQ(stopped(SIGTSTP, Terminal::ours), send(SIGSTOP) + ", take, stop all");
    EXPECT_EQ(words(supervisor_.not_stopped(0s)), killed_);
}

// It would ask for the terminal again and again.
TEST_F(SupervisorOfACommand, IsNotContinuedWithoutTheTerminalOfOthers) {
    EXPECT_EQ(stopped(SIGTTIN, Terminal::others), send(SIGSTOP) + ", take, stop");
    EXPECT_EQ(words(supervisor_.not_stopped(10s)), "");
    EXPECT_EQ(signalled(SIGTERM), send(SIGTERM) + ", " + send(SIGCONT));
}

TEST_F(SupervisorOfACommand, ReceivesARequestToEndAlsoWhenItIsStopped) {
    EXPECT_EQ(stopped(SIGSTOP, Terminal::none), "");
    EXPECT_EQ(signalled(SIGUSR1), send(SIGUSR1));
    EXPECT_EQ(signalled(SIGTERM), send(SIGTERM) + ", " + send(SIGCONT));
    EXPECT_EQ(signalled(SIGTERM), send(SIGTERM));
}

TEST_F(SupervisorOfACommand, IsNotWaitedForIfItIsAnotherUser) {
    EXPECT_EQ(clock(0s), killed_);
    EXPECT_EQ(words(supervisor_.kill_sent(0)), "say");
    EXPECT_EQ(signalled(SIGINT), "");
    EXPECT_EQ(words(supervisor_.kill_sent(EPERM)), "say");
    EXPECT_EQ(signalled(SIGUSR1), "");
    EXPECT_EQ(signalled(SIGINT), "finish 76");
    EXPECT_EQ(exited(0), "");
}

TEST_F(SupervisorOfACommand, LeavesAStopAloneThatNobodyWouldEnd) {
    EXPECT_EQ(stopped(SIGSTOP, Terminal::ours), "");
    EXPECT_EQ(stopped(SIGTSTP, Terminal::none), "");
    EXPECT_EQ(clock(1s), asked_);
}

TEST(Supervisor, EndsByASignalWhileItWaits) {
    for (const int signal : {SIGINT, SIGTERM, SIGHUP, SIGQUIT}) {
        Supervisor supervisor{2s};
        EXPECT_EQ(words(supervisor.clock(0s)), "");
        EXPECT_EQ(supervisor.look_after(0s), never);
        EXPECT_EQ(words(supervisor.signalled(signal, 0s)),
                  "finish " + std::to_string(128 + signal));
        EXPECT_EQ(words(supervisor.granted(10s)), "");
    }
}

TEST(Supervisor, StopsWhileItWaits) {
    Supervisor supervisor{2s};
    EXPECT_EQ(words(supervisor.signalled(SIGTSTP, 0s)), "stop");
    EXPECT_EQ(words(supervisor.signalled(SIGCONT, 0s)), "");
    EXPECT_EQ(words(supervisor.granted(10s)), "start");
}

TEST(Supervisor, StartsNothingWithoutALease) {
    Supervisor supervisor{2s};
    EXPECT_EQ(words(supervisor.granted(0s)), "say, finish 76");
}

TEST(Supervisor, ReportsACommandThatCannotBeExecuted) {
    for (const auto& [error, code] : {std::pair{ENOENT, 127}, {EACCES, 126}, {ENOEXEC, 126}}) {
        Supervisor supervisor{2s};
        EXPECT_EQ(words(supervisor.granted(10s)), "start");
        EXPECT_EQ(words(supervisor.not_started(error)), "say, finish " + std::to_string(code));
    }
}

}  // namespace
}  // namespace mortise::cli
