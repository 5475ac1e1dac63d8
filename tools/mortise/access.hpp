// How the commands that query a cluster from outside reach it.
#pragma once

#include <chrono>
#include <filesystem>
#include <optional>
#include <stop_token>
#include <string>
#include <string_view>
#include <system_error>
#include <vector>

#include "tools/mortise/command.hpp"
#include <mortise/config.hpp>
#include <mortise/lock_error.hpp>
#include <mortise/remote.hpp>

namespace mortise::cli {

// How to reach a cluster, and the form of the output.
struct Access {
    std::vector<std::string> peers{};
    std::optional<std::filesystem::path> config{};
    TlsConfig tls{};  // empty: those of the configuration or of the environment
    std::string timeout = "5s";
    bool json = false;
};

// What every command that asks a cluster has: options, notes and exit codes.
void add_access(Command& command, Access& access);
// A command's own options, and those that name the members.
[[nodiscard]] std::vector<Option> with_members(Access& access, std::vector<Option> own);
// For a name; `what` is how the help calls it.
[[nodiscard]] Option escaped_flag(bool& escaped, const std::string& what);
[[nodiscard]] Option local_flag(bool& local);

[[nodiscard]] Remote remote_of(const Access& access);
// The configuration of a client node. `ttl` is that of its session, as typed; not set: that of
// --config, or the default. `cluster` is empty if neither --config, a certificate nor
// MORTISE_CLUSTER names it: then cluster_of_members() does.
[[nodiscard]] Config client_config_of(const Access& access, const std::optional<std::string>& ttl);
// The name that the first member to answer has for its cluster. Asks until then; throws Failure if
// no member answers. After a stop it returns any name.
[[nodiscard]] std::string cluster_of_members(const Config& config,
                                             std::chrono::steady_clock::time_point until,
                                             const std::stop_token& cancel);
// Throws Failure, which names the option, if that is not a duration.
[[nodiscard]] Duration duration_of(const char* option, const std::string& text);
// The same for one that must be longer than zero.
[[nodiscard]] Duration positive_duration_of(const char* option, const std::string& text);
[[noreturn]] void nobody_answered(std::string_view reason);
// Of those that did not answer, in one line: what all have in common is said once.
[[nodiscard]] std::string reasons_of(const std::vector<MemberReport>& reports);

// Returns the answer of the first member that has one.
template <class Ask>
auto answer_of(const Access& access, Ask ask) {
    auto remote = remote_of(access);
    try {
        return ask(remote);
    } catch (const LockError&) {
        throw;
    } catch (const std::system_error& error) {
        nobody_answered(line_of(error));
    }
}

}  // namespace mortise::cli
