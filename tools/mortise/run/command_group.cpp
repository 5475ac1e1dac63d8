#include "tools/mortise/run/command_group.hpp"

#include <csignal>

namespace mortise::cli {

void CommandGroup::begin(pid_t group) noexcept {
    const std::lock_guard lock{mutex_};
    group_ = group;
    if (is_killed_) kill_group();
}

void CommandGroup::kill() noexcept {
    const std::lock_guard lock{mutex_};
    is_killed_ = true;
    kill_group();
}

// The first process may have moved to another group.
void CommandGroup::kill_group() const noexcept {
    if (group_ <= 0) return;
    ::kill(-group_, SIGKILL);
    ::kill(group_, SIGKILL);
}

}  // namespace mortise::cli
