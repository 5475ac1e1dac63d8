// The words after `mortise` are accepted or refused, always in one line and with a code of
// docs/cli.md. The parser is that of the program; its commands only examine their arguments here.
#include "tools/mortise/command_line.hpp"

#include <iostream>
#include <string>
#include <vector>

#include "tests/fuzz/fuzz.hpp"
#include "tools/mortise/commands.hpp"
#include "tools/mortise/manual/complete.hpp"
#include "tools/mortise/manual/completion_scripts.hpp"
#include "tools/mortise/manual/man_page.hpp"
#include <mortise/certificates.hpp>
#include <mortise/duration.hpp>
#include <mortise/observe.hpp>

namespace mortise::cli {
namespace {

constexpr int days_max = 36'500;

void look_at(const Access& access) {
    static_cast<void>(Duration::parse(access.timeout));
    FUZZ_CHECK(access.peers.empty() || !access.config);
}

void look_at_days(int days) {
    FUZZ_CHECK(days >= 1 && days <= days_max);
}

ExitCode look_at(const auto& command) {
    look_at(command.access);
    return ExitCode::ok;
}

}  // namespace

ExitCode run(const NodeCommand& /*command*/) {
    return ExitCode::ok;
}
ExitCode run(const StatusCommand& command) {
    return look_at(command);
}
ExitCode run(const MembersCommand& command) {
    return look_at(command);
}
ExitCode run(const ChangeCommand& command) {
    return look_at(command);
}
ExitCode run(const LocksCommand& command) {
    return look_at(command);
}
ExitCode run(const InspectCommand& command) {
    return look_at(command);
}
ExitCode run(const BreakCommand& command) {
    return look_at(command);
}
ExitCode run(const RunCommand& command) {
    FUZZ_CHECK(command.command.empty() || !command.command.front().empty() ||
               !command.command.empty());
    return look_at(command);
}
ExitCode run(const WatchCommand& command) {
    static_cast<void>(Position::from_string(command.from));
    return look_at(command);
}
ExitCode run(const SessionsCommand& command) {
    return look_at(command);
}
ExitCode run(const DumpCommand& command) {
    FUZZ_CHECK(!command.directory.empty());
    return ExitCode::ok;
}
ExitCode run(const CompletionCommand& command) {
    FUZZ_CHECK(!completion_script(command.shell).empty());
    return ExitCode::ok;
}
ExitCode run(const CompleteCommand& command, const CommandDoc& program) {
    for (const auto& [word, text] : complete(program, command.words).words)
        FUZZ_CHECK(!word.empty());
    return ExitCode::ok;
}
ExitCode run(const ManCommand& command, const CommandDoc& program) {
    FUZZ_CHECK(!command.directory || command.command.empty());
    FUZZ_CHECK(!man_page(program, "1").empty());
    return ExitCode::ok;
}
ExitCode run(const CertInitCommand& command) {
    look_at_days(command.days);
    return ExitCode::ok;
}
ExitCode run(const CertIssueCommand& command) {
    look_at_days(command.days);
    FUZZ_CHECK(!command.node || !command.user);
    for (const auto& role : command.roles)
        static_cast<void>(parse_access_role(role));
    for (const auto& rule : command.rules)
        static_cast<void>(parse_access_right(rule.substr(0, rule.find(':'))));
    return ExitCode::ok;
}
ExitCode run(const CertShowCommand& command) {
    FUZZ_CHECK(!command.files.empty());
    return ExitCode::ok;
}
ExitCode run(const DemoCommand& /*command*/) {
    return ExitCode::ok;
}
ExitCode run(const BenchCommand& command) {
    FUZZ_CHECK(command.seconds >= 1 && command.clients >= 1);
    return ExitCode::ok;
}
ExitCode run(const MemberCommand& /*command*/) {
    return ExitCode::ok;
}

}  // namespace mortise::cli

namespace {

// Collects the output of the program instead of printing it.
struct Said : std::streambuf {
    std::string text;
    int overflow(int c) override {
        text.push_back(static_cast<char>(c));
        return c;
    }
};

}  // namespace

// Each line of the input is a word.
extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
    std::vector<std::string> words{"mortise"};
    std::string word;
    for (const auto byte : std::basic_string_view<std::uint8_t>{data, size}) {
        if (byte == '\n')
            words.push_back(std::exchange(word, {}));
        else if (byte != 0)
            word.push_back(static_cast<char>(byte));
    }
    words.push_back(word);
    std::vector<char*> arguments;
    for (auto& each : words)
        arguments.push_back(each.data());
    arguments.push_back(nullptr);

    Said out;
    Said err;
    auto* const cout = std::cout.rdbuf(&out);
    auto* const cerr = std::cerr.rdbuf(&err);
    const int code =
        mortise::cli::run_command_line(static_cast<int>(words.size()), arguments.data());
    std::cout.rdbuf(cout);
    std::cerr.rdbuf(cerr);
    FUZZ_CHECK(code == static_cast<int>(mortise::cli::ExitCode::ok) ||
               code == static_cast<int>(mortise::cli::ExitCode::usage));
    // At most one complete line.
    FUZZ_CHECK(err.text.empty() == (code == 0));
    FUZZ_CHECK(err.text.empty() || err.text.find('\n') == err.text.size() - 1);
    return 0;
}
