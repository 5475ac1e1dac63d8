// The command node: a peer without an application.
#include <algorithm>
#include <chrono>
#include <csignal>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <memory>
#include <optional>
#include <set>
#include <sstream>
#include <string>
#include <system_error>
#include <tuple>
#include <utility>
#include <vector>

#include <unistd.h>

#include "tools/mortise/commands.hpp"
#include "tools/mortise/exit_code.hpp"
#include "tools/mortise/node_console.hpp"
#include "tools/mortise/node_door.hpp"
#include "tools/mortise/port_owner.hpp"
#include "tools/mortise/say.hpp"
#include "tools/mortise/service_manager.hpp"
#include "tools/mortise/signals.hpp"
#include <mortise/config.hpp>
#include <mortise/escaped.hpp>
#include <mortise/node.hpp>

namespace mortise::cli {

namespace {

struct NodeCommand {
    std::optional<std::filesystem::path> config;  // not set: the environment
    ConsoleChoice console;
    DoorChoice door;
};

constexpr auto glance = std::chrono::milliseconds{200};
constexpr auto patience = std::chrono::seconds{2};

// The node is ready, or has stopped for good.
bool is_settled(Node& node) {
    std::error_code ec;
    return node.wait_ready(std::chrono::steady_clock::now(), ec) || ec;
}

// Behind a proxy this is intended; otherwise it is a mistake that is hard to find.
void warn_about_two_addresses(const Config& config) {
    for (const auto& peer : config.peers) {
        if (peer.id == config.own_id() && peer.address != config.listen)
            say("listening on " + escaped(config.listen) + ", peers are told " +
                escaped(peer.address));
    }
}

// Reports on stderr why the node is not ready; each reason once until it was ready, also if two of
// them alternate.
class Waiting {
public:
    void look(const Status& status) {
        if (status.ready) {
            since_ = Clock::now();
            told_.clear();
        } else if (Clock::now() - since_ >= patience) {
            if (told_.size() >= reasons_max) told_.clear();
            if (told_.insert(status.why_not_ready).second)
                say("not ready: " + escaped(status.why_not_ready));
        }
    }

private:
    using Clock = std::chrono::steady_clock;

    static constexpr std::size_t reasons_max = 100;

    Clock::time_point since_ = Clock::now();
    std::set<std::string> told_;
};

// Without a file and without variables, the file was probably forgotten, so the error mentions
// --config.
Config config_of(const NodeCommand& command) {
    if (command.config) return Config::from_file_and_environment(*command.config);
    try {
        return Config::from_environment();
    } catch (const ConfigError& error) {
        const bool is_missing = std::getenv("MORTISE_DATA_DIR") == nullptr;
        if (error.place().key != "MORTISE_DATA_DIR" || !is_missing) throw;
        throw Failure{ExitCode::config, line_of(error) + "; or give --config FILE"};
    }
}

// The files that a SIGHUP reads again. A running node can only change its certificates; for the
// rest of the configuration this reports whether the next start would accept it.
class Files {
public:
    // A pipe can be read only once.
    explicit Files(std::optional<std::filesystem::path> config)
        : config_{config && std::filesystem::is_regular_file(*config) ? std::move(config)
                                                                      : std::nullopt},
          text_{text()} {}

    void read_again(Node& node, const Config& config) const {
        const bool has_tls = config.tls.is_set();
        if (has_tls) take_certificates(node);
        const auto problem = problem_of_config();
        if (!problem.empty())
            tell("the configuration is invalid, and this node keeps the former one: " + problem);
        else if (config_ && text() != text_)
            tell("the configuration has changed: it takes effect at the next start");
        else if (!has_tls)
            tell("there is nothing to read again");
    }

private:
    static void tell(const std::string& line) { say("SIGHUP: " + line, LogLevel::info); }
    static void take_certificates(Node& node) {
        try {
            node.reload_tls();
            tell("read the certificates again");
        } catch (const std::system_error& error) {
            tell("keeps its former certificates: " + line_of(error));
        }
    }
    [[nodiscard]] std::string problem_of_config() const {
        if (!config_) return {};
        try {
            std::ignore = Config::from_file_and_environment(*config_);
        } catch (const ConfigError& error) {
            return line_of(error);
        }
        return {};
    }
    [[nodiscard]] std::string text() const {
        if (!config_) return {};
        std::ostringstream text;
        text << std::ifstream{*config_, std::ios::binary}.rdbuf();
        return text.str();
    }

