// A node of `mortise dev`, in a process of its own.
#include <chrono>
#include <string>
#include <thread>

#include "tools/mortise/member.hpp"
#include "tools/mortise/node_console.hpp"

namespace mortise::cli {

namespace {

constexpr std::chrono::milliseconds status_period{100};

OpenConsole open(const Json& order, Leash& leash, Node& node) try {
    const std::string listen = order.at("console");
    ConsoleChoice choice;
    if (!listen.empty()) choice.listen = listen;
    return open_console(choice, {}, node);
} catch (const std::exception& error) {
    tell_problem(leash, error);
    throw;
}

}  // namespace

// Its data goes with the cluster, so the parent simply ends it.
ExitCode run_dev_member(Leash& leash) {
    auto node = open_member(leash);
    const auto console = open(leash.next(), leash, node);
    if (!console.url.empty()) leash.say({{"console", console.url}});
    while (true) {
        leash.say(short_status(node));
        std::this_thread::sleep_for(status_period);
    }
}

}  // namespace mortise::cli
