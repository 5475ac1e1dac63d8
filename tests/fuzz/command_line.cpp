// The words after `mortise` are accepted or refused, always in one line and with a code of
// docs/cli.md. Parser and commands are those of the program, which are not carried out here.
#include "tools/mortise/command_line.hpp"

#include <iostream>
#include <string>
#include <vector>

#include "tests/fuzz/fuzz.hpp"
#include "tools/mortise/commands.hpp"
#include "tools/mortise/manual/complete.hpp"
#include "tools/mortise/manual/man_page.hpp"

namespace {

using namespace mortise::cli;

// What the commands complete and man do, as far as they ask no cluster and write no file.
void describe(const Command& program, const Command& command) {
    FUZZ_CHECK(command.run != nullptr);
    FUZZ_CHECK(!man_page(command, "1").empty());
    if (command.words == nullptr) return;
    for (const auto& [word, text] : complete(program, *command.words).words)
        FUZZ_CHECK(!word.empty());
}

// The line of the refusal; empty: the words were accepted.
std::string refusal_of(int argc, char** argv) {
    const auto all = program();
    try {
        if (const auto* command = read_command_line(all, argc, argv)) describe(all, *command);
        return {};
    } catch (const std::exception& error) {
        FUZZ_CHECK(exit_code_of(error) == ExitCode::usage);
        FUZZ_CHECK(!line_of(error).empty());
        return line_of(error);
    }
}

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
    auto* const cout = std::cout.rdbuf(&out);
    const auto refusal = refusal_of(static_cast<int>(words.size()), arguments.data());
    std::cout.rdbuf(cout);
    FUZZ_CHECK(refusal.find('\n') == std::string::npos);
    FUZZ_CHECK(refusal.empty() || out.text.empty());
    return 0;
}
