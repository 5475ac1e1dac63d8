// The command lock: a lock that is held until this program is asked to end.
#include <chrono>
#include <future>
#include <iostream>
#include <memory>
#include <stop_token>
#include <string>
#include <thread>
#include <utility>
#include <vector>

#include "tools/mortise/commands.hpp"
#include "tools/mortise/run/client_lock.hpp"
#include "tools/mortise/say.hpp"
#include "tools/mortise/signals.hpp"
#include <mortise/enums.hpp>
#include <mortise/escaped.hpp>

namespace mortise::cli {

namespace {

using namespace std::chrono_literals;

constexpr auto glance = 50ms;

// Empty: it was asked to end before the grant.
Grant acquire(ClientLock& lock, NodeSignals& signals) {
    std::packaged_task<Grant(std::stop_token)> task{
        [&](const std::stop_token& cancel) { return lock.acquire(cancel); }};
    auto granted = task.get_future();
    std::jthread acquiring{[&](const std::stop_token& stop) { task(stop); }};
    while (granted.wait_for(0s) != std::future_status::ready)
        if (signals.wait_for(glance) == NodeSignals::Asked::end) return {};
    return granted.get();
}

// "orders/1", "orders/1 or another of 3 locks"
std::string one_of(const std::vector<std::string>& names) {
    auto text = escaped_name(names.front());
    if (names.size() == 1) return text;
    return text + " or another of " + std::to_string(names.size()) + " locks";
}

ExitCode hold_until_end(const Grant& grant, const std::vector<std::string>& names,
                        NodeSignals& signals) {
    const auto tokens = grant.tokens();
    for (std::size_t i = 0; i < names.size(); ++i)
        std::cout << escaped_name(names[i]) << " is held, token " << to_string(tokens[i]) << '\n';
    std::cout << std::flush;
    const auto lost = grant.lost();
    while (!lost.stop_requested())
        if (signals.wait_for(glance) == NodeSignals::Asked::end) return ExitCode::ok;
    say(one_of(names) + " is lost: " + std::string{to_string(grant.why_lost())});
    return ExitCode::lost;
}

ExitCode run(const LockWords& words) {
    ClientLock lock{words, "NAME", default_label("lock")};
    NodeSignals signals;  // before the node has threads
    auto code = ExitCode::interrupted;
    {
        const auto grant = acquire(lock, signals);
        if (grant) code = hold_until_end(grant, lock.names(), signals);
    }
    lock.close();
    return code;
}

std::vector<Option> options_of(LockWords& words) {
    std::vector<Option> options{escaped_flag(words.escaped, "The name")};
    for (auto& each : lock_options(words, "Lose the lock"))
        options.push_back(std::move(each));
    options.push_back(option("--label TEXT", value(words.label),
                             "Shown to others (default: the host and the process)"));
    return with_members(words.access, std::move(options));
}

}  // namespace

Command lock_command() {
    const auto self = std::make_shared<LockWords>();
    return {
        .name = "mortise lock",
        .purpose = "Hold a lock until SIGINT or SIGTERM",
        .arguments = {required("NAME", value(self->locks, Kind::lock),
                               "The names of the locks: all are acquired together")},
        .options = options_of(*self),
        .notes =
            "It prints a line for each lock when it has them. A job is safer with `mortise run`, "
            "which ends the job when the lock is lost. Without --peer and --config, "
            "MORTISE_PEER_LIST names the members, or it is the one that listens on 127.0.0.1:7401.",
        .examples = {{"mortise lock orders/42", "Keeps others away from orders/42 until ^C."},
                     {"mortise lock orders/42 customers/7", "Holds both, or neither."},
                     {"mortise lock --shared --wait 0s reports",
                      "Holds it beside other readers, or ends at once with 75."}},
        .exit_codes =
            exits({64, 65, 66, 77, 78}, {{0, "it was asked to end, and has given the lock back"},
                                         {69, "no member answers, or there is no majority"},
                                         {75, "others keep the lock for longer than --wait"},
                                         {76, "the lock was lost"},
                                         {130, "it was asked to end before it had the lock"}}),
        .run = [self] { return run(*self); }};
}

}  // namespace mortise::cli
