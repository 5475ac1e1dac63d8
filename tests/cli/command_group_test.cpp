#include "tools/mortise/run/command_group.hpp"

#include <csignal>

#include <gtest/gtest.h>
#include <sys/wait.h>
#include <unistd.h>

namespace mortise::cli {
namespace {

// A process in a group of its own, which waits for a signal.
class WaitingProcess {
public:
    WaitingProcess() : pid_{::fork()} {
        if (pid_ == 0) {
            ::setpgid(0, 0);
            ::pause();
            ::_exit(0);
        }
        ::setpgid(pid_, pid_);
    }
    ~WaitingProcess() {
        if (is_waited_for_) return;
        ::kill(pid_, SIGKILL);
        ::waitpid(pid_, nullptr, 0);
    }
    WaitingProcess(const WaitingProcess&) = delete;
    WaitingProcess& operator=(const WaitingProcess&) = delete;

    [[nodiscard]] pid_t group() const { return pid_; }
    [[nodiscard]] bool is_alive() const {
        siginfo_t about{};
        ::waitid(P_PID, static_cast<id_t>(pid_), &about, WEXITED | WNOHANG | WNOWAIT);
        return about.si_pid == 0;
    }
    // The signal that ended it.
    int wait() {
        int status = 0;
        ::waitpid(pid_, &status, 0);
        is_waited_for_ = true;
        return WIFSIGNALED(status) ? WTERMSIG(status) : 0;
    }

private:
    const pid_t pid_;
    bool is_waited_for_ = false;
};

TEST(CommandGroup, IsKilled) {
    WaitingProcess process;
    CommandGroup group;
    group.begin(process.group());
    EXPECT_TRUE(process.is_alive());
    group.kill();
    EXPECT_EQ(process.wait(), SIGKILL);
}

// The lock was lost between the grant and the start.
TEST(CommandGroup, IsKilledAtOnceIfItBeginsTooLate) {
    CommandGroup group;
    group.kill();
    WaitingProcess process;
    group.begin(process.group());
    EXPECT_EQ(process.wait(), SIGKILL);
}

TEST(CommandGroup, IsLeftAloneOnceItIsForgotten) {
    WaitingProcess process;
    CommandGroup group;
    group.begin(process.group());
    group.forget();
    group.kill();
    ::kill(process.group(), SIGTERM);
    EXPECT_EQ(process.wait(), SIGTERM);  // a SIGKILL before it would have ended the process
}

}  // namespace
}  // namespace mortise::cli
