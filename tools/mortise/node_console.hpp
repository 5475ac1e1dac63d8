// The console of the command node. Not every program has it: with_console.cpp and
// without_console.cpp are the two implementations, and a program links one of them.
#pragma once

#include <memory>

#include "tools/mortise/commands.hpp"
#include <mortise/config.hpp>
#include <mortise/node.hpp>

namespace mortise::cli {

// Whether this program has the console.
[[nodiscard]] bool has_console();

// Throws what open_console() throws for an address that is not valid, before there is a node.
void check_console(const NodeCommand& command);

// Closes the console when the last copy ends.
using OpenConsole = std::shared_ptr<void>;

// Opens the console as the command says, and prints its address. Null if the command asks for none,
// or if this program has none. Throws what the constructor of Console throws. The node must outlive
// it.
[[nodiscard]] OpenConsole open_console(const NodeCommand& command, const Config& config,
                                       Node& node);

}  // namespace mortise::cli
