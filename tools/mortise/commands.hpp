// The commands of the program; each describes itself in the file that carries it out. A new one is
// declared here and has its place in commands.cpp.
#pragma once

#include "tools/mortise/command.hpp"

namespace mortise::cli {

// The whole program. Its values are those of this description, so one is made for each use.
[[nodiscard]] Command program();

using Describe = Command();
Describe bench_command, break_command, cert_command, complete_command, completion_command,
    demo_command, dev_command, doctor_command, dump_command, evict_command, help_command,
    inspect_command, lock_command, locks_command, man_command, member_command, members_command,
    node_command, recover_command, run_command, sessions_command, status_command, top_command,
    transfer_leader_command, version_command, watch_command;

}  // namespace mortise::cli
