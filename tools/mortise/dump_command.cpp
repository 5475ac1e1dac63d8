// The command dump: shows the data directory of a node that is not running.
#include <chrono>
#include <cstdint>
#include <iostream>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "tools/mortise/commands.hpp"
#include "tools/mortise/dump_form.hpp"
#include "tools/mortise/terminal.hpp"
#include <mortise/dump.hpp>

namespace mortise::cli {

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

}  // namespace mortise::cli
