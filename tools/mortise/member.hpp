// What the nodes of a temporary cluster are told at their start, and tell.
#pragma once

#include <filesystem>
#include <string>
#include <vector>

#include "tools/mortise/exit_code.hpp"
#include "tools/mortise/leash.hpp"
#include <mortise/config.hpp>
#include <mortise/node.hpp>

namespace mortise::cli {

// The first line to a child.
[[nodiscard]] Json settings_of(const Config& config);
// Takes that line, opens the node, and tells the parent where it listens, or, in a line with
// "problem", why not.
[[nodiscard]] Node open_member(Leash& leash);
// For the parent: {"status": ...}, in short.
[[nodiscard]] Json short_status(const Node& node);

ExitCode run_demo_member(Leash& leash);
ExitCode run_bench_member(Leash& leash);

}  // namespace mortise::cli
