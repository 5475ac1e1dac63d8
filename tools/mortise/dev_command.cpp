// The command dev: a cluster of three on this machine, for trying things out.
#include <chrono>
#include <cstdio>
#include <filesystem>
#include <iostream>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <string_view>

#include <errno.h>

#include "tools/mortise/commands.hpp"
#include "tools/mortise/member_cluster.hpp"
#include "tools/mortise/node_console.hpp"

namespace mortise::cli {

namespace {

using namespace std::chrono_literals;
using Clock = std::chrono::steady_clock;

constexpr std::uint64_t first_port_default = 7401;
// The console has the port 7480 beside the default ports.
constexpr std::uint64_t console_after_first = 79;
// A node that was killed stays away for so long that its user sees what the others do.
constexpr auto away = 3s;
constexpr auto patience = 30s;

struct DevCommand {
    std::uint64_t first_port = first_port_default;  // 0: any ports
    bool no_console = false;
};

// What a user pastes must find this program from any folder.
std::string this_program() {
    const std::string_view typed = program_invocation_name;
    if (typed.find('/') == std::string_view::npos) return std::string{typed};
    return std::filesystem::canonical("/proc/self/exe").string();
}

class Dev {
public:
    explicit Dev(const DevCommand& command)
        : cluster_{{.name = "dev", .first_port = static_cast<std::uint16_t>(command.first_port)},
                   [this](std::size_t, const Json& line) { take(line); }},
          console_{console_of(command)} {
        cluster_.set_on_end([this](std::size_t node) { on_end(node); });
    }

    // Until SIGINT or SIGTERM.
    void run() try {
        std::cout << "three nodes of one cluster, each a process of its own; all that they write "
                     "is in\n"
                  << cluster_.directory().string() << ", which goes when ^C ends them\n\n";
        for (std::size_t node = 0; node < cluster_.size(); ++node)
            start(node);
        if (!cluster_.pump_until([this] { return is_ready(); }, patience))
            throw Failure{ExitCode::unavailable,
                          "the nodes are not ready after 30 s: " + cluster_.state(0).why_not_ready};
        introduce();
        cluster_.set_idle([this] { look(); });
        while (true)
            cluster_.pump_until([] { return false; }, 1h);
    } catch (const Failure& failure) {
        if (failure.code() != ExitCode::interrupted) throw;
    }

private:
    static std::string console_of(const DevCommand& command) {
        if (command.no_console || !has_console()) return {};
        const auto port = command.first_port == 0 ? 0 : command.first_port + console_after_first;
        return "127.0.0.1:" + std::to_string(port);
    }
    static std::string name(std::size_t node) { return "node " + std::to_string(node + 1); }

    // The first node serves the console.
    void start(std::size_t node) {
        cluster_.start(node);
        cluster_.say(node, {{"console", node == 0 ? console_ : std::string{}}});
    }
    void take(const Json& line) { url_ = line.value("console", std::string{}); }
    [[nodiscard]] bool is_ready() const {
        return cluster_.all_ready() && cluster_.leader() && (console_.empty() || !url_.empty());
    }

    void introduce() {
        std::string list;
        for (std::size_t node = 0; node < cluster_.size(); ++node) {
            const auto& address = cluster_.address(node);
            std::cout << "  " << name(node) << "   " << address << "   process "
                      << cluster_.pid(node) << '\n';
            list += (node == 0 ? "" : ",") + std::to_string(node + 1) + "=" + address;
        }
        if (!url_.empty()) std::cout << "  console  " << url_ << '\n';
        const auto program = this_program();
        leader_ = cluster_.leader();
        std::cout << "\nready after " << seconds_since_start() << " s. In another terminal:\n\n"
                  << "  export MORTISE_PEER_LIST=\"" << list << "\"\n"
                  << "  " << program
                  << " run --lock orders/42 -- sh -c 'echo token $MORTISE_FENCING_TOKEN'\n"
                  << "  " << program << " lock orders/42\n"
                  << "  " << program << " locks\n\n"
                  << name(*leader_) << " leads. After `kill -9 " << cluster_.pid(*leader_)
                  << "` another one does, and all locks stay.\n"
                  << std::flush;
    }
    [[nodiscard]] std::string seconds_since_start() const {
        char text[32];
        std::snprintf(text, sizeof text, "%.1f",
                      std::chrono::duration<double>{Clock::now() - begin_}.count());
        return text;
    }

    void on_end(std::size_t node) {
        std::cout << name(node) << " has ended; it starts again in 3 s" << std::endl;
        again_at_[node] = Clock::now() + away;
    }
    void look() {
        for (auto it = again_at_.begin(); it != again_at_.end();) {
            if (it->second > Clock::now()) {
                ++it;
                continue;
            }
            start(it->first);
            std::cout << name(it->first) << " starts again: process " << cluster_.pid(it->first)
                      << std::endl;
            it = again_at_.erase(it);
        }
        const auto leader = cluster_.leader();
        if (!leader || leader == leader_) return;
        leader_ = leader;
        std::cout << name(*leader) << " leads" << std::endl;
    }

    MemberCluster cluster_;
    const std::string console_;  // where it listens; empty: there is none
    std::string url_;            // of the console, once it is open
    std::optional<std::size_t> leader_;
    std::map<std::size_t, Clock::time_point> again_at_;  // of the nodes that have ended
    const Clock::time_point begin_ = Clock::now();
};

ExitCode run(const DevCommand& command) {
    Dev{command}.run();
    return ExitCode::ok;
}

}  // namespace

Command dev_command() {
    const auto self = std::make_shared<DevCommand>();
    Command command{
        .name = "mortise dev",
        .purpose = "Run three nodes on this machine to try things out, until SIGINT or SIGTERM",
        .options = {option("--port PORT",
                           number(self->first_port, 0, UINT16_MAX - console_after_first),
                           "The port of the first node; the others have the next two, and the "
                           "console one of its own; 0: any ports")},
        .notes =
            "Not for anything that matters: all three are lost with this machine. The last "
            "lines say what to type in another terminal.",
        .examples = {{"mortise dev", "Begins with nothing, and leaves nothing behind."},
                     {"mortise dev --port 0", "Runs beside another one, on any free ports."}},
        .exit_codes = exits({64, 70, 74}, {{0, "it was asked to end"},
                                           {69, "the nodes did not get ready"},
                                           {75, "a port is in use by another process"}}),
        .run = [self] { return run(*self); }};
    if (has_console())
        command.options.push_back(
            flag("--no-console", self->no_console, "Do not serve the web page"));
    return command;
}

}  // namespace mortise::cli
