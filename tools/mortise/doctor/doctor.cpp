// The command doctor: examines the configuration of a node and everything that it depends on.
#include <algorithm>
#include <chrono>
#include <filesystem>
#include <iostream>
#include <memory>
#include <optional>
#include <string>

#include "tools/mortise/commands.hpp"
#include "tools/mortise/doctor/checks.hpp"
#include "tools/mortise/doctor/finding.hpp"
#include <mortise/config.hpp>
#include <mortise/errc.hpp>

namespace mortise::cli {

namespace {

struct DoctorCommand {
    std::optional<std::filesystem::path> config;  // not set: the environment
    bool json = false;
};

using std::chrono::milliseconds;

constexpr milliseconds peer_patience{2000};
constexpr milliseconds disk_time{1000};

struct ReadConfig {
    std::optional<Config> config;
    Finding finding;
};

ReadConfig read(const DoctorCommand& command) {
    const auto from = command.config ? command.config->string() : std::string{"the environment"};
    try {
        auto config = command.config ? Config::from_file_and_environment(*command.config)
                                     : Config::from_environment();
        return {std::move(config), fine("configuration", from + " is valid")};
    } catch (const ConfigError& error) {
        const bool is_readable = error.code() == Errc::invalid_argument;
        auto advice = is_readable ? std::string{"correct it (docs/configuration.md lists the keys)"}
                                  : std::string{"name a file that this user may read"};
        if (!command.config) advice += ", or name a file with --config";
        return {std::nullopt, problem("configuration", line_of(error), advice)};
    }
}

// The checks from the machine outwards. The disk is measured only while no node uses it. A client
// has no directory, no log and no port.
Findings examine(const Config& config) {
    Findings findings;
    const auto now = std::chrono::floor<std::chrono::seconds>(std::chrono::system_clock::now());
    append(findings, check_addresses(config));
    append(findings, check_certificates(config, now));
    if (config.role == Role::client) {
        append(findings, check_clock());
        append(findings, judge_members(config, {}, check_peers(config, peer_patience)));
        return findings;
    }
    auto directory = check_directory(config);
    const bool is_usable = count(directory.findings, Severity::error) == 0;
    append(findings, std::move(directory.findings));
    if (is_usable && !directory.own.is_running) append(findings, check_disk(config, disk_time));
    append(findings, check_limits(config));
    append(findings, check_clock());
    append(findings, check_port(config, directory.own.is_running));
    append(findings, judge_members(config, directory.own, check_peers(config, peer_patience)));
    return findings;
}

std::string number_of(std::size_t count, const std::string& what) {
    return std::to_string(count) + ' ' + what + (count == 1 ? "" : "s");
}

void print_lines(const Findings& findings) {
    for (const auto& finding : findings)
        std::cout << line_of(finding) << '\n';
    std::cout << number_of(count(findings, Severity::error), "error") << ", "
              << number_of(count(findings, Severity::warning), "warning") << '\n';
}

ExitCode run(const DoctorCommand& command) {
    const auto read_config = read(command);
    Findings findings{read_config.finding};
    if (read_config.config) append(findings, examine(*read_config.config));
    if (command.json)
        print(json_of(findings));
    else
        print_lines(findings);
    return count(findings, Severity::error) == 0 ? ExitCode::ok : ExitCode::failed;
}

}  // namespace

Command doctor_command() {
    const auto self = std::make_shared<DoctorCommand>();
    return {
        .name = "mortise doctor",
        .purpose = "Say what prevents a node from working, and what to do",
        .options =
            {option(
                 "--config FILE", value(self->config, Kind::file),
                 "The configuration, TOML; a variable MORTISE_... that is set wins over its key"),
             flag("--json", self->json, "Print JSON")},
        .notes = "Run it as the user of the node, and on its machine. It changes nothing.",
        .examples = {{"mortise doctor --config /etc/mortise/mortise.toml",
                      "Examines that configuration and everything that it depends on."},
                     {"mortise doctor --json --config mortise.toml",
                      "Prints what it finds as JSON."}},
        .exit_codes = exits({0, 64, 74, 141}, {{1, "it found an error"}}),
        .run = [self] { return run(*self); }};
}

}  // namespace mortise::cli
