// The command dump: shows the data directory of a node that is not running.
#include <chrono>
#include <cstdint>
#include <filesystem>
#include <iostream>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "tools/mortise/commands.hpp"
#include "tools/mortise/dump_form.hpp"
#include "tools/mortise/terminal.hpp"
#include <mortise/dump.hpp>

namespace mortise::cli {

namespace {

// Reads the directory of a node that is not running, and changes nothing.
struct DumpCommand {
    std::filesystem::path directory;
    bool entries = false;             // show the entries of the log, in words
    std::optional<std::uint64_t> at;  // show the locks as of this log index
    bool json = false;
};

// Damage is shown with the rest, and determines the exit code.
ExitCode run(const DumpCommand& command) {
    DumpOptions options;
    options.entries = command.entries;
    options.at = command.at;
    const auto dump = dump_directory(command.directory, options);
    if (command.json)
        print(json_of(dump));
    else
        std::cout << text_of(dump, command.entries, is_terminal());
    if (dump.damage.empty()) return ExitCode::ok;
    std::cout.flush();
    const auto more = dump.damage.size() - 1;
    throw Failure{ExitCode::data_error,
                  dump.damage.front() +
                      (more == 0 ? std::string{} : "; and " + std::to_string(more) + " more")};
}

}  // namespace

Command dump_command() {
    const auto self = std::make_shared<DumpCommand>();
    return {.name = "mortise dump",
            .purpose = "Show the directory of a node that is not running",
            .arguments = {required("DIRECTORY", value(self->directory, Kind::directory),
                                   "Its data_dir, or damaged-1 and so on in it")},
            .options = {flag("--log", self->entries, "Also show the entries of the log, in words"),
                        option("--at INDEX", number(self->at, 0, UINT64_MAX),
                               "The locks as they were after this log index"),
                        flag("--json", self->json, "Print JSON")},
            .notes = "It changes nothing there. See docs/backup.md.",
            .examples = {{"mortise dump /var/lib/mortise",
                          "Shows what that directory of a stopped node has."},
                         {"mortise dump /var/lib/mortise --log --json",
                          "Prints it with the entries of its log, as JSON."}},
            .exit_codes =
                exits({0, 64, 74, 77, 141},
                      {{65, "the directory is damaged or of a later version; the rest was shown"},
                       {75, "a node that is running uses the directory"}}),
            .run = [self] { return run(*self); }};
}

}  // namespace mortise::cli
