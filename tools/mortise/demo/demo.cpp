// The command demo, and what it prints in the end.
#include <cstdint>
#include <iostream>
#include <memory>

#include "tools/mortise/commands.hpp"
#include "tools/mortise/demo/stage.hpp"

namespace mortise::cli {

namespace {

struct DemoCommand {
    DemoOptions options;
    bool power_cut = false;
};

void print(const Verdict& verdict) {
    std::cout << "\nfrom the workers' fenced log: grants " << verdict.grants << ", writes accepted "
              << verdict.accepted;
    if (verdict.power_cuts > 0)
        std::cout << ", machines that lost power " << verdict.power_cuts << ", eras "
                  << verdict.eras << ", grants after that " << verdict.grants_after << '\n';
    else
        std::cout << ", late writes refused " << verdict.refused << ", holds lost "
                  << verdict.losses << ", nodes killed " << verdict.kills << ", cut off "
                  << verdict.partitions << '\n';
    for (const auto& violation : verdict.violations)
        std::cout << "BROKEN: " << violation << '\n';
    if (verdict.holds())
        std::cout << "verdict: no two held a lock at once, and its tokens only rose\n";
    else
        std::cout << "verdict: a promise was broken\n";
}

ExitCode run(const DemoCommand& command) {
    const auto verdict =
        command.power_cut ? play_power_cut(command.options) : play_faults(command.options);
    print(verdict);
    return verdict.holds() ? ExitCode::ok : ExitCode::failed;
}

}  // namespace

Command demo_command() {
    const auto self = std::make_shared<DemoCommand>();
    return {.name = "mortise demo",
            .purpose = "Three nodes on this machine, a kill and a partition, a verdict",
            .options = {option("--seed NUMBER", number(self->options.seed, 0, UINT64_MAX),
                               "The seed of the workers' choices"),
                        option("--keep-log FILE", value(self->options.keep_log, Kind::file),
                               "Keep the workers' fenced log in this file"),
                        flag("--power-cut", self->power_cut,
                             "Instead, all nodes lose their power; they acknowledge from memory")},
            .notes =
                "It takes about half a minute and leaves nothing behind. For --power-cut the "
                "system has to allow a mount namespace.",
            .examples = {{"mortise demo", "Shows a kill and a partition, and gives a verdict."},
                         {"mortise demo --seed 7 --keep-log demo.jsonl",
                          "Repeats the choices of seed 7, and keeps what the workers wrote."},
                         {"mortise demo --power-cut",
                          "Shows what a loss of power of all machines does."}},
            .exit_codes = exits({64, 74, 77, 130},
                                {{0, "every promise held"},
                                 {1, "a promise was broken, or an expected event did not happen"}}),
            .run = [self] { return run(*self); }};
}

}  // namespace mortise::cli
