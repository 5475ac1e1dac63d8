// The console of the command node. Not every program has it: with_console.cpp and
// without_console.cpp are the two implementations, and a program links one of them.
#pragma once

#include <memory>
#include <optional>
#include <string>
#include <vector>

#include <mortise/config.hpp>
#include <mortise/node.hpp>

namespace mortise::cli {

struct ConsoleChoice {
    std::optional<std::string> listen;  // where it listens; not set: there is none
    bool allow_remote = false;          // that may be an address of other machines
    bool allow_break = false;           // locks may be broken there in any case
    std::vector<std::string> hosts;     // further names by which it is reached
};

// Whether this program has the console.
[[nodiscard]] bool has_console();

// Throws what open_console() throws for an address that is not valid, before there is a node.
void check_console(const ConsoleChoice& choice);

struct OpenConsole {
    std::shared_ptr<void> server;  // closed when the last copy ends
    std::string url;               // empty if there is none
};

// Opens the console that was chosen, if any was and this program has one. Throws what the
// constructor of Console throws. The node must outlive it.
[[nodiscard]] OpenConsole open_console(const ConsoleChoice& choice, const Config& config,
                                       Node& node);

}  // namespace mortise::cli