    const std::optional<std::filesystem::path> config_;
    const std::string text_;
};

void announce(const Status& status) {
    auto line =
        "mortise: node " + std::to_string(status.id) + " of cluster " + escaped(status.cluster);
    line += " is ready";
    if (!status.address.empty()) line += ", listening on " + status.address;
    if (!write_at_once(STDOUT_FILENO, line + "\n")) say("cannot write to standard output");
}

// It is allowed, for a program that is told its configuration by others; but nothing uses it.
void warn_about_a_client(const Config& config) {
    if (config.role == Role::client)
        say("role = \"client\": this node only holds locks for a program, and no program uses it; "
            "mortise run executes a command with a lock");
}

std::vector<Option> console_options(ConsoleChoice& choice) {
    return {option("--console ADDRESS:PORT", value(choice.listen),
                   "Serve a web page about the node, ADDRESS:PORT; without an address on "
                   "127.0.0.1:7480")
                .or_alone("127.0.0.1:7480"),
            flag("--console-remote", choice.allow_remote,
                 "Allow an address that other machines reach: there is no password")
                .needing("--console"),
            flag("--console-break", choice.allow_break,
                 "Let the console break locks also there, and if the node has TLS")
                .needing("--console"),
            option("--console-host HOST", value(choice.hosts),
                   "A further name by which browsers reach it; may be repeated")
                .needing("--console")};
}

std::vector<Option> door_options(DoorChoice& choice) {
    return {option("--http ADDRESS:PORT", value(choice.listen),
                   "Serve locks with HTTP and JSON, for programs of every language; without an "
                   "address on 127.0.0.1:7481")
                .or_alone("127.0.0.1:7481"),
            flag("--http-remote", choice.allow_remote,
                 "Allow an address that other machines reach, without TLS")
                .needing("--http"),
            option("--http-tokens FILE", value(choice.tokens, Kind::file),
                   "A file with a token for each user, and what it may do")
                .needing("--http"),
            option("--http-host HOST", value(choice.hosts),
                   "A further name by which clients reach it; may be repeated")
                .needing("--http")};
}

void refuse_wrong_door(const DoorChoice& choice, const Config& config) {
    if (choice.listen && !has_door())
        throw Failure{ExitCode::usage,
                      "--http: this program was built without it, as the static one is; "
                      "the program of the Debian package has it"};
    check_door(choice, config);
}

// Mistakes are refused before anything of the node is opened: it might form a cluster.
void refuse_wrong_console(const ConsoleChoice& choice) {
    if (choice.listen && !has_console())
        throw Failure{
            ExitCode::usage,
            "--console: this program was built without the console, as the static one is; "
            "the program of the Debian package has it"};
    check_console(choice);
}

ExitCode run(const NodeCommand& command) {
    // A configuration that is not valid may be reported in the format that it asks for only if that
    // is known from elsewhere.
    if (const char* const format = std::getenv("MORTISE_LOG_FORMAT");
        format != nullptr && format == to_string(LogFormat::json))
        say_in_json(0);
    refuse_wrong_console(command.console);
    // It has no children, but as the first process of a container it gets those of others: with
    // this the kernel reaps them.
    std::signal(SIGCHLD, SIG_IGN);
    auto config = config_of(command);  // it may wait for a pipe, and be interrupted
    refuse_wrong_door(command.door, config);
    config.holders_elsewhere = command.door.listen.has_value();
    if (config.log.format == LogFormat::json) say_in_json(config.own_id());
    const Files files{command.config};
    NodeSignals signals;
    Node node = open_node(config);
    // stdout has one line, when the node is ready.
    auto console = open_console(command.console, config, node);
    if (!console.url.empty()) say("console at " + console.url, LogLevel::info);
    auto door = open_door(command.door, config, node);
    if (!door.url.empty()) say("http at " + door.url, LogLevel::info);
    ServiceManager manager;
    manager.started();
    warn_about_two_addresses(config);
    warn_about_a_client(config);
    Waiting waiting;
    bool announced = false;
    for (auto asked = signals.wait_for(glance); asked != NodeSignals::Asked::end;
         asked = signals.wait_for(glance)) {
        if (asked == NodeSignals::Asked::reload) {
            manager.reloading();
            files.read_again(node, config);
            manager.reloaded();
        }
        const auto status = node.status();
        if (status.stopped)
            throw Failure{ExitCode::io_error, "the node stopped: " + status.why_stopped};
        waiting.look(status);
        manager.describe(status.ready ? "ready" : "not ready: " + status.why_not_ready);
        if (!announced && status.ready && is_settled(node)) {
            announce(status);
            announced = true;
        }
    }
    manager.stopping();
    door = {};     // waits until no client relies on a hold
    node.close();  // ends what the console asks of it
    console = {};
    return ExitCode::ok;
}

}  // namespace

Command node_command() {
    const auto self = std::make_shared<NodeCommand>();
    Command command{
        .name = "mortise node",
        .purpose = "Run a peer without an application, until SIGINT or SIGTERM",
        .options = {option(
            "--config FILE", value(self->config, Kind::file),
            "The configuration, TOML; a variable MORTISE_... that is set wins over its key")},
        .notes = "docs/configuration.md lists the keys, their defaults and ranges.",
        .examples = {{"mortise node --config /etc/mortise/mortise.toml",
                      "Runs the node of that file."},
                     {"MORTISE_DATA_DIR=/var/lib/mortise mortise node",
                      "Runs a cluster of one node that is configured by the environment."}},
        .exit_codes = exits(
            {64, 66, 70, 78},
            {{0, "it was asked to end"},
             {65,
              "the data directory is damaged, or belongs to a later version or another node; or a "
              "certificate is damaged, of another authority or of another node"},
             {74, "the disk or the directory failed, or the node stopped by itself"},
             {75,
              "the port or the data directory is in use by another process, or this machine does "
              "not have the address yet"},
             {77,
              "others than its owner can read a key, or this user may not write the data "
              "directory"}}),
        .run = [self] { return run(*self); }};
    // A program without one of them knows its options, to say so, and does not show them.
    const auto add = [&](bool is_shown, std::vector<Option> options) {
        auto& shown = is_shown ? command.options : command.hidden_options;
        std::ranges::move(options, std::back_inserter(shown));
    };
    add(has_console(), console_options(self->console));
    add(has_door(), door_options(self->door));
    return command;
}

}  // namespace mortise::cli
