// The messages between the parent and the nodes of a temporary cluster.
#pragma once

#include <exception>
#include <filesystem>
#include <string>
#include <vector>

#include "tools/mortise/exit_code.hpp"
#include "tools/mortise/leash.hpp"
#include <mortise/config.hpp>
#include <mortise/node.hpp>

namespace mortise::cli {

// The first line that a child receives.
[[nodiscard]] Json settings_of(const Config& config);
// Reads that line, opens the node, and reports its address to the parent; or, in a line with
// "problem", why it could not be opened.
[[nodiscard]] Node open_member(Leash& leash, LogConfig log = {});
// Tells the parent why this child ends.
void tell_problem(Leash& leash, const std::exception& error);
// A short {"status": ...} for the parent.
[[nodiscard]] Json short_status(const Node& node);

ExitCode run_demo_member(Leash& leash);
ExitCode run_bench_member(Leash& leash);
ExitCode run_dev_member(Leash& leash);

}  // namespace mortise::cli
