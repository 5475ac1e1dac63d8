#include "tools/mortise/run/supervised_run.hpp"

#include <csignal>
#include <exception>
#include <future>
#include <optional>
#include <system_error>
#include <thread>

#include <sys/wait.h>
#include <unistd.h>

#include "tools/mortise/run/command_group.hpp"
#include "tools/mortise/run/command_process.hpp"
#include "tools/mortise/run/supervisor.hpp"
#include "tools/mortise/say.hpp"
#include <mortise/escaped.hpp>

namespace mortise::cli {

namespace {

using std::chrono::nanoseconds;

// Under `ssh -t` or in a container this process leads its session, and nobody would continue it or
// the command. There the key that stops jobs has no effect; the kernel does the same for a command
// without a supervisor.
bool has_effect(int signal) {
    if (signal == SIGTSTP) return ::getsid(0) != ::getpid();
    return signal != SIGCHLD;
}

// Any child that has ended and was not waited for; 0 if there is none.
pid_t ended_child() {
    siginfo_t about{};
    return ::waitid(P_ALL, 0, &about, WEXITED | WNOHANG | WNOWAIT) == 0 ? about.si_pid : 0;
}

// One run: carries out what the supervisor decides.
class Run {
public:
    Run(const std::vector<std::string>& command, nanoseconds grace, Guard& guard,
        RunSignals& signals)
        : words_{command}, guard_{guard}, signals_{signals}, supervisor_{grace} {}

    int until_end(const SupervisedRun::Acquire& acquire) {
        std::packaged_task<Grant(std::stop_token)> task{acquire};
        granted_ = task.get_future();
        std::jthread acquiring{[&](const std::stop_token& stop) {
            task(stop);
            signals_.wake();
        }};
        while (!code_)
            turn();
        acquiring.request_stop();
        acquiring.join();
        give_back();
        return *code_;
    }

private:
    void turn() {
        const auto signal = signals_.wait_for(supervisor_.look_after(left()));
        keep_guard();
        take_grant();
        watch_lease();
        carry_out(supervisor_.clock(left()));
        if (signal && has_effect(*signal)) carry_out(supervisor_.signalled(*signal, left()));
        look_at_command();
        reap_others();
    }
    [[nodiscard]] nanoseconds left() const { return grant_.remaining().to_nanoseconds(); }

    void take_grant() {
        if (!granted_.valid() || code_ ||
            granted_.wait_for(nanoseconds::zero()) != std::future_status::ready)
            return;
        grant_ = granted_.get();
        on_loss_.emplace(grant_.lost(), OnLoss{&group_, &signals_});
        carry_out(supervisor_.granted(left()));
    }
    void announce(pid_t group) {
        group_.begin(group);
        if (group != 0)
            watch_lease(group);
        else
            guard_.forget();
    }
    // Without a guard, a later stop of this process would let the command run on.
    void keep_guard() {
        const auto failed = guard_.keep();
        if (failed && !lacks_guard_)
            say("the guard of the command has ended, and another one cannot be started: " +
                failed.message());
        lacks_guard_ = bool(failed);
    }
    // As the first process of a container this one is the parent of all that the command has left
    // behind, and of what a shell has started that became this program.
    void reap_others() const {
        const auto is_own = [this](pid_t pid) {
            return pid == guard_.pid() || (process_ && pid == process_->group());
        };
        while (const auto pid = ended_child()) {
            if (is_own(pid)) break;  // its turn is next
            ::waitpid(pid, nullptr, WNOHANG);
        }
    }
    // A renewal has moved the end of the lease.
    void watch_lease() {
        if (process_) watch_lease(process_->group());
    }
    void watch_lease(pid_t group) {
        const auto until = grant_.valid_until();
        if (until == guarded_until_) return;
        guarded_until_ = until;
        guard_.watch(group, until);
    }
    void look_at_command() {
        if (!process_ || code_) return;
        if (const auto stop = process_->take_stop())
            carry_out(supervisor_.stopped(*stop, terminal_.whose(process_->group()), left()));
        const auto end = process_->look_at_end();
        if (!end) return;
        guard_.forget();
        carry_out(supervisor_.ended(*end, left()));
        group_.forget();
        process_->forget();
        process_.reset();
    }

    void carry_out(const RunEffects& effects) {
        for (const auto& effect : effects)
            std::visit([this](const auto& one) { on(one); }, effect);
    }
    void on(const run_effect::StartCommand& /*start*/) {
        const CommandOrder order{words_, grant_.variables(), signals_.before(),
                                 [this](pid_t group) { announce(group); }};
        try {
            process_.emplace(order);
        } catch (const std::system_error& error) {
            carry_out(supervisor_.not_started(error.code().value()));
        }
    }
    void on(const run_effect::SendSignal& signal) {
        if (process_) process_->send(signal.number);
    }
    void on(const run_effect::Kill& /*kill*/) {
        if (process_) carry_out(supervisor_.kill_sent(process_->send(SIGKILL)));
    }
    void on(const run_effect::GiveTerminal& /*give*/) {
        if (process_) terminal_.pass(::getpgrp(), process_->group());
    }
    void on(const run_effect::TakeTerminal& /*take*/) {
        if (process_) terminal_.pass(process_->group(), ::getpgrp());
    }
    // Continues here when the shell continues this job.
    void on(const run_effect::StopOurselves& stop) {
        if (!RunSignals::stop(stop.whole_group)) carry_out(supervisor_.not_stopped(left()));
    }
    void on(const run_effect::Say& what) const { say(escaped(words_.front()) + ": " + what.line); }
    void on(const run_effect::Finish& finish) { code_ = finish.code; }

    void give_back() {
        on_loss_.reset();
        if (granted_.valid()) drop_late_grant();
        if (grant_) grant_.give_back();
    }
    // The run was interrupted while it waited for the lock.
    void drop_late_grant() {
        try {
            grant_ = granted_.get();
        } catch (const std::exception&) {  // it was cancelled
        }
    }

    // The name is free for others soon after this has returned, whatever the main thread does.
    struct OnLoss {
        CommandGroup* group;
        const RunSignals* signals;
        void operator()() const {
            group->kill();
            signals->wake();
        }
    };

    const std::vector<std::string>& words_;
    Guard& guard_;
    RunSignals& signals_;
    ControllingTerminal terminal_;
    Supervisor supervisor_;
    std::future<Grant> granted_;
    Grant grant_;
    CommandGroup group_;
    std::optional<std::stop_callback<OnLoss>> on_loss_;
    std::optional<CommandProcess> process_;
    BootClock::time_point guarded_until_{};
    bool lacks_guard_ = false;
    std::optional<int> code_;
};

}  // namespace

int SupervisedRun::run(const std::vector<std::string>& command, nanoseconds grace,
                       const Acquire& acquire) {
    return Run{command, grace, guard_, signals_}.until_end(acquire);
}

}  // namespace mortise::cli
