// The command run: a command that is executed while a lock is held.
#include <algorithm>
#include <memory>
#include <optional>
#include <stop_token>
#include <string>
#include <utility>
#include <vector>

#include "tools/mortise/commands.hpp"
#include "tools/mortise/run/client_lock.hpp"
#include "tools/mortise/run/supervised_run.hpp"
#include <mortise/escaped.hpp>

namespace mortise::cli {

namespace {

struct RunCommand {
    LockWords lock;
    std::optional<std::string> grace;    // as typed
    std::vector<std::string> command;    // what stands after "--"
    std::vector<std::string> misplaced;  // what stands before it
};

// A hold is renewed when half of the TTL is left at the latest, so a longer time of grace would end
// every command. One that is as long as the hold may last would end it before it did anything.
Duration grace_of(const RunCommand& command, Duration ttl, Duration max_hold) {
    const auto grace =
        time_or("--grace", command.grace, std::min(ttl, max_hold).to_nanoseconds() / 4);
    if (grace.to_nanoseconds() >= ttl.to_nanoseconds() / 2)
        throw Failure{ExitCode::usage, "--grace: " + to_string(grace) +
                                           " is not less than half of the session TTL, "
                                           "which is " +
                                           to_string(ttl)};
    if (grace >= max_hold && command.grace)
        throw Failure{ExitCode::usage, "--grace: " + to_string(grace) +
                                           " is not less than --max-hold, which is " +
                                           to_string(max_hold)};
    return grace;
}

void check(const RunCommand& command) {
    if (!command.misplaced.empty())
        throw Failure{ExitCode::usage, "write -- before the command: mortise run --lock NAME -- " +
                                           escaped(command.misplaced.front())};
    if (command.command.empty())
        throw Failure{ExitCode::usage,
                      "which command? it stands after --: mortise run --lock NAME -- CMD"};
}

ExitCode run(const RunCommand& command) {
    check(command);
    ClientLock lock{command.lock, "--lock", default_label(command.command.front())};
    const auto grace = grace_of(command, lock.ttl(), lock.max_hold());
    SupervisedRun supervised;  // before the node has threads
    const auto code =
        supervised.run(command.command, grace.to_nanoseconds(),
                       [&](const std::stop_token& cancel) { return lock.acquire(cancel); });
    lock.close();
    return ExitCode{code};
}

std::vector<Option> options_of(RunCommand& command) {
    std::vector<Option> options{
        required("--lock NAME", value(command.lock.locks, Kind::lock),
                 "The name of the lock; may be repeated: all are acquired together"),
        escaped_flag(command.lock.escaped, "The name")};
    for (auto& each : lock_options(command.lock, "End the command"))
        options.push_back(std::move(each));
    options.push_back(option("--permits N[/LIMIT]", value(command.lock.permits),
                             "Take N permits of the semaphore NAME; LIMIT is how many there are "
                             "if nobody uses it yet (default: N)")
                          .excluding("--shared"));
    options.push_back(option("--elect VALUE", value(command.lock.value),
                             "Run while this candidate leads the election NAME, with this value")
                          .excluding("--shared"));
    options.push_back(
        option("--grace DURATION", value(command.grace),
               "How long before the end of the lease the command receives SIGTERM, less than half "
               "of --ttl (default: a quarter of --ttl)"));
    options.push_back(option("--label TEXT", value(command.lock.label),
                             "Shown to others (default: the host, the process and the command)"));
    return with_members(command.lock.access, std::move(options));
}

}  // namespace

Command run_command() {
    const auto self = std::make_shared<RunCommand>();
    return {
        .name = "mortise run",
        .purpose = "Run a command while a lock is held",
        .arguments = {required("CMD", value(self->misplaced, Kind::command),
                               "The command and its arguments")},
        .options = options_of(*self),
        .notes =
            "The command finds its lock in MORTISE_LOCK and the fencing token in "
            "MORTISE_FENCING_TOKEN. MORTISE_LOCKS is the number of locks; MORTISE_LOCK_1, "
            "MORTISE_FENCING_TOKEN_1 and so on have each, in the order of --lock. MORTISE_SLOTS "
            "has the numbers of the permits. If the lease cannot be renewed, its process group "
            "receives "
            "SIGTERM, and SIGKILL when the lease ends. It is killed with this program, and when "
            "the lock is broken. Signals are passed on. Without --peer and --config, "
            "MORTISE_PEER_LIST names the members, or it is the one that listens on 127.0.0.1:7401.",
        .examples = {{"mortise run --lock jobs/nightly --wait 0s --peer 10.0.0.1:7401 -- "
                      "./nightly.sh",
                      "Runs the job unless another machine runs it now."},
                     {"mortise run --lock reports --shared --max-hold 1h --grace 30s --config "
                      "mortise.toml -- make report",
                      "Runs beside other readers, for an hour at most, and asks make to end 30 s "
                      "before."},
                     {"mortise run --lock scanners --permits 1/4 -- ./scan.sh",
                      "Runs on four machines at a time at most."},
                     {"mortise run --lock scheduler --elect 10.0.0.7:8080 -- ./scheduler.sh",
                      "Runs the scheduler where it leads, and tells others its address."}},
        .exit_codes = exits(
            {64, 65, 66, 77, 78},
            {{0, "the command ended with 0; other codes of the command are passed on as well"},
             {69, "no member answers, or there is no majority; the command did not run"},
             {75, "others keep the lock for longer than --wait; the command did not run"},
             {76, "the lock was lost, or about to be, and the command was ended"},
             {126, "the command cannot be executed"},
             {127, "the command was not found"},
             {128, "and more: the signal that ended the command, plus 128"}}),
        .run = [self] { return run(*self); },
        .words = &self->command};
}

}  // namespace mortise::cli
